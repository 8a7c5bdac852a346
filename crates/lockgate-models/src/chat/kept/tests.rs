use lockgate_contract::document::Document;

use super::*;

fn document(text: &str) -> Document {
    Document::parse(text, crate::wire::limits(text.len())).unwrap()
}

/// The items of a message that comes in these pieces, with its text.
fn kept(pieces: &[&str]) -> (String, Vec<(u32, String)>) {
    let mut kept = Kept::default();
    let mut text = String::new();
    for piece in pieces {
        let piece = document(piece);
        let root = piece.root();
        kept.message(root, &|_| {});
        if let Some(content) = present(root, "content") {
            text.push_str(&kept.content(content, &|_| {}));
        }
        for (index, call) in
            present(root, "tool_calls").iter().flat_map(lockgate_contract::document::Node::elements).enumerate()
        {
            kept.call(index, call);
        }
    }
    let items = kept.items("a");
    (text, items.into_iter().map(|item| (item.before, item.item.text().to_owned())).collect())
}

#[test]
fn reasoning_is_the_same_whole_and_in_pieces() {
    for (whole, pieces) in [
        (r#"{"reasoning_content":"abc"}"#, vec![r#"{"reasoning_content":"a"}"#, r#"{"reasoning_content":"bc"}"#]),
        (
            concat!(
                r#"{"reasoning_details":[{"type":"reasoning.text","text":"abc","signature":"s","index":0},"#,
                r#"{"type":"reasoning.encrypted","data":"xyz","index":1}],"reasoning":"abc"}"#
            ),
            vec![
                r#"{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","signature":null,"index":0}]}"#,
                r#"{"reasoning":"bc","reasoning_details":[{"type":"reasoning.text","text":"bc","index":0}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.text","text":"","signature":"s","index":0}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","index":1}]}"#,
            ],
        ),
        (
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"abc"}]},{"type":"text","text":"hello"}]}"#,
            vec![
                r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}"#,
                r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"bc"}]}]}"#,
                r#"{"content":"he"}"#,
                r#"{"content":[{"type":"text","text":"llo"}]}"#,
            ],
        ),
        (
            r#"{"tool_calls":[{"id":"x","function":{},"extra_content":{"google":{"thought_signature":"s","n":1.10}}}]}"#,
            vec![
                r#"{"tool_calls":[{"id":"x","index":0,"function":{},"extra_content":{"google":{"thought_signature":"s","n":1.10}}}]}"#,
            ],
        ),
    ] {
        let (text, items) = kept(&[whole]);
        let (text_of_pieces, items_of_pieces) = kept(&pieces);
        assert_eq!(text, text_of_pieces, "{whole}");
        assert_eq!(items.len(), 1, "{whole}");
        // `null` in a piece stands where the value comes later, so members may be in another order.
        let same = document(&items[0].1).same_value(&document(&items_of_pieces[0].1));
        assert!(same && items.len() == items_of_pieces.len(), "{items:?}\n{items_of_pieces:?}");
    }
}

#[test]
fn two_elements_of_one_message_stay_two() {
    let (_, items) =
        kept(&[r#"{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}]}"#]);
    let expected =
        r#"{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}]}"#;
    assert_eq!(items, [(0, expected.to_owned())]);
}

#[test]
fn nothing_is_kept_of_what_nobody_wants_back() {
    let message = concat!(
        r#"{"role":"assistant","content":"hi","reasoning":null,"refusal":null,"annotations":[1],"#,
        r#""tool_calls":[{"id":"x","index":0,"type":"function","function":{"name":"f"}}]}"#
    );
    assert_eq!(kept(&[message]), ("hi".to_owned(), Vec::new()));
}

#[test]
fn a_content_goes_back_as_a_list_with_the_text_of_the_history() {
    let (_, items) = kept(&[concat!(
        r#"{"content":[{"type":"text","text":"one "},{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},"#,
        r#"{"type":"text","text":"two"}]}"#
    )]);
    let items: Vec<ProviderItem> = items
        .iter()
        .map(|(before, item)| ProviderItem { adapter: "a".to_owned(), before: *before, item: document(item) })
        .collect();
    let back = |adapter, text| serde_json::to_string(&Back::of(&items, adapter).content(text)).unwrap();
    let thinking = r#"{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true}"#;
    let expected = format!(r#"[{{"type":"text","text":"one "}},{thinking},{{"type":"text","text":"two"}}]"#);
    assert_eq!(back("a", "one two"), expected);
    // Scrubbed of a secret, it is another text.
    let expected = format!(r#"[{{"type":"text","text":"one [hidden]"}},{thinking},{{"type":"text","text":""}}]"#);
    assert_eq!(back("a", "one [hidden]"), expected);
    assert_eq!(back("another", "one two"), "null");
}
