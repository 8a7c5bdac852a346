//! Row by row: code, status, effect state, retry advice, texts, version, audit reason.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::{Effect, EffectState, OnDuplicate};
use lockgate_contract::event::Body;
use lockgate_contract::outcome::{Code, Outcome, Status, TABLE};
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::run::Limit;
use lockgate_contract::tool::{Failure, Output, ToolEnvironmentError, ToolExecutionError};
use lockgate_executor::{EarlierCall, Released, Settlement};
use lockgate_registry::ReplacementRule;

use crate::bench::{
    Answer, Bench, EFFECTS, Fault, Method, Setup, answering, code, failing, pending, settlement, tool, with_handler,
};

/// What a row must look like.
struct Row {
    code: &'static str,
    status: Status,
    /// For read, write and external.
    effect_state: [EffectState; 3],
    retryable: [bool; 3],
    version: Option<&'static str>,
    reason: Option<&'static str>,
    audit_reason: Option<&'static str>,
}

use EffectState::{Done, None as Nothing, Unknown};

const UNKNOWN_UNLESS_READ: [EffectState; 3] = [Nothing, Unknown, Unknown];

impl Row {
    /// A row of the table, as the table has it.
    fn of(word: &'static str) -> Self {
        let row = TABLE.iter().find(|row| row.word == word).unwrap();
        let effect_state = EFFECTS.map(|effect| row.effect.state(effect, true));
        Self {
            code: word,
            status: row.status,
            effect_state,
            retryable: effect_state.map(|state| row.retry.advises(state)),
            version: Some("2.5"),
            reason: None,
            audit_reason: None,
        }
    }

    fn states(mut self, states: [EffectState; 3]) -> Self {
        self.effect_state = states;
        self
    }

    fn retryable(mut self, retryable: [bool; 3]) -> Self {
        self.retryable = retryable;
        self
    }

    fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    fn no_version(mut self) -> Self {
        self.version = None;
        self
    }

    fn reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self.audit_reason = Some(reason);
        self
    }

    fn audit_reason(mut self, reason: &'static str) -> Self {
        self.audit_reason = Some(reason);
        self
    }

    /// Compares a settlement with the row, and what is stored with what was handed out.
    async fn assert(&self, effect: Effect, bench: &Bench, settlement: &Settlement) {
        let at = EFFECTS.iter().position(|one| *one == effect).unwrap();
        let label = format!("{} of {effect}", self.code);
        let (result, settled) = (settlement.result(), settlement.settled());
        let error = result.error.as_ref().unwrap_or_else(|| panic!("{label}: no error in {result:?}"));
        assert_eq!(error.code.word(), self.code, "{label}: {:?}", settled.audit); // R-088
        assert_eq!(settled.status, self.status, "{label}"); // C-9
        assert_eq!(settled.effect_state, self.effect_state[at], "{label}");
        assert_eq!(error.retryable, self.retryable[at], "{label}"); // R-089
        assert_eq!(result.tool_version.as_deref(), self.version, "{label}"); // R-086, C-10
        assert_eq!(error.reason.as_deref(), self.reason, "{label}");
        assert_eq!(settled.audit.reason.as_deref(), self.audit_reason, "{label}");
        assert!(!result.ok && result.data.is_none(), "{label}"); // R-087
        let unknown = self.effect_state[at] == Unknown;
        assert_eq!(result.meta.effect_state, unknown.then_some(Unknown), "{label}");
        let has_id = ["tool_internal_error", "gate_internal_error"].contains(&self.code);
        assert_eq!(result.meta.error_id.is_some(), has_id, "{label}"); // R-179
        assert!(settled.audit.text.as_ref().is_some_and(|text| !text.is_empty()), "{label}"); // R-112
        // The model reads code and sentence, never a value, a path or a name that it did not write.
        let shown = settled.model_content().text().to_owned();
        for hidden in ["/srv", "hunter22", "test:scripted", "rule 7", "native", "subject:", "2.5"] {
            assert!(!shown.contains(hidden), "{label}: {shown}"); // R-180, R-181, R-182
        }
        if let Outcome::Gate(code) = error.code
            && code != Code::RejectedByTool
        {
            assert_eq!(error.message, code.row().model_text, "{label}"); // R-110
        }
        // One ending, the same in the journal (R-212), unless the journal did not take it.
        let stored = bench.endings(&result.call_id).await;
        if !["result_not_recorded", "storage_unavailable"].contains(&self.code) {
            assert_eq!(stored.len(), 1, "{label}");
            assert_eq!(stored[0].model_content().text(), shown, "{label}");
            assert_eq!(stored[0].audit, settled.audit, "{label}"); // R-216
        }
    }
}

