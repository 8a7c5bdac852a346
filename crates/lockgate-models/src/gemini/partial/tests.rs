use lockgate_contract::document::Document;

use super::*;

/// What comes of these pieces, in a call that has ended.
fn text(pieces: &[&str]) -> String {
    let mut partial = Partial::default();
    for piece in pieces {
        let document = Document::parse(*piece, crate::wire::limits(piece.len())).unwrap();
        partial.add(document.root());
    }
    partial.text(true)
}

fn is_json(text: &str) -> bool {
    Document::parse(text, crate::wire::limits(text.len())).is_ok()
}

#[test]
fn values_stand_where_their_paths_say() {
    let whole = text(&[
        r#"{"jsonPath": "$.items[0].name", "stringValue": "app", "willContinue": true}"#,
        r#"{"jsonPath": "$.items[0].name", "stringValue": "le \"red\"\n", "willContinue": true}"#,
        r#"{"jsonPath": "$.items[0].name", "stringValue": ""}"#,
        r#"{"jsonPath": "$.items[0].price", "numberValue": 0.50}"#,
        r#"{"jsonPath": "$.items[1]", "nullValue": "NULL_VALUE"}"#,
        r#"{"jsonPath": "$['first name']", "boolValue": true}"#,
        r#"{"jsonPath": "$[\"it's\"].n", "numberValue": 12345678901234567890123}"#,
        r#"{"jsonPath": "$['a\\'b\"c']", "stringValue": ""}"#,
    ]);
    let expected = concat!(
        r#"{"items":[{"name":"apple \"red\"\n","price":0.50},null],"first name":true,"#,
        r#""it's":{"n":12345678901234567890123},"a'b\"c":""}"#
    );
    assert_eq!(whole, expected);
    assert_eq!(text(&[]), "{}");
}

#[test]
fn what_has_not_ended_or_does_not_fit_is_no_json() {
    let begun = r#"{"jsonPath": "$.a", "stringValue": "x", "willContinue": true}"#;
    let ended = r#"{"jsonPath": "$.a", "stringValue": "y"}"#;
    let number = r#"{"jsonPath": "$.a", "numberValue": 1}"#;
    for pieces in [
        vec![begun],
        vec![begun, ended, ended],
        vec![begun, number],
        vec![number, number],
        vec![number, r#"{"jsonPath": "$.a.b", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$.a[1]", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$.a"}"#],
        vec![r#"{"jsonPath": "$.a", "listValue": []}"#],
        vec![r#"{"jsonPath": "$.a", "numberValue": "NaN"}"#],
        vec![r#"{"jsonPath": "$.a", "numberValue": 1, "boolValue": true}"#],
        vec![r#"{"jsonPath": "$", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$[0]", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$..a", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$.a[-1]", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "$['a", "numberValue": 1}"#],
        vec![r#"{"jsonPath": "a", "numberValue": 1}"#],
        vec![r#"{"numberValue": 1}"#],
    ] {
        let text = text(&pieces);
        assert!(!is_json(&text), "{pieces:?}: {text}");
    }
    let deep = format!(r#"{{"jsonPath": "${}", "numberValue": 1}}"#, ".a".repeat(100_000));
    assert!(!is_json(&text(&[&deep])));
    assert!(!is_json(&Partial::default().text(false)));
}
