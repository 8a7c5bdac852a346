#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;

use proptest::prelude::*;

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
        attempt: None,
        call_id: &call,
        circumstances: &Circumstances::default(),
        definition: Digest::of_text("t", "a"),
        effect: Effect::Write,
        run_id: &run,
        subject: ["t", "u", "a"],
        tool_name: "tool",
    };
    let elsewhere = Circumstances { environment: Some("production".to_owned()), ..Circumstances::default() };
    let with_file = |content| Circumstances {
        files: [("deploy.sh".to_owned(), Digest::of_text("t", content))].into(),
        ..Circumstances::default()
    };
    let changed = [
        Binding { arguments: &other_arguments, ..base.clone() },
        Binding { attempt: Some(2), ..base.clone() },
        Binding { call_id: &other_call, ..base.clone() },
        Binding { circumstances: &elsewhere, ..base.clone() },
        Binding { circumstances: &with_file("a"), ..base.clone() },
        Binding { circumstances: &with_file("b"), ..base.clone() },
        Binding { definition: Digest::of_text("t", "b"), ..base.clone() },
        Binding { effect: Effect::External, ..base.clone() },
        Binding { run_id: &other_run, ..base.clone() },
        Binding { subject: ["t", "ua", ""], ..base.clone() },
        Binding { tool_name: "other", ..base.clone() },
    ];
    let digests: BTreeSet<Digest> = changed.iter().chain([&base]).map(Binding::digest).collect();
    assert_eq!(digests.len(), changed.len() + 1);
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
        &Circumstances::default(),
        &document("{\"to\":\"bob\u{202e}evil\u{200b}\",\"amount\":9007199254740993}"),
    );
    assert!(!shown.contains("environment") && !shown.contains("files"), "{shown}");
    assert!(shown.contains(r#"  to: "bob\u{202e}evil\u{200b}""#), "{shown}");
    assert!(shown.contains("  amount: 9007199254740993"), "{shown}");
}

#[test]
fn where_it_runs_and_what_files_it_meets_is_shown() {
    let circumstances = Circumstances {
        environment: Some("pro\u{200b}duction".to_owned()),
        files: [("deploy\n.sh".to_owned(), Digest::from_bytes([7; 32]))].into(),
    };
    let shown =
        shown_text("run", "1.0", Effect::External, ["demo", "alice", "helper"], &circumstances, &document("{}"));
    let expected = format!(
        "run 1.0 wants to run with effect external in environment pro\\u{{200b}}duction\n\
         for alice of tenant demo, asked by agent helper\n\
         files, as they were when this was asked:\n  deploy\\u{{a}}.sh: sha256:{}\n\
         arguments:\n  (none)\n",
        "07".repeat(32)
    );
    assert_eq!(shown, expected);
}

#[test]
fn arguments_as_deep_as_can_be_are_bound_too() {
    let bound = |inside: &str| {
        let depth = Limits::DEEPEST - 1;
        let text = format!("{{\"a\":{}{inside}{}}}", "[".repeat(depth), "]".repeat(depth));
        Binding {
            arguments: &Document::parse(text, Limits::OWN).unwrap(),
            attempt: None,
            call_id: &CallId::new("c"),
            circumstances: &Circumstances::default(),
            definition: Digest::of_text("t", "a"),
            effect: Effect::Write,
            run_id: &RunId::new("r"),
            subject: ["t", "u", "a"],
            tool_name: "tool",
        }
        .digest()
    };
    assert_ne!(bound("1"), bound("2")); // R-171
    assert_eq!(bound("1"), bound("1"));
}

fn approval(state: ApprovalState) -> Approval {
    Approval {
        approval_id: ApprovalId::new("apr-1"),
        run_id: RunId::new("r"),
        call_id: CallId::new("c"),
        step: 0,
        tool_name: "pay".to_owned(),
        tool_version: "1.0".to_owned(),
        definition: Digest::from_bytes([1; 32]),
        arguments: document(r#"{"amount":123456789012345678901234567890}"#),
        arguments_digest: Digest::from_bytes([2; 32]),
        circumstances: Circumstances::default(),
        effect: Effect::External,
        tenant: "demo".to_owned(),
        user: "alice".to_owned(),
        agent: "helper".to_owned(),
        shown_text: "pay".to_owned(),
        digest: Digest::from_bytes([3; 32]),
        requested_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(1000),
        state,
        yeses: Vec::new(),
        attempt: 1,
        because: None,
        approvers: None,
        edited: None,
        decided_by: None,
        decided_at: None,
        reason: None,
        consumed_at: None,
    }
}

#[test]
fn an_approval_is_bound_to_tenant_user_and_agent() {
    let subject = Subject { tenant: "t".to_owned(), user: "u".to_owned(), agent: "a".to_owned(), ..Subject::default() };
    assert_eq!(Binding::subject(&subject), ["t", "u", "a"]); // R-168
}

#[test]
fn only_what_is_still_open_expires() {
    use ApprovalState::{Consumed, Denied, Expired, Granted, Pending, Withdrawn};
    for (state, before, after) in [
        (Pending, Pending, Expired),
        (Granted, Granted, Expired),
        (Denied, Denied, Denied),
        (Expired, Expired, Expired),
        (Consumed, Consumed, Consumed),
        (Withdrawn, Withdrawn, Withdrawn),
    ] {
        let approval = approval(state);
        for (now, expected) in [(i64::MIN, before), (0, before), (999, before), (1000, after), (i64::MAX, after)] {
            assert_eq!(approval.state_at(Timestamp::from_millis(now)), expected, "{state:?} at {now}"); // R-171
        }
    }
}

#[test]
fn states_and_records_travel_whole() {
    use ApprovalState::{Consumed, Denied, Expired, Granted, Pending, Withdrawn};
    for (state, word) in [
        (Pending, "pending"),
        (Granted, "granted"),
        (Denied, "denied"),
        (Expired, "expired"),
        (Consumed, "consumed"),
        (Withdrawn, "withdrawn"),
    ] {
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!((text.trim_matches('"'), state.word()), (word, word));
        assert_eq!(serde_json::from_str::<ApprovalState>(&text).unwrap(), state);
        let record = serde_json::to_string(&approval(state)).unwrap();
        assert!(record.contains(r#""arguments":{"amount":123456789012345678901234567890}"#), "{record}");
        let read: Approval = serde_json::from_str(&record).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), record);
    }
}

/// The text that a made-visible text stands for.
fn meant(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, after)) = rest.split_once("\\u{") {
        let (digits, after) = after.split_once('}').unwrap();
        text.push_str(before);
        text.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        rest = after;
    }
    text.push_str(rest);
    text
}

