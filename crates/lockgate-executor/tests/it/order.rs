//! The order of the checks (R-061, R-062, R-226; part 5, "pipeline order"): a call that would fail at one stage and at every
//! later one is refused at the first, and nothing behind it is entered.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::run::Limit;
use lockgate_contract::tool::{Failure, Output, ToolSpec};
use lockgate_executor::{Released, Settlement};

use crate::bench::{
    Answer, Bench, Fault, ManualClock, Method, Setup, add, code, count, settlement, tool, with_handler,
};

/// The stages at which a call can fail, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Failing {
    Language,
    Proposed,
    Resolved,
    Validated,
    PreCheck,
    Limits,
    Policy,
    Approval,
    Recorded,
    Ran,
    Checked,
    Nowhere,
}

use Failing::{
    Approval, Checked, Language, Limits as LimitStage, Nowhere, Policy, PreCheck, Proposed, Ran, Recorded, Resolved,
    Validated,
};

const STAGES: [(Failing, &str); 12] = [
    (Language, "wrong_action_language"),
    (Proposed, "invalid_arguments"),
    (Resolved, "unknown_tool"),
    (Validated, "invalid_arguments"),
    (PreCheck, "rejected_by_tool"),
    (LimitStage, "limit_reached"),
    (Policy, "policy_denied"),
    (Approval, "approval_required"),
    (Recorded, "storage_unavailable"),
    (Ran, "tool_internal_error"),
    (Checked, "invalid_tool_output"),
    (Nowhere, "ok"),
];

