//! Questions that need several people, and edits: whose yes counts, and what it is a yes to.

use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState, NotEntitled, Proof};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::event::{ApprovalAgreed, Body, EventType};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{
    ApprovalFilter, Approvers, ClaimRefused, Decision, DecisionRefused, JournalError, Lease,
};

use crate::support::{Fixture, OPEN_FOR, approval, assert_gap_free, claim, event};

contract! {
    it_takes_as_many_people_as_the_question_needs;
    the_same_person_twice_is_one_person;
    nobody_approves_what_is_asked_for_them;
    who_lacks_the_role_or_the_proof_decides_nothing;
    one_no_denies_and_a_yes_before_it_counts_for_nothing;
    the_subject_may_take_its_question_back;
    yeses_do_not_outlive_the_question;
    yeses_travel_with_their_run;
    an_edit_is_another_question_about_the_same_call;
    an_edit_voids_the_yeses_before_it;
    an_edit_back_to_what_was_asked_is_refused_and_writes_nothing;
    an_edit_of_what_is_decided_is_refused_and_recorded;
    a_no_brings_no_other_arguments;
    a_run_whose_edit_still_needs_a_yes_is_not_ready;
}

const ID: &str = "apr-1";

fn finance(count: u32) -> Approvers {
    Approvers { roles: vec!["finance".to_owned()], count }
}

/// A question that needs so many people with the role `finance`.
async fn ask(f: &Fixture, run: &Lease, count: u32) -> Approval {
    let asked = Approval { approvers: Some(finance(count)), ..approval(run, ID) };
    f.journal.ask(run, asked.clone(), vec![event("approval.requested")]).await.unwrap();
    asked
}

/// What somebody says who has the role and proved who they are.
fn by(name: &str, answer: ApprovalState) -> Decision {
    Decision {
        roles: vec!["staff".to_owned(), "finance".to_owned()],
        proof: Proof::OsUser,
        ..Decision::new(ApprovalId::new(ID), answer, name)
    }
}

fn yes(name: &str) -> Decision {
    by(name, ApprovalState::Granted)
}

fn arguments(text: &str) -> Arguments {
    Arguments::parse(text, Limits::ARGUMENTS).unwrap()
}

async fn stored(f: &Fixture, id: &ApprovalId) -> Approval {
    f.journal.approval(id).await.unwrap().unwrap()
}

/// The last event: decision, by whom, why.
async fn last_decision(f: &Fixture, run: &RunId) -> (String, String, Option<String>) {
    let events = f.events(run).await;
    let Body::ApprovalDecided(body) = events.last().unwrap().body().unwrap() else { panic!("{events:?}") };
    (body.decision, body.decided_by, body.reason)
}

async fn refused(f: &Fixture, run: &Lease, decision: Decision, why: NotEntitled) {
    let (who, before) = (decision.by.clone(), stored(f, &decision.approval_id).await);
    let told = f.journal.decide(decision).await.unwrap_err();
    assert_eq!(told, DecisionRefused::NotEntitled { approval: before.approval_id.clone(), by: who.clone(), why });
    assert_eq!(last_decision(f, run).await, ("refused".to_owned(), who, Some(why.word().to_owned())));
    // The call stays open.
    assert_eq!(format!("{:?}", stored(f, &before.approval_id).await), format!("{before:?}"));
}

async fn it_takes_as_many_people_as_the_question_needs(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 2).await;
    f.clock.pass(Duration::from_secs(1));
    let first = f.journal.decide(Decision { reason: Some("fine".to_owned()), ..yes("bob") }).await.unwrap();
    assert_eq!((first.state, first.missing_yeses(), &first.decided_by), (ApprovalState::Pending, 1, &None));
    assert_eq!(f.kinds(&run).await.last().unwrap(), "approval.agreed");
    let early = f.journal.claim(&run, claim(&run.call(0, 0), 1, Some(ID)), Vec::new()).await.unwrap_err();
    assert_eq!(early, ClaimRefused::Approval(ApprovalState::Pending));
    let second = f.journal.decide(yes("carol")).await.unwrap();
    assert_eq!((second.state, second.decided_by.as_deref()), (ApprovalState::Granted, Some("carol")));
    let said: Vec<_> = second.yeses.iter().map(|yes| (yes.by.as_str(), yes.proof, yes.reason.as_deref())).collect();
    assert_eq!(said, [("bob", Proof::OsUser, Some("fine")), ("carol", Proof::OsUser, None)]);
    assert_eq!(second.yeses[0].roles, ["staff", "finance"]);
    assert_eq!(format!("{:?}", stored(&f, &second.approval_id).await), format!("{second:?}"));
    f.journal.claim(&run, claim(&run.call(0, 0), 1, Some(ID)), Vec::new()).await.unwrap();
    assert_gap_free(&f.events(&run).await);
}

