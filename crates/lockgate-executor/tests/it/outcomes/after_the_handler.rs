//! Calls whose handler was entered: row by row, with what is known of their effect.

use lockgate_contract::effect::EffectState::{self, Done, None as Nothing, Unknown};
use lockgate_contract::effect::{Effect, Idempotency};
use lockgate_contract::outcome::{Outcome, Status};
use lockgate_contract::tool::{Failure, Output, ToolEnvironmentError, ToolExecutionError};

use super::row::{Row, each, fine, nothing};
use crate::bench::{Bench, EFFECTS, Fault, Method, Setup, code, failing, pending, tool, with_handler};

const UNKNOWN_UNLESS_READ: [EffectState; 3] = [Nothing, Unknown, Unknown];

#[tokio::test]
async fn success() {
    let bench = fine().build().await;
    for effect in EFFECTS {
        let settlement = bench.call(effect.word()).await;
        let (result, settled) = (settlement.result(), settlement.settled());
        assert!(result.ok && result.error.is_none()); // R-075, R-087
        assert_eq!(result.data.as_ref().unwrap().text(), r#""hunter22""#);
        assert_eq!(result.tool_version.as_deref(), Some("2.5")); // R-005, R-085
        assert_eq!((settled.status, settled.effect_state, settled.retryable), (Status::Executed, Done, false));
        assert!(result.meta.is_empty());
        let stored = bench.ending(&result.call_id).await;
        assert_eq!(stored.data.unwrap().text(), r#""hunter22""#);
        let wire = lockgate_contract::document::Document::from_serialize(result).unwrap();
        let names: Vec<_> = wire.root().members().map(|(name, _)| name.into_owned()).collect();
        assert_eq!(names, ["call_id", "tool_name", "tool_version", "ok", "data", "error"]); // R-085
        assert!(wire.root().get("error").unwrap().is_null()); // R-087
    }
}

#[tokio::test]
async fn events_of_a_call_stand_in_order() {
    let bench = fine().build().await;
    for effect in EFFECTS {
        bench.call(effect.word()).await;
    }
    let one = ["tool.requested", "tool.started", "tool.finished"];
    assert_eq!(bench.kinds().await, [one, one, one].concat()); // R-125, S-51
    let events = bench.events().await;
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (2..=10).collect::<Vec<_>>()); // R-209
    assert!(events.iter().all(|event| event.call_id.is_some())); // R-208, R-211, R-227
    let seen: Vec<u64> = bench.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seen, numbers);
}

#[tokio::test]
async fn the_tools_own_failure() {
    for state in [None, Some(Done), Some(Unknown)] {
        for retryable in [false, true] {
            let failure = move || {
                let error =
                    ToolExecutionError::new("quota_exceeded", "The quota of today is used up.").retryable(retryable);
                match state {
                    None => error.into(),
                    Some(state) => error.effect_state(state).into(),
                }
            };
            let bench = Setup::new(|counters| failing(counters, failure)).build().await;
            for effect in EFFECTS {
                let settlement = bench.call(effect.word()).await;
                let (settled, error) = (settlement.settled(), settlement.result().error.as_ref().unwrap());
                assert_eq!(error.code.word(), "quota_exceeded"); // R-072, R-058
                assert!(matches!(error.code, Outcome::Tool(_))); // R-091
                assert_eq!(error.message, "The quota of today is used up.");
                assert_eq!(error.retryable, retryable); // R-089
                // What only reads leaves no unknown effect behind.
                let said = state.filter(|state| effect != Effect::Read || *state != Unknown);
                assert_eq!((settled.status, settled.effect_state), (Status::Executed, said.unwrap_or(Nothing)));
                assert_eq!(settlement.result().tool_version.as_deref(), Some("2.5"));
            }
        }
    }
    // A tool cannot take a word of the table: that is a bug of it.
    let posing = || ToolExecutionError::new("policy_denied", "I was not run").into();
    let bench = Setup::new(|counters| failing(counters, posing)).build().await;
    let settlement = bench.call("write").await;
    assert_eq!(code(&settlement), "tool_internal_error"); // R-056
    assert_eq!(settlement.settled().status, Status::Executed); // R-056, R-108
}