/// Calls one tool of each effect on a bench of its own.
async fn each(row: Row, setup: impl Fn() -> Setup, prepare: impl AsyncFn(&Bench), arguments: &str) {
    for effect in EFFECTS {
        let bench = setup().build().await;
        prepare(&bench).await;
        let request = bench.request(effect.word(), arguments);
        let settlement = settlement(bench.send(&request).await);
        row.assert(effect, &bench, &settlement).await;
    }
}

fn fine() -> Setup {
    Setup::new(|counters| answering(counters, r#""hunter22""#))
}

/// Tools that are there, and that the run may not call.
fn hidden() -> Setup {
    let mut setup = fine();
    setup.allowed = Some(Vec::new());
    setup
}

async fn nothing(_: &Bench) {}

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
async fn code_in_place_of_a_call() {
    // Nothing about it is looked at: not whether it is JSON, nor whether its name is one of a tool.
    for text in ["print('hunter22')", "", "{}", r#"{"n":1}"#, "\\"] {
        for effect in EFFECTS {
            for (name, settings) in [(effect.word(), fine()), ("python", fine()), (effect.word(), hidden())] {
                let bench = settings.build().await;
                let mut request = bench.request(name, text);
                request.call.language = ActionLanguage::Code;
                let settlement = settlement(bench.send(&request).await);
                Row::of("wrong_action_language").no_version().assert(effect, &bench, &settlement).await; // R-096
                assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]); // R-105
                let Body::ToolRequested(requested) = bench.events().await[0].body().unwrap() else { panic!("{name}") };
                assert_eq!(requested.arguments_text.as_deref(), Some(text)); // R-105
                assert_eq!((requested.tool_name.as_str(), requested.language), (name, ActionLanguage::Code)); // R-106
                assert_eq!((bench.handler_count(), bench.journal.calls(Method::Claim)), (0, 0));
            }
        }
    }
}

#[tokio::test]
async fn tools_that_this_run_cannot_see() {
    // R-068, R-086, C-5: one code and no version for all of them, the truth in the audit.
    each(Row::of("unknown_tool").no_version().audit_reason("not_allowed"), hidden, nothing, "{}").await; // R-148
    let revoke = async |bench: &Bench| EFFECTS.iter().for_each(|effect| assert!(bench.registry.revoke(effect.word())));
    each(Row::of("unknown_tool").no_version().audit_reason("revoked"), fine, revoke, "{}").await; // R-151

    let bench = hidden().build().await;
    let unregistered = bench.call("delete_prod").await;
    Row::of("unknown_tool")
        .no_version()
        .audit_reason("not_registered")
        .assert(Effect::External, &bench, &unregistered)
        .await;
    // Not registered and not allowed look the same from outside.
    let not_allowed = bench.call("write").await;
    let shown = |settlement: &Settlement| settlement.settled().model_content().text().to_owned();
    assert_eq!(shown(&unregistered), shown(&not_allowed)); // C-5, R-149
    assert_eq!(not_allowed.settled().audit.tool_version.as_deref(), Some("2.5")); // C-10
    assert_eq!(unregistered.settled().audit.tool_version, None);
}

#[tokio::test]
async fn a_changed_definition() {
    let replace = async |bench: &Bench| {
        for effect in EFFECTS {
            let builder = tool(&bench.counters, effect).version("3.0");
            let new = with_handler(builder, &bench.counters, |_, _| async { Ok(Output::of(&1)) });
            bench.registry.replace(new, ReplacementRule::Stop).unwrap();
        }
    };
    let mut row = Row::of("definition_changed").audit_reason("definition_changed");
    row.version = Some("3.0");
    each(row, fine, replace, "{}").await; // R-069, R-147, R-151
}