async fn the_same_person_twice_is_one_person(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 2).await;
    f.journal.decide(yes("bob")).await.unwrap();
    for name in ["bob", "Bob", " bob "] {
        refused(&f, &run, yes(name), NotEntitled::Twice).await;
    }
}

async fn nobody_approves_what_is_asked_for_them(f: Fixture) {
    let run = f.create("run-a").await;
    let asked = ask(&f, &run, 1).await;
    for name in [asked.user.as_str(), asked.agent.as_str(), "USER"] {
        refused(&f, &run, yes(name), NotEntitled::Subject).await;
        refused(&f, &run, by(name, ApprovalState::Denied), NotEntitled::Subject).await;
    }
    // Another agent of the same user.
    let other = Decision { acts_for: Some(asked.user.clone()), ..yes("second-agent") };
    refused(&f, &run, other, NotEntitled::Subject).await;
    // The role does not have to be named for that.
    let anybody = Approval { approvers: Some(Approvers { roles: Vec::new(), count: 1 }), ..approval(&run, "apr-2") };
    f.journal.ask(&run, anybody, Vec::new()).await.unwrap();
    refused(&f, &run, Decision { approval_id: ApprovalId::new("apr-2"), ..yes("user") }, NotEntitled::Subject).await;
    let other = Decision { approval_id: ApprovalId::new("apr-2"), roles: Vec::new(), ..yes("bob") };
    assert_eq!(f.journal.decide(other).await.unwrap().state, ApprovalState::Granted);
}

async fn who_lacks_the_role_or_the_proof_decides_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 1).await;
    for answer in [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Withdrawn] {
        let roles = vec!["staff".to_owned()];
        refused(&f, &run, Decision { roles, ..by("bob", answer) }, NotEntitled::Role).await;
        refused(&f, &run, Decision { roles: Vec::new(), ..by("bob", answer) }, NotEntitled::Role).await;
        refused(&f, &run, Decision { proof: Proof::Claimed, ..by("bob", answer) }, NotEntitled::Unproven).await;
    }
    assert_eq!(f.journal.decide(yes("bob")).await.unwrap().state, ApprovalState::Granted);
}

async fn one_no_denies_and_a_yes_before_it_counts_for_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 3).await;
    f.journal.decide(yes("bob")).await.unwrap();
    // Also that of somebody who said yes before.
    let denied = f.journal.decide(by("bob", ApprovalState::Denied)).await.unwrap();
    assert_eq!((denied.state, denied.yeses.len()), (ApprovalState::Denied, 1));
    let late = f.journal.decide(yes("carol")).await.unwrap_err();
    assert!(matches!(late, DecisionRefused::NotOpen { state: ApprovalState::Denied, .. }), "{late:?}");
    let refused = f.journal.claim(&run, claim(&run.call(0, 0), 1, Some(ID)), Vec::new()).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::Approval(ApprovalState::Denied));
}

async fn the_subject_may_take_its_question_back(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 1).await;
    let own = Decision { roles: Vec::new(), ..by("user", ApprovalState::Withdrawn) };
    assert_eq!(f.journal.decide(own).await.unwrap().state, ApprovalState::Withdrawn);
}

async fn yeses_do_not_outlive_the_question(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 2).await;
    f.journal.decide(yes("bob")).await.unwrap();
    f.clock.pass(OPEN_FOR);
    let late = f.journal.decide(yes("carol")).await.unwrap_err();
    assert!(matches!(late, DecisionRefused::NotOpen { state: ApprovalState::Expired, .. }), "{late:?}");
    assert_eq!(stored(&f, &ApprovalId::new(ID)).await.state, ApprovalState::Expired);
}

