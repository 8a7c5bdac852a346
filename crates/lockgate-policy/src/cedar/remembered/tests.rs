//! What is remembered is allowed again, and nothing else is.

use lockgate_contract::approval::{ApprovalState, Binding, Circumstances, shown_text};
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::tool::ToolSpec;
use proptest::prelude::*;

use super::*;
use crate::cedar::{RuleFile, SHIPPED, adapter};

const SCHEMA: &str = r#"{"type": "object", "required": ["amount", "note"], "additionalProperties": false, "properties": {
    "amount": {"type": "integer"}, "note": {"type": "string"}, "rate": {"type": "number"}, "urgent": {"type": "boolean"},
    "place": {"type": "object", "additionalProperties": false, "required": ["room"], "properties": {
        "room": {"type": "string"}, "floor": {"type": "integer"}}},
    "tags": {"type": "array", "items": {"type": "string"}}}}"#;

fn tool(effect: Effect, schema: &str) -> ToolSpec {
    let builder = ToolSpec::builder("file").version("1.0").effect(effect).permission(Permission::Ask);
    builder.input_schema_text(schema).build().unwrap()
}

fn now() -> Timestamp {
    "2026-01-02T12:00:00.000Z".parse().unwrap()
}

fn approval(tool: &ToolSpec, subject: &Subject, arguments: &str) -> Approval {
    let arguments = Document::parse(arguments, Limits::ARGUMENTS).unwrap();
    let run_id = RunId::new("run-0123456789ab");
    let call_id = run_id.call(0, 0);
    let names = [subject.tenant.as_str(), &subject.user, &subject.agent];
    let binding = Binding {
        arguments: &arguments,
        attempt: None,
        call_id: &call_id,
        circumstances: &Circumstances::default(),
        definition: tool.definition(),
        effect: tool.effect(),
        run_id: &run_id,
        subject: names,
        tool_name: tool.name(),
    };
    let digest = binding.digest();
    Approval {
        approval_id: ApprovalId::from_digest(digest),
        digest,
        shown_text: shown_text(
            tool.name(),
            tool.version(),
            tool.effect(),
            names,
            &Circumstances::default(),
            &arguments,
        ),
        arguments_digest: Arguments::from_document(arguments.clone()).unwrap().digest(),
        circumstances: Circumstances::default(),
        arguments,
        step: 0,
        attempt: 1,
        tool_name: tool.name().to_owned(),
        tool_version: tool.version().to_owned(),
        definition: tool.definition(),
        effect: tool.effect(),
        tenant: subject.tenant.clone(),
        user: subject.user.clone(),
        agent: subject.agent.clone(),
        run_id,
        call_id,
        because: None,
        approvers: None,
        edited: None,
        requested_at: now(),
        expires_at: now(),
        state: ApprovalState::Granted,
        yeses: Vec::new(),
        decided_by: Some("bob".to_owned()),
        decided_at: Some(now()),
        reason: None,
        consumed_at: None,
    }
}

/// Something that is to be remembered, with everything that it borrows.
struct Case {
    tool: ToolSpec,
    subject: Subject,
    approval: Approval,
    any: Vec<String>,
    by: String,
}

impl Case {
    fn new(tool: ToolSpec, arguments: &str) -> Self {
        Self::of(tool, Subject::default(), arguments)
    }

    fn of(tool: ToolSpec, subject: Subject, arguments: &str) -> Self {
        let approval = approval(&tool, &subject, arguments);
        Self { tool, subject, approval, any: Vec::new(), by: "bob".to_owned() }
    }

    fn any(mut self, names: &[&str]) -> Self {
        self.any = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    fn wanted(&self) -> ToRemember<'_> {
        ToRemember {
            approval: &self.approval,
            tool: &self.tool,
            subject: &self.subject,
            any: &self.any,
            environment: None,
            by: &self.by,
            from: now(),
            lasts: Duration::from_hours(24),
            uses: 3,
        }
    }

    fn refused(&self) -> NotRemembered {
        Remembered::of(&self.wanted()).unwrap_err()
    }

    /// The rule, and the native set with it.
    fn remembered(&self) -> (Remembered, Rules) {
        let remembered = Remembered::of(&self.wanted()).unwrap();
        let rules = load(&self.tool, &remembered.text);
        rules.remembers(&remembered, &self.wanted()).unwrap_or_else(|error| panic!("{error}\n{}", remembered.text));
        (remembered, rules)
    }

