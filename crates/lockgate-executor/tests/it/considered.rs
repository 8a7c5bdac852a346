//! What a policy would be asked is what it is asked; finding out does nothing.

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::Counts;
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::Output;
use lockgate_executor::Considered;

use crate::bench::{Bench, Setup, count, tool, with_handler};

/// A tool whose own check knows what it refuses, and that proves some calls harmless.
async fn bench() -> Bench {
    Setup::new(|counters| {
        let builder = tool(counters, Effect::Write)
            .permission(Permission::Ask)
            .pre_check(|arguments| match arguments.text() {
                text if text.contains("refused") => Err("not that".to_owned()),
                text if text.contains("broken") => panic!("a defect of the check"),
                _ => Ok(()),
            })
            .harmless_when(|arguments| arguments.text().contains("harmless"));
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })]
    })
    .build()
    .await
}

fn consider(bench: &Bench, text: &str) -> Result<Considered, String> {
    bench.gate.consider(bench.gate.registry().get("write").unwrap(), text)
}

#[tokio::test]
async fn it_is_what_the_gate_asks_the_policy() {
    let bench = bench().await;
    for (text, permission) in [
        (r#"{"text":"x"}"#, Permission::Ask),
        (r#"{ "text": "harmless" }"#, Permission::Allow), // R-164
    ] {
        let considered = consider(&bench, text).unwrap();
        let subject = Subject::default();
        let counts = Counts::unknown();
        let request = considered.request(&subject, 3, RunFacts::default(), &counts);
        assert_eq!((request.permission, request.step), (permission, 3));
        assert_eq!(request.arguments_digest, request.arguments.digest());
        assert_eq!(request.tool.name(), "write");
    }
    assert_eq!((count(&bench.counters.policy), bench.handler_count()), (0, 0));
    assert!(bench.events().await.iter().all(|event| event.call_id.is_none()));
}

#[tokio::test]
async fn what_would_not_get_to_the_policy_says_why() {
    let bench = bench().await;
    for (text, why) in [
        ("{", "the JSON"),
        ("[]", "object"),
        (r#"{"more":1}"#, "more"),
        (r#"{"text":"refused"}"#, "the tool's own check: not that"),
        (r#"{"text":"broken"}"#, "the tool's own check panicked"),
    ] {
        let refused = consider(&bench, text).unwrap_err();
        assert!(refused.contains(why) || why == "the JSON", "{text}: {refused}");
    }
    assert_eq!((count(&bench.counters.policy), bench.handler_count()), (0, 0));
}
