//! Rules that look at what the run did, at how many calls were admitted, and at how often they were used themselves.

use std::sync::Mutex;

use lockgate_contract::ports::{BoxFuture, Count, CountReader, JournalError, Per, PolicyEngine, Seen};

use super::*;
use crate::cedar::CedarPolicy;

fn count(name: &str) -> Count {
    Count {
        name: name.to_owned(),
        tool: Some("pay".to_owned()),
        effect: None,
        per: Per::Tenant,
        within: None,
        from: None,
    }
}

fn counting(text: &str) -> Result<Rules, RulesRefused> {
    Rules::load_counting(&[pay(), look_up()], vec![count("payments"), count("refunds")], &[file(text)])
}

/// The number of every count, and which were asked for.
struct Numbers {
    number: Result<u64, JournalError>,
    asked: Mutex<Vec<String>>,
}

impl CountReader for Numbers {
    fn admitted<'a>(&'a self, counts: &'a [Count]) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        self.asked.lock().unwrap().extend(counts.iter().map(|count| count.name.clone()));
        let answer = self.number.clone().map(|number| vec![number; counts.len()]);
        Box::pin(std::future::ready(answer))
    }
}

struct Asked {
    verdict: Result<PolicyVerdict, String>,
    read: Vec<String>,
    seen: Vec<Seen>,
    failed: bool,
}

