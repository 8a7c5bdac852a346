#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::document::Limits;

fn document(text: &str) -> Document {
    Document::parse(text, Limits::ARGUMENTS).unwrap()
}

#[test]
fn every_part_of_the_binding_changes_the_digest() {
    let (arguments, other_arguments) = (document(r#"{"a":1}"#), document(r#"{"a":2}"#));
    let (call, other_call) = (CallId::new("c"), CallId::new("d"));
    let (run, other_run) = (RunId::new("r"), RunId::new("s"));
    let base = Binding {
        arguments: &arguments,
        call_id: &call,
        definition: Digest::of_text("t", "a"),
        effect: Effect::Write,
        run_id: &run,
        subject: ["t", "u", "a"],
        tool_name: "tool",
    };
    let changed = [
        Binding { arguments: &other_arguments, ..base.clone() },
        Binding { call_id: &other_call, ..base.clone() },
        Binding { definition: Digest::of_text("t", "b"), ..base.clone() },
        Binding { effect: Effect::External, ..base.clone() },
        Binding { run_id: &other_run, ..base.clone() },
        Binding { subject: ["t", "ua", ""], ..base.clone() },
        Binding { tool_name: "other", ..base.clone() },
    ];
    for binding in changed {
        assert_ne!(binding.digest(), base.digest());
    }
    let reordered = document("{ \"a\" : 1.0 }");
    assert_eq!(Binding { arguments: &reordered, ..base.clone() }.digest(), base.digest());
}

#[test]
fn what_cannot_be_seen_is_shown() {
    let shown = shown_text(
        "pay",
        "1.0",
        Effect::External,
        ["demo", "alice", "helper"],
        &document("{\"to\":\"bob\u{202e}evil\u{200b}\",\"amount\":9007199254740993}"),
    );
    assert!(shown.contains(r#"  to: "bob\u{202e}evil\u{200b}""#), "{shown}");
    assert!(shown.contains("  amount: 9007199254740993"), "{shown}");
}