    fn answer(&self, rules: &Rules, arguments: &str) -> PolicyDecision {
        let arguments = Arguments::parse(arguments, Limits::ARGUMENTS).unwrap();
        rules.about(&self.wanted(), &arguments, now(), 0).decision
    }
}

fn load(tool: &ToolSpec, text: &str) -> Rules {
    let native = SHIPPED.iter().find(|(name, _)| *name == "lockgate:native").unwrap();
    let file = |name: &str, text: &str| RuleFile { name: name.to_owned(), text: text.to_owned() };
    Rules::load([tool], &[file(native.0, native.1), file("remembered.cedar", text)]).unwrap()
}

const APPROVED: &str = r#"{"amount": -5, "note": "rent", "rate": 1.5, "urgent": true, "place": {"room": "7"}}"#;

#[test]
fn a_rule_says_what_it_remembers() {
    let case = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    let (remembered, rules) = case.remembered();
    insta::assert_snapshot!(remembered.text.replace(&case.tool.definition().to_string(), "DEFINITION"));
    for (arguments, expected) in [
        (APPROVED, PolicyDecision::Allow),
        // The same values, written otherwise.
        (
            r#"{"urgent": true, "place": {"room": "7"}, "rate": 1.50, "amount": -5.0, "note": "r\u0065nt"}"#,
            PolicyDecision::Allow,
        ),
        (r#"{"amount": -5, "note": "Rent", "rate": 1.5, "urgent": true, "place": {"room": "7"}}"#, PolicyDecision::Ask),
        (r#"{"amount": -5, "note": "rent", "rate": 1.5, "urgent": true}"#, PolicyDecision::Ask),
        (
            r#"{"amount": -5, "note": "rent", "rate": 1.5, "urgent": true, "place": {"room": "7", "floor": 0}}"#,
            PolicyDecision::Ask,
        ),
        (
            r#"{"amount": -5, "note": "rent", "rate": 1.5, "urgent": true, "place": {"room": "7"}, "tags": []}"#,
            PolicyDecision::Ask,
        ),
    ] {
        assert_eq!(case.answer(&rules, arguments), expected, "{arguments}");
    }
}

#[test]
fn another_subject_version_time_and_number_are_asked_about() {
    let case = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    let (remembered, rules) = case.remembered();
    let arguments = Arguments::parse(APPROVED, Limits::ARGUMENTS).unwrap();
    let subjects = [
        Subject { tenant: "other".to_owned(), ..Subject::default() },
        Subject { user: "other".to_owned(), ..Subject::default() },
        Subject { agent: "other".to_owned(), ..Subject::default() },
    ];
    for subject in &subjects {
        let wanted = ToRemember { subject, ..case.wanted() };
        assert_eq!(rules.about(&wanted, &arguments, now(), 0).decision, PolicyDecision::Ask, "{subject:?}");
    }
    let end = now().after(Duration::from_hours(24));
    let last = Timestamp::from_millis(end.as_millis() - 1);
    for (at, admitted, expected) in [
        (now(), 2, PolicyDecision::Allow),
        (now(), 3, PolicyDecision::Ask),
        (last, 0, PolicyDecision::Allow),
        (end, 0, PolicyDecision::Ask),
    ] {
        assert_eq!(rules.about(&case.wanted(), &arguments, at, admitted).decision, expected, "{at}, {admitted}");
    }
    // The rule outlives its tool's version, and says nothing of the next one.
    let builder = ToolSpec::builder("file").version("1.1").effect(Effect::External).permission(Permission::Ask);
    let next = builder.input_schema_text(SCHEMA).build().unwrap();
    let rules = load(&next, &remembered.text);
    let wanted = ToRemember { tool: &next, ..case.wanted() };
    assert_eq!(rules.about(&wanted, &arguments, now(), 0).decision, PolicyDecision::Ask);
    assert!(rules.warnings().iter().any(|warning| warning.text.contains("is about no registered tool")));
    assert_eq!(
        Remembered::of(&wanted).unwrap_err().to_string(),
        "tool `file` is not what it was when the question was asked"
    );
}

#[test]
fn any_value_where_it_is_said_and_nowhere_else() {
    let case = Case::new(tool(Effect::Write, SCHEMA), APPROVED).any(&["note", "tags"]);
    let (remembered, rules) = case.remembered();
    assert!(remembered.text.contains("// Of any value: \"note\", \"tags\".\n"), "{}", remembered.text);
    for (arguments, expected) in [
        (
            r#"{"amount": -5, "note": "x", "rate": 1.5, "urgent": true, "place": {"room": "7"}, "tags": ["a"]}"#,
            PolicyDecision::Allow,
        ),
        (r#"{"amount": -4, "note": "x", "rate": 1.5, "urgent": true, "place": {"room": "7"}}"#, PolicyDecision::Ask),
        (r#"{"amount": -5, "note": "x", "rate": 1.5, "urgent": true, "place": {"room": "8"}}"#, PolicyDecision::Ask),
        (
            r#"{"amount": -5, "note": "x", "rate": 1.5, "urgent": true, "place": {"room": "7", "floor": 1}}"#,
            PolicyDecision::Ask,
        ),
        (r#"{"amount": -5, "note": "x", "rate": 1.5001, "urgent": true, "place": {"room": "7"}}"#, PolicyDecision::Ask),
        (r#"{"amount": -5, "note": "x", "urgent": true, "place": {"room": "7"}}"#, PolicyDecision::Ask),
    ] {
        assert_eq!(case.answer(&rules, arguments), expected, "{arguments}");
    }
}

#[test]
fn what_could_be_more_than_was_approved_is_not_remembered() {
    let closed = |properties: &str| {
        format!(r#"{{"type": "object", "additionalProperties": false, "properties": {{{properties}}}}}"#)
    };
    let (a, b) = (r#""a": {"type": "string"}"#, r#""b": {"type": "string"}"#);
    let both = closed(&format!("{a}, {b}"));
    let write = |schema: &str| tool(Effect::Write, schema);
    let ab = r#"{"a": "x", "b": "y"}"#;
    let open = both.replace(r#""additionalProperties": false, "#, "");
    let patterns =
        both.replace(r#""additionalProperties""#, r#""patternProperties": {"^x": {}}, "additionalProperties""#);
    let untyped = closed(&format!(r#"{a}, {b}, "c": {{}}"#));
    let nullable = closed(&format!(r#"{a}, {b}, "c": {{"type": ["string", "null"]}}"#));
    let nested = closed(&format!(r#"{a}, {b}, "c": {{"type": "object", "properties": {{{a}}}}}"#));
    for (case, expected) in [
        (Case::new(tool(Effect::External, &both), ab).any(&["a"]), "`file` has effect external, and may destroy"),
        (Case::new(write(&both), ab).any(&["a", "b"]), "every argument of `file` could have any value"),
        (Case::new(write(&both), ab).any(&["c"]), "tool `file` declares no argument `c`"),
        (Case::new(write(&open), ab).any(&["a"]), "it may have members that the tool does not declare"),
        (Case::new(write(&patterns), ab).any(&["a"]), "it may have members that the tool does not declare"),
        (Case::new(write(&untyped), ab).any(&["a"]), "the argument `c` cannot be compared exactly: it may be anything"),
        (Case::new(write(&nullable), ab).any(&["a"]), "the argument `c` cannot be compared exactly: it may be `null`"),
        (Case::new(write(&nested), ab).any(&["a"]), "the argument `c` cannot be compared exactly: it may have members"),
        (
            Case::new(write(&open), r#"{"a": "x", "b": "y", "d": 1}"#),
            "the argument `d` cannot be compared exactly: the tool does not declare it",
        ),
        (
            Case::new(write(&untyped), r#"{"a": "x", "b": "y", "c": 1}"#),
            "the argument `c` cannot be compared exactly: it may be anything",
        ),
        (Case::new(write(SCHEMA), r#"{"amount": 1, "note": "", "tags": ["a"]}"#), "it holds a list"),
        (
            Case::new(write(SCHEMA), r#"{"amount": 9223372036854775808, "note": ""}"#),
            "it is beyond the integers of 64 bits",
        ),
        (
            Case::new(write(SCHEMA), r#"{"amount": 1, "note": "", "rate": 1.00001}"#),
            "it has more digits than the decimals",
        ),
    ] {
        let refused = case.refused().to_string();
        assert!(refused.contains(expected), "{:?} of {}: {refused}", case.any, case.tool.input_schema().text());
    }
    // What has to be named is not what was approved otherwise.
    Case::new(write(&untyped), ab).any(&["a", "c"]).remembered();
    Case::new(write(&nullable), ab).any(&["a", "c"]).remembered();
    Case::new(write(&nested), ab).any(&["a", "c"]).remembered();
    // Without `--any` the digest holds what rules cannot see.
    let case = Case::new(write(&open), ab);
    let (_, rules) = case.remembered();
    assert_eq!(case.answer(&rules, r#"{"a": "x", "b": "y", "d": 1}"#), PolicyDecision::Ask);
}

#[test]
fn terms_have_limits_and_a_secret_is_not_known_any_more() {
    let case = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    let none = ToRemember { uses: 0, ..case.wanted() };
    assert_eq!(Remembered::of(&none), Err(NotRemembered::NoUse));
    for lasts in [Duration::ZERO, LONGEST + Duration::from_millis(1)] {
        assert_eq!(Remembered::of(&ToRemember { lasts, ..case.wanted() }), Err(NotRemembered::Lasts));
    }
    Remembered::of(&ToRemember { lasts: LONGEST, ..case.wanted() }).unwrap();
    let mut scrubbed = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    let text = APPROVED.replace("rent", "[redacted:github_token#a1b2]");
    scrubbed.approval.arguments = Document::parse(&text, Limits::ARGUMENTS).unwrap();
    assert_eq!(scrubbed.refused(), NotRemembered::Secret);
    let mut elsewhere = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    elsewhere.approval.circumstances.environment = Some("staging".to_owned());
    assert_eq!(elsewhere.refused(), NotRemembered::Circumstances); // S-37
    let today = ToRemember { environment: Some("production"), ..case.wanted() };
    assert_eq!(Remembered::of(&today), Err(NotRemembered::Circumstances));
}

#[test]
fn other_rules_may_stand_against_it() {
    let case = Case::new(tool(Effect::External, SCHEMA), APPROVED);
    let remembered = Remembered::of(&case.wanted()).unwrap();
    let forbid = format!(
        "{}\n@id(\"never\") forbid (principal, action, resource) unless {{ context has approval }};",
        remembered.text
    );
    let refused = load(&case.tool, &forbid).remembers(&remembered, &case.wanted()).unwrap_err();
    assert!(matches!(refused, NotRemembered::StillRefused { answer: "ask", .. }), "{refused}");
    // A rule that does more than it should is found, wherever it comes from.
    let wide =
        Remembered { text: format!("@id(\"{}\") permit (principal, action, resource);", remembered.id), ..remembered };
    let refused = load(&case.tool, &wide.text).remembers(&wide, &case.wanted()).unwrap_err();
    assert_eq!(refused, NotRemembered::TooWide);
}

/// Texts that could end a string, a comment, a rule.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\n// ".to_owned()),
        Just("\r\n".to_owned()),
        Just("*/ }; permit (principal, action, resource);".to_owned()),
        Just("\" || true || \"".to_owned()),
        Just("// expect: deny {}".to_owned()),
        Just("\u{202e}\u{200b}\u{0}\u{1b}[0m\u{2028}".to_owned()),
        Just("\\u{41}\\n\\x41*".to_owned()),
        Just("ﬀ😀e\u{301}é".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_a_value_is_the_rule_means_exactly_it(
        note in hostile(), room in hostile(), user in hostile(), by in hostile(), decider in hostile(), amount in any::<i64>(),
    ) {
        let arguments = serde_json::json!({"amount": amount, "note": note, "place": {"room": room}}).to_string();
        let subject = Subject { user, tenant: by.clone(), ..Subject::default() };
        for any in [&[][..], &["urgent"]] {
            let mut case = Case::of(tool(Effect::Write, SCHEMA), subject.clone(), &arguments).any(any);
            case.by.clone_from(&by);
            case.approval.decided_by = Some(decider.clone());
            let (remembered, rules) = case.remembered();
            let parsed = adapter::parse(&remembered.text).unwrap();
            prop_assert_eq!(parsed.len(), 1);
            let conditions = parsed[0].conditions.to_string();
            for value in [serde_json::json!({"Value": note}), serde_json::json!({"Value": room}), serde_json::json!({"Value": amount})] {
                prop_assert!(conditions.contains(&value.to_string()), "{} in {}", value, conditions);
            }
            prop_assert_eq!(rules.examples(), 0);
            let other = serde_json::json!({"amount": amount, "note": format!("{note} "), "place": {"room": room}});
            prop_assert_eq!(case.answer(&rules, &other.to_string()), PolicyDecision::Ask);
        }
    }
}