async fn yeses_travel_with_their_run(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 2).await;
    f.journal.decide(yes("bob")).await.unwrap();
    f.journal.decide(yes("carol")).await.unwrap();
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    let fresh = f.fresh();
    fresh.journal.upkeep().import_run(kept.clone()).await.unwrap();
    assert_eq!(fresh.everything(&run).await, f.everything(&run).await);
    // What its events do not tell of nobody said.
    for forge in [
        |said: &mut ApprovalAgreed| "carol".clone_into(&mut said.agreed_by),
        |said: &mut ApprovalAgreed| "user".clone_into(&mut said.agreed_by),
        |said: &mut ApprovalAgreed| said.roles.clear(),
        |said: &mut ApprovalAgreed| said.proof = Proof::Claimed,
        |said: &mut ApprovalAgreed| said.approval_id = ApprovalId::new("apr-2"),
    ] {
        let mut forged = kept.clone();
        for event in &mut forged.events {
            if let Ok(Body::ApprovalAgreed(mut said)) = event.body() {
                forge(&mut said);
                event.data = Body::ApprovalAgreed(said).into();
            }
        }
        let told = f.fresh().journal.upkeep().import_run(forged).await.unwrap_err();
        assert!(matches!(told, JournalError::Corrupt(_)), "{told:?}");
    }
}

async fn an_edit_is_another_question_about_the_same_call(f: Fixture) {
    let run = f.create("run-a").await;
    let asked = ask(&f, &run, 1).await;
    f.clock.pass(Duration::from_secs(2));
    let edit = arguments("{\"amount\": 1}");
    let reason = Some("less".to_owned());
    let standing = f.journal.decide(Decision { edit: Some(edit.clone()), reason, ..yes("bob") }).await.unwrap();
    assert_eq!(standing.state, ApprovalState::Granted);
    assert_eq!((&standing.call_id, standing.expires_at), (&asked.call_id, asked.expires_at));
    assert_eq!(standing.arguments_digest, edit.digest());
    assert_eq!(standing.approval_id, ApprovalId::from_digest(standing.digest));
    assert_ne!(standing.digest, asked.digest);
    assert_eq!(
        standing.edited.as_ref().map(|edited| (&edited.approval_id, edited.by.as_str())),
        Some((&asked.approval_id, "bob"))
    );
    assert_eq!(format!("{:?}", stored(&f, &standing.approval_id).await), format!("{standing:?}"));
    let kinds = f.kinds(&run).await;
    assert_eq!(kinds, ["run.started", "approval.requested", "approval.edited", "approval.decided"]);
    let events = f.events(&run).await;
    let Body::ApprovalEdited(told) = events[2].body().unwrap() else { panic!("{events:?}") };
    assert_eq!((&told.approval_id, &told.edited_as), (&asked.approval_id, &standing.approval_id));
    assert_eq!((told.edited_by.as_str(), told.arguments_text.as_str()), ("bob", "{\"amount\": 1}"));
    // Nothing runs under the question before, and under this one nothing else runs.
    let call = run.call(0, 0);
    let old = f.journal.claim(&run, claim(&call, 1, Some(ID)), Vec::new()).await.unwrap_err();
    assert_eq!(old, ClaimRefused::Approval(ApprovalState::Withdrawn));
    let mut crossed = claim(&call, 1, Some(ID));
    crossed.approval = Some((standing.approval_id.clone(), asked.digest));
    assert_eq!(f.journal.claim(&run, crossed, Vec::new()).await.unwrap_err(), ClaimRefused::Stale);
    let mut crossed = claim(&call, 1, Some(ID));
    crossed.approval = Some((asked.approval_id, standing.digest));
    assert_eq!(f.journal.claim(&run, crossed, Vec::new()).await.unwrap_err(), ClaimRefused::Stale);
    let mut right = claim(&call, 1, Some(ID));
    right.approval = Some((standing.approval_id.clone(), standing.digest));
    f.journal.claim(&run, right, Vec::new()).await.unwrap();
    assert_eq!(stored(&f, &standing.approval_id).await.state, ApprovalState::Consumed);
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    let fresh = f.fresh();
    fresh.journal.upkeep().import_run(kept).await.unwrap();
    assert_eq!(fresh.everything(&run).await, f.everything(&run).await);
}

