//! Results equal calls, in number, in order and in content, whatever became of each call.

use std::sync::Arc;

use lockgate_contract::effect::EffectState;
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::Status;
use lockgate_contract::ports::Message;
use lockgate_contract::run::Budget;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::IdempotencyKey;
use lockgate_harness::{CallSummary, RunResult, RunState};
use proptest::prelude::*;

use super::script::{CODE, NO_OBJECTS, REFUSED, Script, block_on, cancelled_script, runs};
use crate::bench::Bench;
use crate::tools::Entry;

proptest! {
    #![proptest_config(runs())]

    /// The bench checks the invariants of all runs beside it, on every event and on every beginning of the run.
    #[test]
    fn results_equal_calls_in_order(script in cancelled_script()) {
        block_on(async {
            let bench = script.bench();
            let state = bench.run().await;
            let state = script.to_the_end(&bench, state.run_id()).await;
            script.assert_ended(&bench, &state);
            assert_equal_calls(&script, &bench, &state);
        });
    }
}

fn assert_equal_calls(script: &Script, bench: &Bench, state: &RunState) {
    let result = RunResult::of(state);
    let told: Vec<(CallId, String)> = state.messages().into_iter().filter_map(told).collect();
    let mut results = result.calls.iter().zip(&told);
    let failures = result.calls.iter().filter(|call| call.status == Some(Status::EnvError)).count();
    let Budget { max_valid_actions, max_environment_failures, .. } = script.budget;
    let used_up = state.valid_actions() >= max_valid_actions || failures >= max_environment_failures as usize;
    for (turn, step) in script.turns.iter().take(state.turns().len()).zip(0..) {
        let mut before: Vec<&CallSummary> = Vec::new();
        for (index, (tool, arguments)) in turn.iter().enumerate() {
            let place = state.run_id().call(step, u32::try_from(index).unwrap());
            let (call, (told_of, content)) = results.next().unwrap();
            let case = || format!("{place}: {call:?}, told {content}, in {script:?}");
            // R-219, R-228: by its id, at its place, under the provider's id, in the history too.
            assert_eq!((&call.call_id, told_of), (&place, &place), "{}", case());
            assert_eq!(
                (call.tool_name.as_str(), call.provider_call_id.as_str()),
                (*tool, format!("p{index}").as_str())
            );
            let ending = ending(tool, arguments);
            let circumstances = Circumstances {
                script,
                twin: turn[..index].iter().zip(&before).any(|(earlier, ending)| {
                    *earlier == (*tool, arguments.clone()) && ending.status == Some(Status::Executed)
                }),
                unknown: before.iter().any(|earlier| earlier.effect_state == Some(EffectState::Unknown)),
                used_up: used_up || index >= script.budget.max_calls_per_turn as usize,
            };
            let code = call.code.as_ref().map_or("ok", |code| code.word());
            assert!(code == ending || circumstances.explain(code, tool, arguments), "{}", case());
            let shared = *tool == "post" && circumstances.twin && call.status == Some(Status::Executed);
            assert_eq!(call.deduplicated, shared, "{}", case());
            // What it says is its own: the number that was asked for, or the code, and nothing of another call's.
            let number = number(arguments).filter(|_| call.ok).map(|number| format!(r#"{{"n":{number}}}"#));
            assert!(content.contains(number.as_deref().unwrap_or(code)), "{}", case());
            assert_entered(bench, call, Entry { tool, arguments: arguments.clone(), idempotency_key: key(&place) });
            before.push(call);
        }
    }
    assert!(results.next().is_none(), "more results than calls: {script:?}");
    assert_eq!(result.calls.len(), told.len(), "{script:?}"); // R-212
}

fn told(message: Message) -> Option<(CallId, String)> {
    match message {
        Message::Tool { call_id, content, .. } => Some((call_id, content.text().to_owned())),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    }
}

fn key(call: &CallId) -> String {
    IdempotencyKey::new(Arc::new(Subject::default()), call.clone()).to_string()
}

/// How a call ends that gets through the gate.
fn ending<'a>(tool: &str, arguments: &'a str) -> &'a str {
    match (tool, arguments) {
        (CODE, _) => "wrong_action_language",
        (_, text) if NO_OBJECTS.contains(&text) => "invalid_arguments",
        ("nosuch", _) => "unknown_tool",
        (_, text) if REFUSED.contains(&text) => "invalid_arguments",
        ("ban", _) => "policy_denied",
        _ => match word(arguments) {
            "ok" | "slow" => "ok",
            "wrong" => "invalid_tool_output",
            "business" => "not_found",
            "environment" | "broken" => "environment_error",
            "bug" | "panic" => "tool_internal_error",
            "lost" => "outcome_unknown",
            "hangs" => "timed_out",
            word => word,
        },
    }
}

/// What it is told to do.
fn word(arguments: &str) -> &str {
    arguments.split('"').nth(3).unwrap_or_default()
}

fn number(arguments: &str) -> Option<&str> {
    Some(arguments.rsplit_once(r#""n":"#)?.1.trim_end_matches('}'))
}

/// What else decides how a call ends.
struct Circumstances<'s> {
    script: &'s Script,
    /// The same call of the same turn was executed before it.
    twin: bool,
    /// A call before it in its turn had an effect that nobody knows.
    unknown: bool,
    /// A budget ran out.
    used_up: bool,
}

impl Circumstances<'_> {
    /// Whether a call may end in this way though its arguments ask for another.
    fn explain(&self, code: &str, tool: &str, arguments: &str) -> bool {
        let deadline = self.script.budget.deadline_ms != Budget::default().deadline_ms;
        match code {
            "limit_reached" => self.used_up || deadline,
            "approval_denied" | "approval_withdrawn" | "approval_expired" => ["ask", "pay"].contains(&tool),
            "duplicate_call" => tool == "book" && self.twin,
            "blocked" => self.unknown,
            "cancelled" | "interrupted" => self.script.cancelled_at.is_some(),
            "timed_out" => deadline && word(arguments) == "slow",
            _ => false,
        }
    }
}

/// A handler was entered once for each call that counts as executed, with that call's arguments, and for no other.
fn assert_entered(bench: &Bench, call: &CallSummary, own: Entry) {
    let entries: Vec<Entry> =
        bench.world.entries().into_iter().filter(|entry| entry.idempotency_key == own.idempotency_key).collect();
    let code = call.code.as_ref().map_or("ok", |code| code.word());
    let expected = match (call.status, code) {
        // Stopped on its way into the handler, or inside.
        (_, "interrupted" | "timed_out") => entries.len().min(1),
        (Some(Status::Executed | Status::EnvError), _) if !call.deduplicated => 1,
        _ => 0,
    };
    assert_eq!(entries, vec![own; expected], "{call:?}"); // R-062, R-120
}