#[test]
fn every_kind_of_invisible_character_is_shown() {
    for (text, expected) in [
        ("plain", "plain"),
        ("größer 数 😀 e\u{301}", "größer 数 😀 e\u{301}"),
        ("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c"), // reordering
        ("a\u{200b}b\u{200d}c\u{2060}d\u{feff}", r"a\u{200b}b\u{200d}c\u{2060}d\u{feff}"), // no width
        ("a\u{0}\u{7}\u{1b}[2J\r\n\t\u{7f}\u{85}", r"a\u{0}\u{7}\u{1b}[2J\u{d}\u{a}\u{9}\u{7f}\u{85}"), // control
        ("a\u{e0041}\u{e007f}", r"a\u{e0041}\u{e007f}"), // tags
        ("a\u{fe0f}\u{e0101}", r"a\u{fe0f}\u{e0101}"),   // variations
        ("a\u{a0}b\u{3000}c\u{2003}\u{2028}", r"a\u{a0}b\u{3000}c\u{2003}\u{2028}"), // blanks
        ("\u{ad}\u{34f}\u{180e}\u{3164}\u{2800}\u{1bca0}", r"\u{ad}\u{34f}\u{180e}\u{3164}\u{2800}\u{1bca0}"),
        // What looks like an escape is told from one, and a lone backslash stays.
        (r"\u{202e}", r"\u{5c}u{202e}"),
        (r"\u202e \n C:\users", r"\u202e \n C:\users"),
        ("\\\u{202e}", r"\\u{202e}"),
        (r"\\u{1}", r"\\u{5c}u{1}"),
    ] {
        assert_eq!(visible(text), expected, "{text:?}");
        assert_eq!(meant(expected), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_can_be_seen_and_stands_for_one_text(
        parts in prop::collection::vec(
            prop_oneof![
                any::<char>().prop_map(String::from),
                "[\\\\u{}0-9a-f]{1,6}",
                prop::sample::select(vec!["\u{202e}", "\u{200b}", "\u{e0020}", "\\u{", "\\", "\u{1b}"]).prop_map(str::to_owned),
            ],
            0..12,
        ),
    ) {
        let text = parts.concat();
        let shown = visible(&text);
        // No escape is missing: character by character, each that is left is shown as itself.
        prop_assert!(shown.chars().all(|character| visible(character.encode_utf8(&mut [0; 4])).len() == character.len_utf8()));
        let unseen = shown.chars().find(|character| {
            character.is_control()
                || matches!(character, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}' | '\u{e0000}'..='\u{e007f}')
        });
        prop_assert_eq!(unseen, None);
        prop_assert_eq!(meant(&shown), text);
    }
}

#[test]
fn arguments_are_shown_plainly() {
    let shown = |arguments: &str| {
        let text = shown_text(
            "pay",
            "1.0",
            Effect::External,
            ["demo", "alice", "helper"],
            &Circumstances::default(),
            &document(arguments),
        );
        text.strip_prefix(
            "pay 1.0 wants to run with effect external\nfor alice of tenant demo, asked by agent helper\narguments:\n",
        )
        .unwrap_or_else(|| panic!("{text}"))
        .to_owned()
    };
    assert_eq!(shown("{}"), "  (none)\n");
    // Escapes that hide what a string says are undone; numbers stay as they were written.
    assert_eq!(
        shown(r#"{"to":"\u0065ve","amount":1.10,"ok":true,"x":null}"#),
        "  to: \"eve\"\n  amount: 1.10\n  ok: true\n  x: null\n"
    );
    assert_eq!(
        shown("{\"deep\":{\"a\" : [1,\n \"\\u202e\\n\"],\"b c\":{}}}"),
        "  deep: {\"a\": [1, \"\\u{202e}\\n\"], \"b c\": {}}\n"
    );
    // A key cannot pass for another member.
    assert_eq!(shown(r#"{"to: \"bob\"\n  cc":"eve","":1}"#), "  \"to: \\\"bob\\\"\\n  cc\": \"eve\"\n  \"\": 1\n");
    // Nor can a text pass for an invisible character, or the other way round.
    assert_ne!(shown(r#"{"a":"\u202e"}"#), shown(r#"{"a":"\\u{202e}"}"#));
}

#[test]
fn names_and_subjects_are_shown_plainly() {
    let text = shown_text(
        "pay\u{200b}",
        "1\n",
        Effect::Write,
        ["t\u{202e}", "u\u{0}", "a\u{feff}"],
        &Circumstances::default(),
        &document("{}"),
    );
    assert_eq!(
        text,
        "pay\\u{200b} 1\\u{a} wants to run with effect write\nfor u\\u{0} of tenant t\\u{202e}, asked by agent a\\u{feff}\narguments:\n  (none)\n"
    );
}