#[tokio::test]
async fn invalid_arguments() {
    each(Row::of("invalid_arguments").reason("schema"), fine, nothing, r#"{"n":"hunter22"}"#).await; // R-070, R-181
    each(Row::of("invalid_arguments").reason("not_json"), fine, nothing, "{hunter22}").await;
}

#[tokio::test]
async fn rejected_by_the_tool_itself() {
    let setup = || {
        Setup::new(|counters| {
            let reject = |effect| {
                let builder = tool(counters, effect).pre_check(|_| Err("Only on weekdays.".to_owned()));
                with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })
            };
            EFFECTS.map(reject).into()
        })
    };
    each(Row::of("rejected_by_tool"), setup, nothing, "{}").await; // R-081
    let settlement = setup().build().await.call("write").await;
    assert_eq!(settlement.settled().message.as_deref(), Some("Only on weekdays."));
}

#[tokio::test]
async fn a_limit() {
    for limit in [Limit::MaxSteps, Limit::MaxValidActions, Limit::MaxCallsPerTurn, Limit::Deadline] {
        for effect in EFFECTS {
            let bench = fine().build().await;
            let mut request = bench.request(effect.word(), "{}");
            request.terms.over_limit = Some(limit);
            let settlement = settlement(bench.send(&request).await);
            Row::of("limit_reached").reason(limit.word()).assert(effect, &bench, &settlement).await;
        }
    }
}

#[tokio::test]
async fn a_denial() {
    // Architecture rule 9: a policy that fails denies.
    for answer in [Answer::Is(PolicyDecision::Deny), Answer::Error, Answer::Panic, Answer::PanicLater] {
        each(Row::of("policy_denied"), || fine().policy(answer), nothing, "{}").await;
    }
    let bench = fine().policy(Answer::Error).build().await;
    let audit = bench.call("write").await.settled().audit.clone();
    assert_eq!(audit.text.as_deref(), Some("the policy could not be evaluated: rule 7 cannot be read"));
    let bench = fine().policy(Answer::Is(PolicyDecision::Deny)).build().await;
    let audit = bench.call("write").await.settled().audit.clone();
    assert_eq!((audit.decision.as_deref(), &*audit.policies), (Some("deny"), &["test:scripted".to_owned()][..]));
}

#[tokio::test]
async fn an_open_question_is_an_answer_and_no_ending() {
    for effect in EFFECTS {
        let bench = fine().policy(Answer::Is(PolicyDecision::Ask)).build().await;
        let open = bench.ask(&bench.request(effect.word(), "{}")).await;
        let (result, error) = (open.result(), open.result().error.as_ref().unwrap());
        assert_eq!(error.code.word(), "approval_required"); // R-071, R-168, R-169
        assert_eq!(error.message, "This call waits for a person's approval.");
        assert_eq!(result.meta.approval_id.as_ref(), Some(open.approval_id()));
        assert_eq!((result.ok, result.data.is_none(), result.tool_version.as_deref()), (false, true, Some("2.5")));
        assert_eq!(open.audit().decision.as_deref(), Some("ask"));
        assert_eq!(bench.kinds().await, ["tool.requested", "approval.requested"]);
        assert_eq!(bench.handler_count(), 0); // R-173
    }
}

#[tokio::test]
async fn storage_that_fails_before_the_effect() {
    let fail = async |bench: &Bench| bench.journal.fail(Method::Claim, 0, Fault::Unavailable);
    for effect in [Effect::Write, Effect::External] {
        let bench = fine().build().await;
        fail(&bench).await;
        let settlement = bench.call(effect.word()).await;
        Row::of("storage_unavailable").assert(effect, &bench, &settlement).await;
        assert_eq!(bench.handler_count(), 0);
        assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]);
    }
}