/// A tool that fails at `from` and wherever it can behind it.
fn spec(from: Failing, effect: Effect, counters: &std::sync::Arc<crate::bench::Counters>) -> ToolSpec {
    let counted = std::sync::Arc::clone(counters);
    let rejects = from <= PreCheck;
    let builder = tool(counters, effect)
        .permission(Permission::Ask)
        .output_schema_text(r#"{"type":"object","required":["answer"]}"#)
        .pre_check(move |_| {
            add(&counted.pre_check);
            if rejects { Err("not on a Sunday".to_owned()) } else { Ok(()) }
        });
    with_handler(builder, counters, move |_, _| async move {
        let text = if from <= Checked { r#"{"wrong":1}"# } else { r#"{"answer":1}"# };
        if from <= Ran {
            Err(Failure::bug("broken"))
        } else {
            Ok(Output::new(Document::parse(text, Limits::OUTPUT).unwrap()))
        }
    })
}

async fn bench(from: Failing, effect: Effect) -> Bench {
    let policy = match from {
        _ if from <= Policy => PolicyDecision::Deny,
        Approval => PolicyDecision::Ask,
        _ => PolicyDecision::Allow,
    };
    let mut setup = Setup::new(|counters| vec![spec(from, effect, counters)]).policy(Answer::Is(policy));
    if from <= Resolved {
        setup.allowed = Some(Vec::new());
    }
    let bench = setup.build().await;
    if from <= Recorded {
        bench.journal.fail(Method::Claim, 0, Fault::Unavailable);
    }
    bench
}

#[tokio::test]
async fn every_stage_stands_before_the_next() {
    for effect in [Effect::Write, Effect::External] {
        for (from, expected) in STAGES {
            let bench = bench(from, effect).await;
            let arguments = match from {
                Language | Proposed => "no arguments at all",
                Resolved | Validated => r#"{"n":"no integer"}"#,
                _ => r#"{"n":1}"#,
            };
            let mut request = bench.request(effect.word(), arguments);
            if from == Language {
                request.call.language = ActionLanguage::Code;
            }
            request.terms.over_limit = (from <= LimitStage).then_some(Limit::MaxValidActions);
            let found = match bench.send(&request).await {
                Released::Settled(settlement) => code(&settlement).to_owned(),
                Released::Open(open) => open.result().code().unwrap().word().to_owned(),
                other => panic!("{from:?}: {other:?}"),
            };
            assert_eq!(found, expected, "{from:?}, {effect}"); // R-061, R-062, R-065, R-079, R-096

            let counters = &bench.counters;
            let entered = [
                (PreCheck, count(&counters.pre_check)),
                (Policy, count(&counters.policy)),
                (Approval, bench.journal.calls(Method::Ask)),
                (Recorded, bench.journal.calls(Method::Claim)),
                (Ran, count(&counters.handler)),
                (Checked, count(&counters.output)),
            ];
            for (stage, entered) in entered {
                let expected = match stage {
                    // Only one policy answer leads to a question.
                    Approval => usize::from(from == Approval),
                    _ => usize::from(from >= stage),
                };
                assert_eq!(entered, expected, "{stage:?} of a call that fails from {from:?} on, {effect}"); // R-062, R-065, R-070
            }
            // R-043: a call that nothing refuses is really dispatched.
            assert_eq!(from == Nowhere, found == "ok");
        }
    }
}

#[tokio::test]
async fn invalid_arguments_reach_neither_policy_nor_handler() {
    let schema = r#"{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer"}},
        "required":["to"],"additionalProperties":false}"#;
    let bench = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).input_schema_text(schema);
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })]
    })
    .build()
    .await;
    // S-07: each with the reason word that the model is told.
    let refused = [
        ("", "schema"),
        ("{}", "schema"),
        (r#"{"to":"bob","extra":1}"#, "schema"), // R-014
        (r#"{"to":1}"#, "schema"),
        (r#"{"to":"bob","amount":"5"}"#, "schema"), // S-08: no coercion
        (r#"{"to":"bob","amount":true}"#, "schema"),
        (r#"{"to":"bob""#, "not_json"),
        ("{'to':'bob'}", "not_json"),
        (r#"["bob"]"#, "not_an_object"),
        ("null", "not_an_object"),
        (r#"{"to":"bob","to":"eve"}"#, "duplicate_key"),
        (r#"{"to":"\ud800"}"#, "invalid_unicode"),
        (r#"{"to":"bob","amount":NaN}"#, "non_finite_number"),
        (r#"{"to":"bob","amount":1e999}"#, "non_finite_number"),
        (r#"{"to":"bob"}{"to":"eve"}"#, "trailing_characters"),
    ];
    for (arguments, reason) in refused {
        let request = bench.request("write", arguments);
        let settlement = settlement(bench.send(&request).await);
        let error = settlement.result().error.as_ref().unwrap();
        assert_eq!((error.code.word(), error.reason.as_deref()), ("invalid_arguments", Some(reason)), "{arguments}"); // R-070
        assert_eq!(error.message, "The arguments are not valid for this tool: compare them with its input schema."); // R-090
        assert!(error.retryable, "{arguments}");
        assert_eq!(settlement.result().tool_version.as_deref(), Some("2.5"));
    }
    let deep = format!(r#"{{"to":{}"x"{}}}"#, "[".repeat(200), "]".repeat(200));
    let large = format!(r#"{{"to":"{}"}}"#, "x".repeat(1 << 20));
    for (arguments, reason) in [(deep, "too_deep"), (large, "too_large")] {
        let settlement = settlement(bench.send(&bench.request("write", &arguments)).await);
        assert_eq!(settlement.result().error.as_ref().unwrap().reason.as_deref(), Some(reason));
    }
    // R-062, R-244, R-247
    assert_eq!(count(&bench.counters.pre_check), 0);
    assert_eq!(count(&bench.counters.policy), 0);
    assert_eq!(bench.handler_count(), 0);
    assert_eq!(bench.journal.calls(Method::Claim), 0);
}

#[tokio::test]
async fn names_are_matched_exactly_or_not_at_all() {
    let bench = Setup::new(|counters| crate::bench::answering(counters, "1")).build().await;
    // R-020, R-066, R-067, R-069, R-243, R-248, S-04
    for name in [
        "Write",
        "WRITE",
        "write ",
        " write",
        "wrıte",
        "writе",
        "writ",
        "write_",
        "",
        "constructor",
        "__init__",
        "toString",
        "*",
        "write\0",
        "write\n",
        "../write",
        "sync_to_prod",
        "write?",
        "wr*",
    ] {
        let settlement = settlement(bench.send(&bench.request(name, "{}")).await);
        assert_eq!(code(&settlement), "unknown_tool", "{name:?}"); // R-068, R-249
        assert_eq!(settlement.result().tool_version, None, "{name:?}"); // R-086
        assert_eq!(settlement.result().tool_name, name); // R-093
    }
    assert_eq!(bench.handler_count(), 0);
    assert_eq!(code(&bench.call("write").await), "ok"); // R-107
}

#[tokio::test]
async fn the_executor_never_tries_twice() {
    for failure in [
        || Failure::from(lockgate_contract::tool::ToolExecutionError::new("busy", "try again").retryable(true)),
        || Failure::from(lockgate_contract::tool::ToolEnvironmentError::new("down").nothing_happened()),
        || Failure::bug("broken"),
    ] {
        let bench = Setup::new(|counters| crate::bench::failing(counters, failure)).build().await;
        for effect in crate::bench::EFFECTS {
            bench.call(effect.word()).await;
        }
        assert_eq!(bench.handler_count(), 3); // R-077, R-204
    }
}

#[tokio::test]
async fn a_number_that_does_not_fit_is_never_rounded() {
    let bench = Setup::new(|counters| {
        let counters = std::sync::Arc::clone(counters);
        let builder = tool(&counters, Effect::Write);
        let handler =
            lockgate_contract::tool::Handler::typed(move |arguments: std::collections::BTreeMap<String, i64>| {
                add(&counters.handler);
                async move { Ok(arguments) }
            });
        vec![builder.handler(handler).build().unwrap()]
    })
    .build()
    .await;
    let request = bench.request("write", r#"{"n":123456789012345678901234567890}"#);
    let refused = settlement(bench.send(&request).await);
    assert_eq!(code(&refused), "invalid_arguments"); // R-070
    assert_eq!(refused.result().error.as_ref().unwrap().reason.as_deref(), Some("schema"));
    assert_eq!((bench.handler_count(), count(&bench.counters.policy)), (0, 0)); // R-062
    let passed = settlement(bench.send(&bench.request("write", r#"{"n":9223372036854775807}"#)).await);
    assert_eq!(passed.result().data.as_ref().unwrap().text(), r#"{"n":9223372036854775807}"#);
}

#[tokio::test]
async fn declared_paths_name_only_what_the_schema_declares() {
    let schema = r#"{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer"}},
        "required":["to"],"additionalProperties":false}"#;
    let mut setup = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).input_schema_text(schema);
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })]
    });
    setup.options.argument_errors = lockgate_executor::ArgumentErrors::DeclaredPaths;
    let bench = setup.build().await;
    let message = async |arguments: &str| {
        let settlement = settlement(bench.send(&bench.request("write", arguments)).await);
        settlement.result().error.as_ref().unwrap().message.clone()
    };
    let named = message(r#"{"to":"bob","amount":"secret-value"}"#).await;
    assert!(named.contains("`/amount`") && named.contains("`type`"), "{named}"); // C-3
    assert!(!named.contains("secret-value"), "{named}"); // R-181
    let unnamed = message(r#"{"to":"bob","/srv/hidden_key":"secret-value"}"#).await;
    assert!(!unnamed.contains("hidden_key") && !unnamed.contains("secret-value"), "{unnamed}"); // R-181
}

#[tokio::test]
async fn each_stage_has_its_own_time() {
    let clock: Arc<OnceLock<Arc<ManualClock>>> = Arc::default();
    let moved = Arc::clone(&clock);
    let bench = Setup::new(move |counters| {
        let handler = move |_, _| {
            let moved = Arc::clone(&moved);
            async move {
                moved.get().unwrap().pass(Duration::from_millis(5));
                Ok(Output::of(&1))
            }
        };
        vec![with_handler(tool(counters, Effect::Write), counters, handler)]
    })
    .build()
    .await;
    clock.set(Arc::clone(&bench.clock)).ok().unwrap();
    let times = |settlement: &Settlement| Document::from_serialize(settlement.times()).unwrap().text().to_owned();
    let expected =
        r#"{"proposed":0,"resolved":0,"validated":0,"authorized":0,"recorded":0,"ran":5000,"checked":0,"released":0}"#;
    assert_eq!(times(&bench.call("write").await), expected);
    let refused = settlement(bench.send(&bench.request("write", r#"{"n":"x"}"#)).await);
    assert_eq!(times(&refused), r#"{"proposed":0,"resolved":0,"released":0}"#);
}
