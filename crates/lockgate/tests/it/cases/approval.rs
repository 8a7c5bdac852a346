//! An approval is good for one call as it was shown, once, in time; anything else means: not approved (R-168…R-173).

mod answers;
mod resuming;
mod shown;

use std::time::Duration;

use lockgate::contract::approval::{Approval, ApprovalState, Binding, Circumstances};
use lockgate::contract::arguments::Arguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::document::Limits;
use lockgate::contract::effect::Permission;
use lockgate::contract::event::{ApprovalDecided, EventType};
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{
    BoxFuture, Decision, DecisionRefused, PolicyDecision, PolicyRequest, PolicyVerdict, ProposedCall,
};
use lockgate::harness::Resume;
use lockgate::registry::ReplacementRule;

use super::file::{Case, proposed};
use super::tampered::Tampered;
use crate::world::{Ran, World, code_of, echo};
use lockgate::prelude::*;

/// A policy that answers every call alike.
pub(super) struct Always(pub(super) PolicyDecision);

impl PolicyEngine for Always {
    fn decide<'a>(&'a self, _: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let verdict = PolicyVerdict::new(self.0, vec!["test:always".to_owned()], "so");
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

fn transfer() -> lockgate::ToolSpecBuilder {
    Case::named("appr-args-bound").tool()
}

fn to_bob() -> ProposedCall {
    proposed("c1", "transfer", r#"{"to":"bob","amount":5}"#)
}

/// A run that waits for one question about a transfer.
async fn waiting(world: &World) -> (Ran, Approval) {
    world.add(transfer(), echo());
    let ran = world.run(vec![to_bob()]).await;
    assert_eq!(ran.stop(), ("waiting_for_approval", "approval_required")); // R-169
    assert_eq!(ran.codes(), ["approval_required"]); // R-168
    assert!(world.entered().is_empty());
    assert_eq!(world.requests().len(), 1, "no later step is consumed"); // R-170
    let question = world.questions(ran.run_id()).await.remove(0);
    (ran, question)
}

/// What the journal says about decisions on a run, in order: the word, and why.
async fn decisions(world: &World, run: &RunId) -> Vec<String> {
    let events = world.journal.events(run, 0).await.unwrap();
    let decided = events.iter().filter(|event| event.kind == EventType::ApprovalDecided);
    decided
        .map(|event| {
            let decided: ApprovalDecided = event.data.decode().unwrap();
            format!("{} {}", decided.decision, decided.reason.unwrap_or_default()).trim_end().to_owned()
        })
        .collect()
}

/// The digest of the same question about other arguments.
fn digest_over(question: &Approval, arguments: &Document, subject: &Subject) -> Digest {
    let binding = Binding {
        arguments,
        attempt: None,
        call_id: &question.call_id,
        circumstances: &Circumstances::default(),
        definition: question.definition,
        effect: question.effect,
        run_id: &question.run_id,
        subject: Binding::subject(subject),
        tool_name: &question.tool_name,
    };
    binding.digest()
}

pub(super) async fn arguments_bound(case: Case) {
    let asked = case.at("/input/asked").to_document();
    let answered = case.at("/input/response/arguments").to_document();
    for world in World::of_each_kind() {
        // A reviewer whose answer is about other arguments than those that were asked about.
        world.add(case.tool(), echo());
        let ran = world.run(vec![proposed("c1", &case.tool_name(), asked.text())]).await;
        let question = world.questions(ran.run_id()).await.remove(0);
        assert_eq!(question.digest, digest_over(&question, &asked, &world.subject));
        let other = digest_over(&question, &answered, &world.subject);
        let refused = world.answer_shown(&question, ApprovalState::Granted, other).await.unwrap_err();
        assert!(matches!(refused, DecisionRefused::Digest(_)), "{refused}");
        assert_eq!(decisions(&world, ran.run_id()).await, ["refused digest"]);
        assert_eq!(world.resume(ran.run_id()).await.codes(), ["approval_required"]);
        assert!(world.entered().is_empty());

        // A caller who sends other arguments with a granted approval; the open call stays open.
        let first = world.direct(&case.tool_name(), asked.text()).await;
        let question = world.questions(&first.run_id).await.remove(0);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let stale = world.direct_with(&case.tool_name(), answered.text(), Some(&question)).await;
        assert_eq!(code_of(&stale), "approval_stale");
        assert!(world.entered().is_empty());
        let done = world.direct_with(&case.tool_name(), asked.text(), Some(&question)).await;
        assert_eq!((code_of(&done), done.result.call_id), ("ok".to_owned(), first.result.call_id)); // R-172
        assert_eq!(world.entered(), [asked.text()]);
    }
    // A stored run in which somebody changed the arguments.
    for change in [(r#"\"amount\": 5"#, r#"\"amount\": 5000"#), (r#"\"to\": \"bob\""#, r#"\"to\": \"eve\""#)] {
        let mut world = World::in_memory();
        world.add(case.tool(), echo());
        let ran = world.run(vec![proposed("c1", &case.tool_name(), asked.text())]).await;
        let question = world.questions(ran.run_id()).await.remove(0);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        world.journal = Arc::new(Tampered::new(Arc::clone(&world.journal), change));
        let state = world.runner(Vec::new()).resume(ran.run_id(), Resume::default()).await.unwrap();
        let codes: Vec<_> = state.calls().map(|call| call.settled.as_ref().unwrap().code.clone().unwrap()).collect();
        assert_eq!(codes[0].word(), "approval_stale");
        assert!(world.entered().is_empty());
    }
}

pub(super) async fn replay(case: Case) {
    for world in World::of_each_kind() {
        let mut last = None;
        let mut first_call = None;
        let mut run = None;
        for step in case.texts("/input/steps") {
            match step.as_str() {
                "pause" => {
                    let (ran, question) = waiting(&world).await;
                    first_call = Some(question.call_id.clone());
                    run = Some((ran.run_id().clone(), question));
                }
                "approve" => {
                    let (_, question) = run.as_ref().unwrap();
                    world.answer(question, ApprovalState::Granted).await.unwrap();
                }
                // The run in its journal is the snapshot.
                "save snapshot S" => {}
                "resume S" | "resume S again" => {
                    let (run, _) = run.as_ref().unwrap();
                    last = Some(world.restarted().resume(run).await);
                }
                other => panic!("no such step: {other}"),
            }
        }
        let last = last.unwrap();
        assert_eq!(last.codes(), ["ok"]);
        assert_eq!(Some(&last.result.calls[0].call_id), first_call.as_ref());
        assert_eq!(world.entered().len(), 1);
        // And once more, from each process that knows of it.
        for world in [world.clone(), world.restarted()] {
            world.resume(last.run_id()).await;
        }
        assert_eq!(world.entered().len(), 1);
        // As a direct call, the second answer is the stored one, and says so.
        let first = world.direct("transfer", r#"{"to":"bob","amount":6}"#).await;
        let question = world.questions(&first.run_id).await.remove(0);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        for reused in [false, true, true] {
            let answer = world.direct_with("transfer", r#"{"to":"bob","amount":6}"#, Some(&question)).await;
            assert_eq!(code_of(&answer), "ok");
            assert_eq!(answer.result.meta.deduplicated.is_some(), reused); // S-31
        }
        assert_eq!(world.entered().len(), 2);
    }
}

pub(super) async fn decline_does_not_execute(case: Case) {
    let granted: bool = case.number("/input/decision/approved");
    assert!(!granted && case.number::<bool>("/input/restart_between"));
    // Whatever policy the resuming process has; and whatever the answer was that is no yes.
    for later in [PolicyDecision::Allow, PolicyDecision::Ask, PolicyDecision::Deny] {
        for (answer, code) in
            [(ApprovalState::Denied, "approval_denied"), (ApprovalState::Withdrawn, "approval_withdrawn")]
        {
            for mut world in World::of_each_kind() {
                world.policy = Arc::new(Always(PolicyDecision::Ask));
                let (ran, question) = waiting(&world).await;
                world.answer(&question, answer).await.unwrap();
                let mut world = world.restarted();
                world.policy = Arc::new(Always(later));
                let resumed = world.resume(ran.run_id()).await;
                assert_eq!(resumed.codes(), [code], "{later:?}");
                assert!(world.entered().is_empty(), "{later:?}"); // R-173
            }
        }
    }
}

pub(super) async fn shown_is_executed(case: Case) {
    let asked = format!(r#"{{"to":"bob","amount":{}}}"#, case.number::<u32>("/input/asked/amount"));
    let clamped = asked.replace("100", "50");
    assert_ne!(asked, clamped);
    for world in World::of_each_kind() {
        world.add(transfer(), echo());
        let first = world.direct("transfer", &asked).await;
        let question = world.questions(&first.run_id).await.remove(0);
        assert!(question.shown_text.contains("amount: 100\n"), "{}", question.shown_text);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        // Rewritten on the way, the approval is void; as shown, it runs exactly as shown.
        let rewritten = world.direct_with("transfer", &clamped, Some(&question)).await;
        assert_eq!(code_of(&rewritten), "approval_stale"); // C-14
        assert!(world.entered().is_empty());
        let done = world.direct_with("transfer", &asked, Some(&question)).await;
        assert_eq!(code_of(&done), "ok");
        assert_eq!(world.entered(), [asked.as_str()]);
        // Asked again, it is another question.
        let again = world.direct("transfer", &clamped).await;
        assert_eq!(code_of(&again), "approval_required");
        assert_ne!(world.questions(&again.run_id).await[0].digest, question.digest);
    }
}

pub(super) async fn expiry(case: Case) {
    let seconds: u64 = case.number("/input/expires_in_s");
    let late: u64 = case.text("/input/decision_at").strip_prefix("T+").unwrap().parse().unwrap();
    for mut world in World::of_each_kind() {
        world.options.approval_expires = Duration::from_secs(seconds);
        let (ran, question) = waiting(&world).await;
        world.clock.forward(Duration::from_secs(late));
        let refused = world.answer(&question, ApprovalState::Granted).await.unwrap_err();
        assert!(matches!(refused, DecisionRefused::NotOpen { state: ApprovalState::Expired, .. }), "{refused}");
        assert_eq!(decisions(&world, ran.run_id()).await, ["refused expired"]);
        let resumed = world.restarted().resume(ran.run_id()).await;
        assert_eq!(resumed.codes(), ["approval_expired"]);
        assert_eq!(resumed.stop(), ("completed", "final_answer"), "the conversation goes on");
        assert!(world.entered().is_empty());
        assert_eq!(world.run(Vec::new()).await.stop().0, "completed", "and accepts new input");
    }
}

pub(super) async fn decided_by_call(case: Case) {
    let named = case.texts("/input/calls");
    let calls: Vec<ProposedCall> = named
        .iter()
        .map(|call| {
            let (what, id) = call.split_once(' ').unwrap();
            let (tool, to) = what.split_once("->").unwrap();
            proposed(id, tool, &format!(r#"{{"to":"{to}","amount":5}}"#))
        })
        .collect();
    // In whatever order the answers come, and with a try to go on between them.
    for (reversed, between) in [(false, false), (true, false), (false, true), (true, true)] {
        for world in World::of_each_kind() {
            world.add(transfer(), echo());
            let ran = world.run(calls.clone()).await;
            let questions = world.questions(ran.run_id()).await;
            assert_eq!(questions.len(), 2, "side by side");
            assert_ne!(questions[0].approval_id, questions[1].approval_id);
            let mut answers: Vec<_> = case.at("/input/decisions").members().collect();
            if reversed {
                answers.reverse();
            }
            for (id, answer) in answers {
                let place = calls.iter().position(|call| call.provider_call_id == *id).unwrap();
                let answer = match answer.as_str().unwrap().as_ref() {
                    "approve" => ApprovalState::Granted,
                    _ => ApprovalState::Denied,
                };
                world.answer(&questions[place], answer).await.unwrap();
                if between {
                    world.restarted().resume(ran.run_id()).await;
                }
            }
            let resumed = world.restarted().resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), ["approval_denied", "ok"]);
            assert_eq!(world.entered(), [calls[1].arguments_text.clone()]);
        }
    }
}

pub(super) async fn policy_before_approval(case: Case) {
    assert_eq!(case.text("/input/policy"), "deny");
    let deny = || Arc::new(Always(PolicyDecision::Deny));
    for mut world in World::of_each_kind() {
        world.policy = deny();
        world.add(transfer().permission(Permission::Ask), echo());
        let ran = world.run(vec![to_bob()]).await;
        assert_eq!(ran.codes(), ["policy_denied"]); // R-162
        assert!(world.questions(ran.run_id()).await.is_empty(), "nobody is asked");
        assert!(world.entered().is_empty());
    }
    // Granted before the policy forbade it: decided again at resume.
    for world in World::of_each_kind() {
        let (ran, question) = waiting(&world).await;
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let mut world = world.restarted();
        world.policy = deny();
        assert_eq!(world.resume(ran.run_id()).await.codes(), ["policy_denied"]);
        assert!(world.entered().is_empty());
    }
}
