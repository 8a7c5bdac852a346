//! Calls that end, or stay open, without a handler: row by row, in the order of the stages.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::{Effect, OnDuplicate};
use lockgate_contract::event::Body;
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::run::Limit;
use lockgate_contract::tool::Output;
use lockgate_executor::{EarlierCall, Released, Settlement};
use lockgate_registry::ReplacementRule;

use super::row::{Row, each, fine, hidden, nothing};
use crate::bench::{Answer, Bench, EFFECTS, Fault, Method, Setup, code, settlement, tool, with_handler};

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
    let row = Row::of("definition_changed").version("3.0").audit_reason("definition_changed");
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
async fn a_start_names_the_policies_that_let_it_pass() {
    for effect in EFFECTS {
        let bench = fine().policy(Answer::Is(PolicyDecision::Allow)).build().await;
        bench.call(effect.word()).await;
        let started = bench.events().await.into_iter().find_map(|event| match event.body().unwrap() {
            Body::ToolStarted(started) => Some(started),
            _ => None,
        });
        assert_eq!(started.unwrap().policies, ["test:scripted"]);
    }
}

#[tokio::test]
async fn the_size_of_arguments_is_the_operators() {
    let mut setup = fine();
    setup.options.max_argument_bytes = 16;
    let bench = setup.build().await;
    assert_eq!(bench.gate.options().max_argument_bytes, 16);
    for (arguments, expected) in [(r#"{"n":1}        "#, None), (r#"{"n":1}          "#, Some("too_large"))] {
        let settlement = settlement(bench.send(&bench.request("write", arguments)).await);
        assert_eq!(settlement.settled().reason.as_deref(), expected);
    }
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
            request.terms.earlier = Arc::new(vec![earlier]);
            let second = settlement(bench.send(&request).await);
            assert_eq!((code(&second), bench.handler_count()), (expected, runs), "{rule} {effect}");
            let shared = (rule == OnDuplicate::ShareResult).then(|| first.result().call_id.clone());
            assert_eq!(second.result().meta.deduplicated, shared); // S-31: never a bare success
            let why = second.settled().audit.text.as_deref().unwrap_or_default();
            assert_eq!(why.contains(first.result().call_id.as_ref()), rule != OnDuplicate::RunEach, "{why}");
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