#[tokio::test]
async fn storage_that_fails_after_the_effect() {
    let fail = async |bench: &Bench| bench.journal.fail(Method::Settle, 0, Fault::Unavailable);
    each(Row::of("result_not_recorded"), fine, fail, "{}").await;
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

#[tokio::test(start_paused = true)]
async fn a_time_out() {
    let row = Row::of("timed_out").states(UNKNOWN_UNLESS_READ).retryable([true, false, false]);
    each(row, || Setup::new(pending), nothing, "{}").await; // S-26
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
async fn an_unknown_outcome() {
    let lost = || {
        let lost = || Failure::OutcomeUnknown { message: "the connection closed after sending".to_owned() };
        Setup::new(move |counters| failing(counters, lost))
    };
    each(Row::of("outcome_unknown").states([Unknown; 3]), lost, nothing, "{}").await; // R-126
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
async fn an_identical_call_of_one_turn() {
    for (rule, expected, runs) in [
        (OnDuplicate::RunEach, "ok", 2),
        (OnDuplicate::Reject, "duplicate_call", 1),
        (OnDuplicate::ShareResult, "ok", 1),
    ] {
        for effect in [Effect::Write, Effect::External] {
            let bench = Setup::new(|counters| {
                let builder = tool(counters, effect).on_duplicate(rule);
                vec![with_handler(builder, counters, |_, _| async { Ok(Output::of("hunter22")) })]
            })
            .build()
            .await;
            let first = bench.call(effect.word()).await;
            let earlier = EarlierCall {
                call_id: first.result().call_id.clone(),
                tool_name: effect.word().to_owned(),
                arguments_digest: first.settled().audit.arguments_digest.unwrap(),
                settled: first.settled().clone(),
            };
            let mut request = bench.request(effect.word(), " {\n} ");
            request.terms.earlier = std::sync::Arc::new(vec![earlier]);
            let second = settlement(bench.send(&request).await);
            assert_eq!((code(&second), bench.handler_count()), (expected, runs), "{rule} {effect}");
            let shared = (rule == OnDuplicate::ShareResult).then(|| first.result().call_id.clone());
            assert_eq!(second.result().meta.deduplicated, shared); // S-31: never a bare success
            if rule == OnDuplicate::Reject {
                Row::of("duplicate_call").assert(effect, &bench, &second).await;
            }
            // Other arguments are another call.
            let mut other = bench.request(effect.word(), r#"{"n":2}"#);
            other.terms.earlier = request.terms.earlier;
            assert_eq!(code(&settlement(bench.send(&other).await)), "ok");
        }
    }
}

#[tokio::test]
async fn what_the_run_settles_itself() {
    for started in [false, true] {
        for effect in EFFECTS {
            for word in ["blocked", "cancelled", "interrupted", "outcome_unknown", "in_progress", "gate_internal_error"]
            {
                let bench = fine().build().await;
                let request = bench.request(effect.word(), "{}");
                let code = Code::from_word(word).unwrap();
                let released = bench.gate.settle(request, code, started, "the run says so", &bench.scope).await;
                let states = EFFECTS.map(|effect| code.row().effect.state(effect, started));
                let mut row = Row::of(word).states(states);
                if word == "gate_internal_error" && started {
                    row = row.status(Status::Executed);
                }
                row.assert(effect, &bench, &settlement(released)).await;
                assert_eq!(bench.handler_count(), 0);
                assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]);
            }
        }
    }
}

#[tokio::test]
async fn a_held_call_leaves_nothing_behind() {
    for effect in EFFECTS {
        let bench = fine().build().await;
        let mut request = bench.request(effect.word(), "{}");
        request.terms.may_start = false;
        assert!(matches!(bench.send(&request).await, Released::Held));
        assert_eq!((bench.handler_count(), bench.kinds().await.len()), (0, 0));
        request.terms.may_start = true;
        assert_eq!(code(&settlement(bench.send(&request).await)), "ok");
        bench.ending(&request.call.call_id).await;
    }
}

#[tokio::test]
async fn approvals_that_cannot_be_used() {
    for (decision, expected) in [
        (Some(ApprovalState::Denied), "approval_denied"),
        (Some(ApprovalState::Withdrawn), "approval_withdrawn"),
        (None, "approval_expired"),
    ] {
        for effect in EFFECTS {
            let bench = fine().policy(Answer::Is(PolicyDecision::Ask)).build().await;
            let mut request = bench.request(effect.word(), "{}");
            let open = bench.ask(&request).await;
            match decision {
                Some(answer) => bench.decide(open.approval_id(), answer).await,
                None => bench.clock.pass(Duration::from_mins(10)),
            }
            request.terms.requested_before = true;
            let settlement = settlement(bench.send(&request).await);
            Row::of(expected).assert(effect, &bench, &settlement).await; // S-39
            assert_eq!(bench.handler_count(), 0); // R-173
            assert_eq!(settlement.settled().audit.approval_id.as_ref(), Some(open.approval_id()));
        }
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
