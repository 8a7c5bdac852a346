//! An approval is good for one call as it was shown, once, in time; anything else means: not approved (R-168…R-173).

use std::time::Duration;

use lockgate::contract::approval::{Approval, ApprovalState, Binding};
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
use super::world::{Ran, World, code_of, echo};
use lockgate::prelude::*;

/// A policy that answers every call alike.
pub(super) struct Always(pub(super) PolicyDecision);

impl PolicyEngine for Always {
    fn decide<'a>(&'a self, _: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let verdict =
            PolicyVerdict { decision: self.0, policies: vec!["test:always".to_owned()], reason: "so".to_owned() };
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
        call_id: &question.call_id,
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

/// No decision at all is no yes either, whatever the policy has become.
#[tokio::test]
async fn an_open_question_is_not_closed_by_a_laxer_policy() {
    for expired in [false, true] {
        for mut world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            world.policy = Arc::new(Always(PolicyDecision::Allow));
            if expired {
                world.clock.forward(Duration::from_secs(601));
            }
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [if expired { "approval_expired" } else { "approval_required" }]);
            assert!(world.entered().is_empty());
            if !expired {
                // Answered, it runs under its own approval, which is used up.
                world.answer(&question, ApprovalState::Granted).await.unwrap();
                let resumed = world.restarted().resume(ran.run_id()).await;
                assert_eq!(resumed.codes(), ["ok"]);
                assert_eq!(resumed.events_of(&EventType::ApprovalConsumed).len(), 1);
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

/// Milliseconds after the question at which it is granted, and at which it is used; and how the call ends.
const INSTANTS: &[(u64, u64, &str)] = &[
    (0, 0, "ok"),
    (299_999, 299_999, "ok"),
    (0, 299_999, "ok"),
    // At the expiry itself it is too late.
    (0, 300_000, "approval_expired"),
    (299_999, 300_000, "approval_expired"),
    (0, 86_400_000, "approval_expired"),
];

#[tokio::test]
async fn the_boundary_is_a_millisecond_wide() {
    for (granted, used, code) in INSTANTS {
        for mut world in World::of_each_kind() {
            world.options.approval_expires = Duration::from_mins(5);
            let (ran, question) = waiting(&world).await;
            world.clock.forward(Duration::from_millis(*granted));
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            world.clock.forward(Duration::from_millis(used - granted));
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{granted} {used}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"));
        }
    }
    let world = World::in_memory();
    let (_, question) = waiting(&world).await;
    world.clock.forward(Duration::from_mins(10));
    world.answer(&question, ApprovalState::Granted).await.unwrap_err();
    // A time of nothing: nobody can answer, and nobody waits for ever.
    let mut world = World::in_memory();
    world.options.approval_expires = Duration::ZERO;
    world.add(transfer(), echo());
    let ran = world.run(vec![to_bob()]).await;
    assert!(world.entered().is_empty());
    assert_eq!(world.resume(ran.run_id()).await.codes(), ["approval_expired"]);
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

/// What happens between the grant and the resume, and how the call ends then.
type Between = fn(&mut World);

#[tokio::test]
async fn everything_is_looked_at_again_at_resume() {
    let rows: &[(&str, Between, &str)] = &[
        ("nothing", |_| {}, "ok"),
        ("the tool is taken away", |world| assert!(world.registry.revoke("transfer")), "unknown_tool"),
        (
            "its description changes",
            |world| {
                let changed = world.spec(transfer().description("now to anybody"), echo());
                world.registry.replace(changed, ReplacementRule::Stop).unwrap();
            },
            "definition_changed",
        ),
        (
            "its effect changes",
            |world| {
                let changed = world.spec(transfer().effect(Effect::External), echo());
                world.registry.replace(changed, ReplacementRule::Stop).unwrap();
            },
            "definition_changed",
        ),
        (
            // The run may use the new definition; what was approved is still another one.
            "its version changes and runs migrate",
            |world| {
                let changed = world.spec(transfer().version("2.0"), echo());
                world.registry.replace(changed, ReplacementRule::Migrate).unwrap();
            },
            "approval_stale",
        ),
        (
            "the old definition may be finished with",
            |world| {
                let changed = world.spec(transfer().version("2.0"), echo());
                world.registry.replace(changed, ReplacementRule::Finish).unwrap();
            },
            "ok",
        ),
        ("another registry, without the tool", |world| world.registry = Arc::default(), "unknown_tool"),
        ("the policy asks as before", |world| world.policy = Arc::new(Always(PolicyDecision::Ask)), "ok"),
    ];
    for (what, between, code) in rows {
        for world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            let mut world = world.restarted();
            between(&mut world);
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{what}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"), "{what}");
        }
    }
}

/// The subject of a caller, and how a call with alice's approval ends.
#[tokio::test]
async fn an_approval_is_for_one_subject() {
    let alice = Subject { tenant: "demo".into(), user: "alice".into(), agent: "helper".into(), ..Subject::default() };
    let subjects = [
        (alice.clone(), "ok"),
        (Subject { user: "bob".into(), ..alice.clone() }, "approval_stale"),
        (Subject { tenant: "other".into(), ..alice.clone() }, "approval_stale"),
        (Subject { agent: "another".into(), ..alice.clone() }, "approval_stale"),
        (Subject { tenant: "demoalice".into(), user: String::new(), ..alice.clone() }, "approval_stale"),
    ];
    for (subject, code) in subjects {
        for mut world in World::of_each_kind() {
            world.subject = alice.clone();
            world.add(transfer(), echo());
            let first = world.direct("transfer", r#"{"to":"bob","amount":5}"#).await;
            let question = world.questions(&first.run_id).await.remove(0);
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            world.subject = subject.clone();
            let runner = world.runner(Vec::new());
            let mut call = DirectCall::new(subject.clone(), world.binding(), "transfer", r#"{"to":"bob","amount":5}"#);
            call.approval = Some(question.approval_id.clone());
            // Refused by whichever check comes first: the run of another subject, or the digest.
            let refused = runner.call(call).await;
            if code == "ok" {
                assert_eq!(code_of(&refused.unwrap()), "ok");
            }
            assert_eq!(world.entered().len(), usize::from(code == "ok"), "{subject:?}"); // R-173
        }
    }
}

#[tokio::test]
async fn an_approval_of_one_run_is_nothing_to_another() {
    for world in World::of_each_kind() {
        let (first, question) = waiting(&world).await;
        let second = world.run(vec![to_bob()]).await;
        let other = world.questions(second.run_id()).await.remove(0);
        assert_ne!(question.digest, other.digest, "the same call of another run is another question");
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        assert_eq!(world.resume(second.run_id()).await.codes(), ["approval_required"]);
        assert!(world.entered().is_empty());
        // Shown the digest of one, answering for the other.
        let refused = world.answer_shown(&other, ApprovalState::Granted, question.digest).await.unwrap_err();
        assert!(matches!(refused, DecisionRefused::Digest(_)), "{refused}");
        assert_eq!(world.resume(first.run_id()).await.codes(), ["ok"]);
        assert_eq!(world.resume(second.run_id()).await.codes(), ["approval_required"]);
        assert_eq!(world.entered().len(), 1);
    }
}

/// Answers one after another, and whether each is taken; then how the call ends.
const ANSWERS: &[(&[(ApprovalState, bool)], &str)] = &[
    (&[(ApprovalState::Granted, true), (ApprovalState::Granted, false)], "ok"),
    (&[(ApprovalState::Granted, true), (ApprovalState::Denied, false)], "ok"),
    (&[(ApprovalState::Denied, true), (ApprovalState::Granted, false)], "approval_denied"),
    (&[(ApprovalState::Denied, true), (ApprovalState::Denied, false)], "approval_denied"),
    (&[(ApprovalState::Granted, true), (ApprovalState::Withdrawn, true)], "approval_withdrawn"),
    (&[(ApprovalState::Withdrawn, true), (ApprovalState::Granted, false)], "approval_withdrawn"),
    // What nobody can answer.
    (
        &[(ApprovalState::Consumed, false), (ApprovalState::Pending, false), (ApprovalState::Expired, false)],
        "approval_required",
    ),
];

#[tokio::test]
async fn the_first_answer_stands() {
    for (answers, code) in ANSWERS {
        for world in World::of_each_kind() {
            let (ran, question) = waiting(&world).await;
            for (answer, taken) in *answers {
                assert_eq!(world.answer(&question, *answer).await.is_ok(), *taken, "{answers:?}");
            }
            let resumed = world.resume(ran.run_id()).await;
            assert_eq!(resumed.codes(), [*code], "{answers:?}");
            assert_eq!(world.entered().len(), usize::from(*code == "ok"), "{answers:?}");
            // Once the call is settled, nothing can be answered any more.
            for late in [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Withdrawn] {
                assert!(*code == "approval_required" || world.answer(&question, late).await.is_err(), "{answers:?}");
            }
        }
    }
}

#[tokio::test]
async fn there_is_no_answer_to_a_question_that_nobody_asked() {
    for world in World::of_each_kind() {
        let decision = Decision {
            approval_id: "apr-0000000000000000".into(),
            answer: ApprovalState::Granted,
            by: "reviewer".to_owned(),
            reason: None,
            digest: None,
        };
        assert!(matches!(world.journal.decide(decision).await, Err(DecisionRefused::NotFound(_))));
    }
}

#[tokio::test]
async fn resumed_three_times_and_from_two_places_it_runs_once() {
    for world in World::of_each_kind() {
        let (ran, question) = waiting(&world).await;
        for _ in 0..3 {
            // Nobody decided: nothing happens, not even an event.
            assert_eq!(world.resume(ran.run_id()).await.state.last_seq(), ran.state.last_seq());
        }
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        for _ in 0..3 {
            assert_eq!(world.restarted().resume(ran.run_id()).await.codes(), ["ok"]);
        }
        assert_eq!(world.entered().len(), 1);
        assert_eq!(world.questions(ran.run_id()).await[0].state, ApprovalState::Consumed);
    }
    // At the same time: whatever either is told, the effect is there once at most.
    for world in World::of_each_kind() {
        let (ran, question) = waiting(&world).await;
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let (one, other) = (world.restarted(), world.restarted());
        let (one, other) = (one.runner(Vec::new()), other.runner(Vec::new()));
        let resume = Resume::default;
        let (one, other) = tokio::join!(one.resume(ran.run_id(), resume()), other.resume(ran.run_id(), resume()));
        assert!(one.is_ok() || other.is_ok());
        assert_eq!(world.entered().len(), 1);
        super::world::check_endings(&world.journal.events(ran.run_id(), 0).await.unwrap());
    }
}

/// What a person is shown is what is there: nothing invisible, nothing that reorders.
#[tokio::test]
async fn what_cannot_be_seen_is_shown() {
    let world = World::in_memory();
    world.add(transfer(), echo());
    let hidden = r#"{"to":"bob\u202eeve","amount":5,"memo":"a\u200bb\u0000c\u001b[31m\ntransfer 1.0 approved"}"#;
    let answer = world.direct("transfer", hidden).await;
    let shown = world.questions(&answer.run_id).await.remove(0).shown_text;
    assert!(shown.is_ascii() && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("approved")).count(), 1);
    assert!(!shown.lines().any(|line| line.starts_with("transfer 1.0 approved")), "{shown}");
    let literal = "{\"to\":\"bob\u{202e}\u{2066}eve\",\"amount\":5}";
    let answer = world.direct("transfer", literal).await;
    let shown = world.questions(&answer.run_id).await.remove(0).shown_text;
    assert!(shown.contains("\\u{202e}\\u{2066}eve") && shown.is_ascii(), "{shown}");
}

/// The arguments in the record are the arguments in the digest.
#[tokio::test]
async fn the_digest_is_over_the_value_and_not_over_its_spelling() {
    let world = World::in_memory();
    let (_, question) = waiting(&world).await;
    let same = Arguments::parse(r#"{ "amount": 5.0, "to": "\u0062ob" }"#, Limits::ARGUMENTS).unwrap();
    assert_eq!(digest_over(&question, same.document(), &world.subject), question.digest);
    for other in
        [r#"{"amount":5,"to":"Bob"}"#, r#"{"amount":5,"to":"bob","memo":null}"#, r#"{"amount":"5","to":"bob"}"#]
    {
        let other = Arguments::parse(other, Limits::ARGUMENTS).unwrap();
        assert_ne!(digest_over(&question, other.document(), &world.subject), question.digest);
    }
}