#[tokio::test]
async fn a_bug_of_the_tool() {
    let broken = || Setup::new(|counters| failing(counters, || Failure::bug("hunter22 at /srv/app.rs:7\n  stack")));
    each(Row::of("tool_internal_error").states(UNKNOWN_UNLESS_READ), broken, nothing, "{}").await; // R-074, R-245
    let bench = broken().build().await;
    let settlement = bench.call("write").await;
    assert_eq!(settlement.settled().audit.text.as_deref(), Some("hunter22 at /srv/app.rs:7\n  stack")); // R-179
}

#[tokio::test]
async fn the_environment() {
    let broken = || Setup::new(|counters| failing(counters, || ToolEnvironmentError::new("no /srv/socket").into()));
    let row = Row::of("environment_error").states(UNKNOWN_UNLESS_READ).retryable([true, false, false]);
    each(row, broken, nothing, "{}").await; // R-059, R-098
    let untouched = || {
        Setup::new(|counters| {
            failing(counters, || ToolEnvironmentError::new("no /srv/socket").nothing_happened().into())
        })
    };
    let row = Row::of("environment_error").states([Nothing; 3]).retryable([true; 3]);
    each(row, untouched, nothing, "{}").await;
}

/// An attempt that certainly did nothing does not make up for one that may have: to try once more is no advice then, except
/// where a tool may be repeated and says so itself.
#[tokio::test]
async fn after_an_attempt_that_was_lost() {
    let failures: [fn() -> Failure; 2] = [
        || ToolEnvironmentError::new("no /srv/socket").nothing_happened().into(),
        || ToolExecutionError::new("busy", "Later.").retryable(true).into(),
    ];
    for (failure, repeatable) in [(0, false), (1, false), (0, true), (1, true)] {
        let bench = Setup::new(|counters| {
            EFFECTS
                .map(|effect| {
                    let kind = if repeatable { Idempotency::Declared } else { Idempotency::None };
                    let fails = move |_, _| async move { Err(failures[failure]()) };
                    with_handler(tool(counters, effect).idempotency(kind), counters, fails)
                })
                .into()
        })
        .build()
        .await;
        for effect in EFFECTS {
            let mut request = bench.request(effect.word(), "{}");
            request.terms.unknown_before = true;
            let settlement = crate::bench::settlement(bench.send(&request).await);
            let error = settlement.result().error.as_ref().unwrap();
            let state = if effect == Effect::Read { Nothing } else { Unknown };
            let advice = effect == Effect::Read || (failure == 1 && repeatable);
            assert_eq!((settlement.settled().effect_state, error.retryable), (state, advice), "{effect}"); // S-26
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_out() {
    let row = Row::of("timed_out").states(UNKNOWN_UNLESS_READ).retryable([true, false, false]);
    each(row, || Setup::new(pending), nothing, "{}").await; // S-26
}

#[tokio::test]
async fn an_unknown_outcome() {
    let lost = || {
        let lost = || Failure::OutcomeUnknown { message: "the connection closed after sending".to_owned() };
        Setup::new(move |counters| failing(counters, lost))
    };
    each(Row::of("outcome_unknown").states([Unknown; 3]), lost, nothing, "{}").await; // R-126
}

#[tokio::test]
async fn a_wrong_output() {
    let setup = || {
        Setup::new(|counters| {
            let spec = |effect| {
                let builder = tool(counters, effect).output_schema_text(r#"{"type":"object"}"#);
                with_handler(builder, counters, |_, _| async { Ok(Output::of("hunter22")) })
            };
            EFFECTS.map(spec).into()
        })
    };
    each(Row::of("invalid_tool_output").states([Done; 3]).reason("schema"), setup, nothing, "{}").await; // R-073, R-183, R-246
}

#[tokio::test]
async fn storage_that_fails_after_the_effect() {
    let fail = async |bench: &Bench| bench.journal.fail(Method::Settle, 0, Fault::Unavailable);
    each(Row::of("result_not_recorded"), fine, fail, "{}").await;
}