async fn ask(policy: &CedarPolicy, tool: &ToolSpec, run: RunFacts, number: Result<u64, JournalError>) -> Asked {
    let numbers = Numbers { number, asked: Mutex::default() };
    let counts = Counts::read_by(&numbers);
    let arguments = Arguments::parse(r#"{"amount": 5}"#, Limits::ARGUMENTS).unwrap();
    let arguments = if tool.name() == "pay" { arguments } else { Arguments::empty() };
    let request = PolicyRequest {
        subject: &Subject::default(),
        tool,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission: Permission::Ask,
        step: 0,
        run,
        counts: &counts,
    };
    let verdict = policy.decide(request).await;
    let read = numbers.asked.lock().unwrap().clone();
    Asked { verdict, read, seen: counts.seen(), failed: counts.failure().is_some() }
}

fn policy(text: &str) -> CedarPolicy {
    CedarPolicy::new(counting(text).unwrap(), std::sync::Arc::new(Noon))
}

const FEW: &str = r#"
    // expect: allow {"tool": "pay", "input": {"amount": 1}, "counts": {"payments": 4}}
    // expect: deny {"tool": "pay", "input": {"amount": 1}, "counts": {"payments": 5, "refunds": 9}}
    // expect: allow {"tool": "pay", "input": {"amount": 1}}
    permit (principal, action == Tool::Action::"pay", resource) when { context.counts.payments < 5 };

    permit (principal, action == Tool::Action::"look_up", resource);
"#;

#[tokio::test]
async fn a_rule_reads_the_numbers_that_it_names_and_no_others() {
    let policy = policy(FEW);
    for (number, expected) in [(0, PolicyDecision::Allow), (4, PolicyDecision::Allow), (5, PolicyDecision::Deny)] {
        let asked = ask(&policy, &pay(), RunFacts::default(), Ok(number)).await;
        assert_eq!(asked.verdict.unwrap().decision, expected, "{number}");
        assert_eq!(
            (asked.read, asked.seen),
            (vec!["payments".to_owned()], vec![Seen { count: count("payments"), admitted: number }])
        );
    }
    // Nothing that is decided about this tool looks at a number.
    let asked = ask(&policy, &look_up(), RunFacts::default(), Err(JournalError::unavailable("gone"))).await;
    assert_eq!((asked.verdict.unwrap().decision, asked.read.len(), asked.failed), (PolicyDecision::Allow, 0, false));
}

#[tokio::test]
async fn what_nobody_can_count_is_no_answer() {
    let policy = policy(FEW);
    let asked = ask(&policy, &pay(), RunFacts::default(), Err(JournalError::unavailable("the disk is gone"))).await;
    assert!(asked.verdict.unwrap_err().starts_with("the count `payments` cannot be read"));
    assert!(asked.failed && asked.seen.is_empty());
    // An engine that is asked at once has only what is known: nothing.
    let verdict = answer(&policy.rules(), &pay(), &Subject::default(), r#"{"amount": 1}"#);
    assert_eq!(
        (verdict.decision, verdict.reason.contains("the count `payments` is not known")),
        (PolicyDecision::Deny, true)
    );
}

#[tokio::test]
async fn rules_that_are_only_tried_bind_nobody() {
    let policy = CedarPolicy::new(counting(FEW).unwrap(), std::sync::Arc::new(Noon)).in_shadow();
    let asked = ask(&policy, &pay(), RunFacts::default(), Ok(1)).await;
    assert_eq!((asked.verdict.unwrap().decision, asked.read.len(), asked.seen.len()), (PolicyDecision::Allow, 1, 0));
    let broken = ask(&policy, &pay(), RunFacts::default(), Err(JournalError::unavailable("gone"))).await;
    assert!(broken.verdict.is_err() && !broken.failed);
}

#[tokio::test]
async fn what_the_run_did_and_may_still_do() {
    let policy = policy(
        r#"
        // expect: allow {"tool": "pay", "input": {"amount": 1}, "run": {"calls": 1, "actions": 1, "actions_left": 3}}
        // expect: deny {"tool": "pay", "input": {"amount": 1}, "run": {"calls": 1, "actions": 1, "actions_left": 2}}
        // expect: deny {"tool": "pay", "input": {"amount": 1}, "run": {"actions": 2, "questions_left": 0}}
        permit (principal, action == Tool::Action::"pay", resource)
        when { context.run.actions < 2 && context.run.calls < 9 && context.run.questions == 0 }
        unless { context.run has actions_left && context.run.actions_left < 3 }
        unless { context.run has questions_left && context.run.questions_left == 0 };
        "#,
    );
    let begun = RunFacts { calls: 1, actions: 1, actions_left: Some(3), steps_left: Some(1), ..RunFacts::default() };
    for (run, expected) in [
        (RunFacts::default(), PolicyDecision::Allow),
        (begun, PolicyDecision::Allow),
        (RunFacts { actions: 2, ..begun }, PolicyDecision::Deny),
        (RunFacts { calls: 9, ..begun }, PolicyDecision::Deny),
        (RunFacts { questions: 1, ..begun }, PolicyDecision::Deny),
        (RunFacts { actions_left: Some(2), ..begun }, PolicyDecision::Deny),
        (RunFacts { questions_left: Some(0), ..begun }, PolicyDecision::Deny),
    ] {
        let asked = ask(&policy, &pay(), run, Ok(0)).await;
        assert_eq!(asked.verdict.unwrap().decision, expected, "{run:?}");
        assert!(asked.read.is_empty());
    }
}

const CAPPED: &str = r#"
    @id("often") @uses("3") @since("2026-01-02T11:00:00.000Z")
    permit (principal == Agent::"agent", action == Tool::Action::"pay", resource);

    @id("else") permit (principal, action, resource) when { context has approval };
"#;

#[tokio::test]
async fn a_rule_applies_as_often_as_it_says() {
    let policy = policy(CAPPED);
    for (number, expected) in [(0, PolicyDecision::Allow), (2, PolicyDecision::Allow), (3, PolicyDecision::Ask)] {
        let asked = ask(&policy, &pay(), RunFacts::default(), Ok(number)).await;
        let verdict = asked.verdict.unwrap();
        assert_eq!(verdict.decision, expected, "{number}");
        assert_eq!(ids(&verdict), [if number < 3 { "often" } else { "else" }]);
        let [Seen { count: seen, admitted }] = asked.seen.as_slice() else { panic!("{:?}", asked.seen) };
        assert_eq!((seen.tool.as_deref(), seen.per, *admitted), (Some("pay"), Per::Subject, number));
        assert_eq!(seen.from, Some("2026-01-02T11:00:00.000Z".parse().unwrap()));
    }
    // Another tool's slice has no such rule, and reads nothing.
    let asked = ask(&policy, &look_up(), RunFacts::default(), Ok(0)).await;
    assert_eq!((asked.verdict.unwrap().decision, asked.read.len()), (PolicyDecision::Ask, 0));
}

#[test]
fn how_often_is_said_whole_or_not_at_all() {
    let rule = |annotations: &str, head: &str| format!("@id(\"r\") {annotations} {head};");
    let pay = r#"permit (principal, action == Tool::Action::"pay", resource)"#;
    let since = r#"@since("2026-01-02T11:00:00.000Z")"#;
    for (text, expected) in [
        (rule(r#"@uses("3")"#, pay), "does not say from when on they count"),
        (rule(since, pay), "does not say how often it applies"),
        (rule(&format!(r#"@uses("0") {since}"#), pay), r#"`@uses("0")` says nothing"#),
        (rule(&format!(r#"@uses("+3") {since}"#), pay), r#"`@uses("+3")` says nothing"#),
        (rule(&format!(r#"@uses("99999999999") {since}"#), pay), "says nothing"),
        (rule(r#"@uses("3") @since("yesterday")"#, pay), r#"`@since("yesterday")` says nothing"#),
        (
            rule(&format!(r#"@uses("3") {since}"#), "permit (principal, action, resource)"),
            "is about more than one tool",
        ),
        (
            rule(
                &format!(r#"@uses("3") {since}"#),
                r#"permit (principal, action in Effect::Action::"read", resource)"#,
            ),
            "is about more than one tool",
        ),
        (rule(&format!(r#"@uses("3") {since}"#), &pay.replace("permit", "forbid")), "forbids"),
    ] {
        let refused = counting(&text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{text}: {refused}");
    }
}

#[test]
fn a_number_that_nobody_counts_does_not_load() {
    let refused = counting("permit (principal, action, resource) when { context.counts.payment < 5 };").unwrap_err();
    assert!(refused.to_string().contains("payment"), "{refused}");
    let example = r#"// expect: deny {"tool": "pay", "input": {"amount": 1}, "counts": {"payment": 1}}"#;
    let refused = counting(example).unwrap_err();
    assert_eq!(
        (refused.to_string().contains("no count has the name `payment`"), refused.hint()),
        (true, Some("did you mean `payments`?"))
    );
    let twice = Rules::load_counting(&[pay()], vec![count("payments"), count("payments")], &[]).unwrap_err();
    assert!(twice.to_string().contains("two counts have the name `payments`"), "{twice}");
}

#[test]
fn counted_rules_answer_the_same_whole_and_sliced() {
    let rules = counting(
        r#"
        permit (principal, action == Tool::Action::"pay", resource) when { context.counts.payments < 5 };

        @uses("3") @since("2026-01-02T11:00:00.000Z")
        permit (principal, action == Tool::Action::"pay", resource);

        permit (principal == Agent::"another", action, resource) when { context.counts.refunds < 9 };
        "#,
    )
    .unwrap();
    let whole = rules.unsliced();
    for number in 0..7 {
        let arguments = Arguments::parse(r#"{"amount": 5}"#, Limits::ARGUMENTS).unwrap();
        let answers = [&rules, &whole].map(|rules| {
            let (tool, subject) = (pay(), Subject::default());
            let counts = Counts::of(rules.counts(&tool, &subject).into_iter().map(|count| (count, number)));
            let request = PolicyRequest {
                subject: &subject,
                tool: &tool,
                arguments: &arguments,
                arguments_digest: arguments.digest(),
                permission: Permission::Ask,
                step: 0,
                run: RunFacts::default(),
                counts: &counts,
            };
            rules.decide(&request, noon(), false)
        });
        assert_eq!(answers[0], answers[1], "{number}");
        assert_eq!(answers[0].decision == PolicyDecision::Allow, number < 5);
    }
}
