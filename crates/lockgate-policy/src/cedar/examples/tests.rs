use super::*;
use crate::cedar::tests::tool;

fn tools() -> Tools {
    let pay = tool("pay")
        .input_schema_text(
            r#"{"type":"object","required":["amount"],"properties":{"amount":{"type":"integer"},"note":{}}}"#,
        )
        .build()
        .unwrap();
    Tools::new([&pay], []).unwrap()
}

#[test]
fn an_example_is_a_whole_call() {
    let text = r#"
        // expect: ask {"tool": "pay",
        //   "input": {"amount": 9007199254740993}, "user": "bob",
        //   "roles": ["finance"], "permission": "allow", "now": "2026-03-01T10:00:00.000Z"}
        permit (principal, action, resource); // and more words
    "#;
    let (examples, defects) = read("pay.cedar", text, &tools());
    assert!(defects.is_empty(), "{defects:?}");
    let [example] = examples.as_slice() else { panic!("{examples:?}") };
    assert_eq!((example.expected, example.line, example.permission), (PolicyDecision::Ask, 2, Permission::Allow));
    assert_eq!(example.arguments.text(), r#"{"amount": 9007199254740993}"#);
    assert_eq!((example.subject.user.as_str(), example.subject.tenant.as_str()), ("bob", "default"));
    assert_eq!(example.now.to_string(), "2026-03-01T10:00:00.000Z");
    assert_eq!(NOON.to_string(), "2026-01-02T12:00:00.000Z");
}

#[test]
fn a_mistake_is_named_with_its_line() {
    for (line, text) in [
        ("// expect: maybe {}", "`maybe` is no answer"),
        ("// expect:", "an example is incomplete"),
        ("// expects: allow {\"tool\": \"pay\"}", "an example is incomplete"),
        ("// expect: allow {\"tool\": \"pya\"}", "no tool is registered as `pya`"),
        ("// expect: allow {}", "an example names no tool"),
        ("// expect: allow {\"tool\": \"pay\", \"rolls\": []}", "an example has no key `rolls`"),
        ("// expect: allow {\"tool\": \"pay\", \"input\": {\"amuont\": 1}}", "`pay` has no argument `amuont`"),
        ("// expect: allow {\"tool\": \"pay\", \"input\": []}", "`input` is no object"),
        ("// expect: deny {\"tool\": \"pay\"}", "`pay` needs the argument `amount`"),
        (
            "// expect: deny {\"tool\": \"pay\", \"input\": {\"amount\": \"1\"}}",
            "the argument `amount`: it is not of its declared type",
        ),
    ] {
        let (examples, defects) = read("x.cedar", &format!("\n{line}\n"), &tools());
        assert!(examples.is_empty() && defects.len() == 1, "{line}: {examples:?} {defects:?}");
        assert_eq!(defects[0].to_string(), format!("`x.cedar`, line 2: {text}"));
        assert!(defects[0].hint.is_some(), "{line}");
    }
    let (_, defects) =
        read("x.cedar", "// expect: allow {\"tool\": \"pay\"\n// expect: allow {\"tool\": \"pay\"}", &tools());
    assert!(defects[0].text.starts_with("an example is no JSON: "), "{defects:?}");
    assert_eq!(read("x.cedar", "// This is expected: nothing", &tools()).1, []);
}
