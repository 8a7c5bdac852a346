use lockgate_contract::document::Limits;

use super::Outline;

fn salvaged(text: &str) -> Option<(String, usize)> {
    let salvaged = Outline::of(text).without_unreadable(text, Limits { max_bytes: 1 << 20, max_depth: 20 });
    salvaged.map(|(text, whys)| (text, whys.len()))
}

#[test]
fn entries_that_cannot_be_read_are_left_out_alone() {
    let deep = format!("{}{}", "[".repeat(30), "]".repeat(30));
    for bad in [r#"{"a":1,"a":2}"#, r#"{"a":1e999}"#, r#"{"a":"\ud800"}"#, &deep, r#"{"a":NaN}"#] {
        for (entries, left) in [
            (format!(r#"{{"n":"],\"}}"}}, {bad} ,{{"m":[1,2]}}"#), r#"{"n":"],\"}"},{"m":[1,2]}"#),
            (bad.to_owned(), ""),
            (format!("{bad},1"), "1"),
            (format!("1,{bad}"), "1"),
        ] {
            let around =
                |entries: &str| format!(r#"{{"id": 17, "result":{{"x":[3],"tools": [{entries}],"nextCursor":"c"}}}}"#);
            let expected = Some((around(left), 1));
            assert_eq!(salvaged(&around(&entries)), expected, "{entries}");
            assert_eq!(Outline::of(&around(&entries)).id, Some(17));
        }
    }
}

#[test]
fn what_a_tool_answered_is_taken_whole_or_not_at_all() {
    let bad = r#"{"a":1,"a":2}"#;
    for text in [
        format!(r#"{{"id":1,"result":{{"content":[{bad}]}}}}"#),
        format!(r#"{{"id":1,"result":{{"structuredContent":{{"tools":[{bad}]}}}}}}"#),
        format!(r#"{{"id":1,"params":{{"tools":[{bad}]}}}}"#),
        r#"{"id":1,"result":{"tools":[{},{}],"a":1,"a":2}}"#.to_owned(),
        r#"{"id":1,"result":{"tools":["#.to_owned(),
        "\"".to_owned(),
        "\"\\".to_owned(),
        "}]}],,{{".to_owned(),
    ] {
        assert_eq!(salvaged(&text), None, "{text}");
    }
}