async fn an_edit_voids_the_yeses_before_it(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 2).await;
    f.journal.decide(yes("bob")).await.unwrap();
    let edit = Some(arguments("{\"amount\": 1}"));
    // Who said yes before may write another text: that is a yes to something else.
    let standing = f.journal.decide(Decision { edit, ..yes("bob") }).await.unwrap();
    assert_eq!((standing.state, standing.missing_yeses()), (ApprovalState::Pending, 1));
    let old = f.journal.decide(yes("carol")).await.unwrap_err();
    assert!(matches!(old, DecisionRefused::NotOpen { state: ApprovalState::Withdrawn, .. }), "{old:?}");
    let twice = Decision { approval_id: standing.approval_id.clone(), ..yes("bob") };
    refused(&f, &run, twice, NotEntitled::Twice).await;
    let other = Decision { approval_id: standing.approval_id, ..yes("carol") };
    assert_eq!(f.journal.decide(other).await.unwrap().state, ApprovalState::Granted);
}

async fn an_edit_back_to_what_was_asked_is_refused_and_writes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    let first = ask(&f, &run, 2).await;
    let edit = |id: &ApprovalId, text: &str, who: &str| Decision {
        approval_id: id.clone(),
        edit: Some(arguments(text)),
        ..yes(who)
    };
    let second = f.journal.decide(edit(&first.approval_id, "{\"n\": 1}", "bob")).await.unwrap();
    let third = f.journal.decide(edit(&second.approval_id, "{\"n\": 2}", "carol")).await.unwrap();
    let before = f.everything(&run).await;
    let back = f.journal.decide(edit(&third.approval_id, "{\"n\": 1}", "dora")).await.unwrap_err();
    assert!(matches!(back, DecisionRefused::Journal(JournalError::Exists(_))), "{back:?}");
    assert_eq!(f.everything(&run).await, before);
    // The same arguments once more are a plain yes.
    let same = f.journal.decide(edit(&third.approval_id, "{ \"n\" : 2.0 }", "dora")).await.unwrap();
    assert_eq!((same.approval_id, same.state), (third.approval_id, ApprovalState::Granted));
}

async fn an_edit_of_what_is_decided_is_refused_and_recorded(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 1).await;
    f.journal.decide(yes("bob")).await.unwrap();
    let edit = Some(arguments("{\"amount\": 1}"));
    let told = f.journal.decide(Decision { edit, ..yes("carol") }).await.unwrap_err();
    assert!(matches!(told, DecisionRefused::NotOpen { state: ApprovalState::Granted, .. }), "{told:?}");
    assert_eq!(last_decision(&f, &run).await.0, "refused");
    assert_eq!(f.journal.approvals(ApprovalFilter::default()).await.unwrap().len(), 1);
}

async fn a_no_brings_no_other_arguments(f: Fixture) {
    let run = f.create("run-a").await;
    ask(&f, &run, 1).await;
    let before = f.everything(&run).await;
    let edit = Some(arguments("{}"));
    let told = f.journal.decide(Decision { edit, ..by("bob", ApprovalState::Denied) }).await.unwrap_err();
    assert!(matches!(told, DecisionRefused::Edit { .. }), "{told:?}");
    assert_eq!(f.everything(&run).await, before);
}

async fn a_run_whose_edit_still_needs_a_yes_is_not_ready(f: Fixture) {
    let (hold, _) = f.journal.create_run(crate::support::new_run("run-a")).await.unwrap();
    let run = hold.lease().clone();
    ask(&f, &run, 2).await;
    f.journal.append(&run, vec![event("run.waiting")]).await.unwrap();
    drop(hold);
    let ready = async || f.journal.ready(10).await.unwrap().len();
    assert_eq!(ready().await, 0);
    let edit = Some(arguments("{\"amount\": 1}"));
    let standing = f.journal.decide(Decision { edit, ..yes("bob") }).await.unwrap();
    assert_eq!(ready().await, 0);
    f.journal.decide(Decision { approval_id: standing.approval_id, ..yes("carol") }).await.unwrap();
    assert_eq!(ready().await, 1);
    assert!(f.events(&run).await.iter().any(|event| event.kind == EventType::ApprovalEdited));
}
