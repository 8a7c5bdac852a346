//! The promises of the port, which each engine keeps: what is declared `deny` stays denied, what fails denies, demands are carried,
//! and nothing of the question is changed.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{
    Approvers, BoxFuture, Clock, Counts, NoRedaction, Obligations, PolicyDecision, PolicyEngine, PolicyRequest,
    PolicyVerdict,
};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;
use lockgate_policy::cedar::{CedarPolicy, RuleFile, Rules};
use lockgate_policy::{DecisionPoint, DecisionPointOptions, NativePolicy, ShadowedPolicy};

use crate::server::{answer, server};

pub(crate) struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

pub(crate) fn tool(permission: Permission) -> ToolSpec {
    ToolSpec::builder("pay")
        .effect(Effect::External)
        .permission(permission)
        .input_schema_text(r#"{"type":"object","properties":{"amount":{"type":"integer"}}}"#)
        .build()
        .unwrap()
}

/// Asks about a call of a tool that declares this.
pub(crate) async fn asked(engine: &dyn PolicyEngine, permission: Permission) -> Result<PolicyVerdict, String> {
    let (subject, tool) = (Subject::default(), tool(permission));
    let arguments = Arguments::parse(r#"{"amount": 9007199254740993}"#, Limits::ARGUMENTS).unwrap();
    let request = PolicyRequest {
        subject: &subject,
        tool: &tool,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission,
        step: 3,
        run: RunFacts { calls: 4, actions: 2, questions: 1, steps_left: Some(7), ..RunFacts::default() },
        counts: &Counts::unknown(),
    };
    let before = format!("{subject:?} {} {}", tool.definition(), arguments.text());
    let answer = engine.decide(request).await;
    let after = format!("{subject:?} {} {}", tool.definition(), arguments.text());
    assert_eq!(before, after);
    assert_eq!(request.arguments_digest, arguments.digest());
    answer
}

fn cedar(rules: &str) -> CedarPolicy {
    let file = RuleFile { name: "rules.cedar".to_owned(), text: rules.to_owned() };
    CedarPolicy::new(Rules::load([&tool(Permission::Allow)], &[file]).unwrap(), Arc::new(Epoch))
}

/// A cedar engine for a tool of this declaration: rules are checked against definitions.
fn cedar_for(permission: Permission, rules: &str) -> CedarPolicy {
    let file = RuleFile { name: "rules.cedar".to_owned(), text: rules.to_owned() };
    CedarPolicy::new(Rules::load([&tool(permission)], &[file]).unwrap(), Arc::new(Epoch))
}

pub(crate) fn http(body: &str) -> DecisionPoint {
    point(&server(answer("200 OK", body)).0)
}

pub(crate) fn point(url: &str) -> DecisionPoint {
    let options = DecisionPointOptions { timeout: Duration::from_secs(20), ..DecisionPointOptions::new(url) };
    DecisionPoint::new(options, Arc::new(NoRedaction), Arc::new(Epoch)).unwrap()
}

fn shadowed<E: PolicyEngine, S: PolicyEngine>(acting: E, shadow: S) -> ShadowedPolicy<E, S> {
    ShadowedPolicy::new(acting, Arc::new(shadow), Duration::from_secs(20))
}

/// Fails in every way that there is.
enum Broken {
    Error,
    Panic,
    PanicLater,
    Silent,
}

impl PolicyEngine for Broken {
    fn decide<'a>(&'a self, _request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        match self {
            Self::Error => Box::pin(std::future::ready(Err("it broke".to_owned()))),
            Self::Panic => panic!("it broke"),
            Self::PanicLater => Box::pin(async { panic!("it broke later") }),
            Self::Silent => Box::pin(std::future::pending()),
        }
    }
}

const PERMIT: &str = "permit (principal, action, resource);";
const ASK: &str = r#"@id("large") @approvers("finance:2") @expires("5m") @reason("too much")
permit (principal, action, resource) when { context has approval };"#;
const HTTP_ASK: &str =
    r#"{"result":{"decision":"ask","policies":["large"],"approvers":"finance:2","expires":"5m","reason":"too much"}}"#;

#[tokio::test]
async fn what_is_declared_denied_stays_denied() {
    let denied = Permission::Deny;
    let engines: Vec<Box<dyn PolicyEngine>> = vec![
        Box::new(NativePolicy::new()),
        Box::new(NativePolicy::new().ask_always()),
        Box::new(cedar_for(denied, PERMIT)),
        Box::new(cedar_for(denied, ASK)),
        Box::new(http(r#"{"result":true}"#)),
        Box::new(http(HTTP_ASK)),
        Box::new(shadowed(NativePolicy::new(), cedar_for(denied, PERMIT))),
        Box::new(shadowed(http(r#"{"result":true}"#), NativePolicy::new())),
    ];
    for engine in engines {
        let verdict = asked(&*engine, denied).await.unwrap();
        assert_eq!(verdict.decision, PolicyDecision::Deny, "{verdict:?}"); // R-166
        assert!(!verdict.policies.is_empty(), "{verdict:?}");
        assert_eq!(verdict.obligations, Obligations::default());
    }
}

#[tokio::test]
async fn what_fails_denies() {
    // Nobody listens there.
    let nobody = point("http://127.0.0.1:1/v1/data/lockgate");
    let engines: Vec<Box<dyn PolicyEngine>> = vec![
        // A sum that Cedar cannot hold, and another tool than the rules were checked against.
        Box::new(cedar(
            "permit (principal, action == Tool::Action::\"pay\", resource) when { context.input has amount && context.input.amount + 9223372036854775807 > 1 };",
        )),
        Box::new(cedar_for(Permission::Ask, PERMIT)),
        Box::new(http(r#"{"result":null}"#)),
        Box::new(http("{}")),
        Box::new(nobody),
        Box::new(shadowed(http("{}"), NativePolicy::new())),
        Box::new(Broken::Error),
        Box::new(shadowed(Broken::Error, NativePolicy::new())),
    ];
    for (place, engine) in engines.into_iter().enumerate() {
        let answer = asked(&*engine, Permission::Allow).await;
        let is_denied = answer.as_ref().map_or(true, |verdict| verdict.decision == PolicyDecision::Deny);
        assert!(is_denied, "{place}: {answer:?}"); // R-162
    }
}

#[tokio::test]
async fn what_is_demanded_of_a_question_is_carried() {
    let demanded = Obligations {
        approvers: Some(Approvers { roles: vec!["finance".to_owned()], count: 2 }),
        expires_in: Some(Duration::from_mins(5)),
        because: Some("too much".to_owned()),
    };
    let engines: Vec<(Box<dyn PolicyEngine>, &str)> = vec![
        (Box::new(cedar(ASK)), "cedar:large"),
        (Box::new(http(HTTP_ASK)), "http:large"),
        (Box::new(shadowed(cedar(ASK), http(r#"{"result":true}"#))), "cedar:large"),
        (Box::new(shadowed(http(HTTP_ASK), cedar(PERMIT))), "http:large"),
    ];
    for (engine, policy) in engines {
        let verdict = asked(&*engine, Permission::Allow).await.unwrap();
        assert_eq!((verdict.decision, &verdict.obligations), (PolicyDecision::Ask, &demanded));
        assert_eq!(verdict.policies[0], policy);
    }
}

#[tokio::test]
async fn each_names_what_decided_and_says_why() {
    let engines: Vec<(Box<dyn PolicyEngine>, PolicyDecision, &str)> = vec![
        (Box::new(NativePolicy::new()), PolicyDecision::Allow, "native:declared-allow"),
        (Box::new(cedar(PERMIT)), PolicyDecision::Allow, "cedar:rules.cedar#1"),
        (Box::new(http(r#"{"result":{"allow":false,"policies":["no"]}}"#)), PolicyDecision::Deny, "http:no"),
        (Box::new(shadowed(NativePolicy::new(), Broken::Error)), PolicyDecision::Allow, "native:declared-allow"),
    ];
    for (engine, decision, policy) in engines {
        let verdict = asked(&*engine, Permission::Allow).await.unwrap();
        assert_eq!((verdict.decision, verdict.policies[0].as_str()), (decision, policy));
        assert!(verdict.reason.contains("`pay`"), "{verdict:?}");
    }
}

/// Whatever is tried, the one that acts is the one that is heard.
#[tokio::test]
async fn a_shadow_of_any_kind_changes_nothing() {
    let alone = asked(&NativePolicy::new(), Permission::Allow).await.unwrap();
    let soon = Duration::from_millis(50);
    let beside = async |engine: ShadowedPolicy<NativePolicy, Broken>| asked(&engine, Permission::Allow).await.unwrap();
    let failed = vec!["native:declared-allow".to_owned(), "shadow:failed".to_owned()];
    for broken in [Broken::Error, Broken::Panic, Broken::PanicLater, Broken::Silent] {
        let verdict = beside(ShadowedPolicy::new(NativePolicy::new(), Arc::new(broken), soon)).await;
        assert_eq!(verdict, PolicyVerdict { policies: failed.clone(), ..alone.clone() });
    }
    let tried = http(r#"{"result":{"decision":"deny","policies":["no"],"reason":"never"}}"#);
    let verdict = asked(&shadowed(NativePolicy::new(), tried), Permission::Allow).await.unwrap();
    assert_eq!(verdict.policies[..2], ["native:declared-allow", "shadow:deny:http:no"]);
    assert!(verdict.policies[2].starts_with("shadow:deny:http-set:http://127.0.0.1:"), "{verdict:?}");
    assert_eq!(PolicyVerdict { policies: alone.policies.clone(), ..verdict }, alone);
    // What hangs holds nobody up for longer than it may.
    let (url, _asked) = server(None::<Vec<u8>>);
    let engine = ShadowedPolicy::new(NativePolicy::new(), Arc::new(point(&url)), soon);
    let verdict = asked(&engine, Permission::Allow).await.unwrap();
    assert_eq!(verdict.policies, failed);
}
