//! Questions and decisions.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::event::{Body, EventType};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{ApprovalFilter, ClaimRefused, DecisionRefused, JournalError};
use lockgate_contract::time::Timestamp;

use crate::support::{
    Fixture, OPEN_FOR, START, approval, assert_gap_free, bound, claim, decision, document, event, settling,
};

contract! {
    a_question_is_asked_once;
    a_question_comes_back_as_it_was;
    a_question_begins_undecided_whatever_it_says;
    a_decision_is_taken_once;
    two_decide_and_one_wins;
    a_late_decision_is_refused_and_recorded;
    a_decision_about_another_digest_is_refused_and_recorded;
    a_granted_question_can_be_withdrawn;
    nobody_is_asked_about_a_settled_call;
    a_word_that_is_no_answer_writes_nothing;
    a_decision_about_nothing_is_not_found;
    questions_are_filtered_by_run_and_by_state_as_of_now;
}

async fn a_question_is_asked_once(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    f.ask(&run, "apr-1").await;
    let before = (f.everything(&run).await, f.everything(&other).await);
    for run in [&run, &other] {
        let again = f.journal.ask(run, approval(run, "apr-1"), vec![event("approval.requested")]).await;
        assert_eq!(again.unwrap_err(), JournalError::Exists("apr-1".to_owned()));
    }
    assert_eq!((f.everything(&run).await, f.everything(&other).await), before);
}

async fn a_question_comes_back_as_it_was(f: Fixture) {
    let run = f.create("run-a").await;
    let asked = f.ask(&run, "apr-1").await;
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(format!("{read:?}"), format!("{asked:?}"));
    assert_eq!(read.arguments.text(), "{ \"amount\" : 123456789012345678901234567890.10 ,\n \"to\": \"bøb\" }");
    assert_eq!(f.kinds(&run).await, ["run.started", "approval.requested"]);
}

async fn a_question_begins_undecided_whatever_it_says(f: Fixture) {
    let run = f.create("run-a").await;
    let mut forged = approval(&run, "apr-1");
    forged.state = ApprovalState::Granted;
    forged.decided_by = Some("nobody".to_owned());
    forged.decided_at = Some(START);
    forged.reason = Some("because".to_owned());
    forged.consumed_at = Some(START);
    f.journal.ask(&run, forged, Vec::new()).await.unwrap();
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!((read.state, read.decided_by, read.decided_at), (ApprovalState::Pending, None, None));
    assert_eq!((read.reason, read.consumed_at), (None, None));
    let refused = f.journal.claim(&run, claim(&run.call(0, 0), 1, Some("apr-1")), Vec::new()).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::Approval(ApprovalState::Pending));
}

/// The bodies of the run's `approval.decided` events: decision, by whom, why.
async fn decided(f: &Fixture, run: &RunId) -> Vec<(String, String, Option<String>)> {
    let mut bodies = Vec::new();
    let events = f.events(run).await;
    for event in events.into_iter().filter(|event| event.kind == EventType::ApprovalDecided) {
        let Body::ApprovalDecided(body) = event.body().unwrap() else { panic!("another body: {event:?}") };
        assert_eq!((event.step, event.call_id), (7, Some(run.call(0, 0))));
        bodies.push((body.decision, body.decided_by, body.reason));
    }
    bodies
}

fn row(decision: &str, by: &str, reason: Option<&str>) -> (String, String, Option<String>) {
    (decision.to_owned(), by.to_owned(), reason.map(str::to_owned))
}

async fn a_decision_is_taken_once(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.clock.pass(Duration::from_secs(3));
    let mut granted = decision("apr-1", ApprovalState::Granted);
    granted.digest = Some(bound("apr-1"));
    granted.reason = Some("fine".to_owned());
    let record = f.journal.decide(granted).await.unwrap();
    assert_eq!(record.state, ApprovalState::Granted);
    assert_eq!(record.decided_at, Some(START.after(Duration::from_secs(3))));
    assert_eq!((record.decided_by.as_deref(), record.reason.as_deref()), (Some("alice"), Some("fine")));
    let stored = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(format!("{stored:?}"), format!("{record:?}"));

    for answer in [ApprovalState::Granted, ApprovalState::Denied] {
        let mut second = decision("apr-1", answer);
        "bob".clone_into(&mut second.by);
        let told = f.journal.decide(second).await.unwrap_err();
        let state = ApprovalState::Granted;
        assert_eq!(told, DecisionRefused::NotOpen { approval: ApprovalId::new("apr-1"), state });
    }
    let after = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(format!("{after:?}"), format!("{record:?}"));
    assert_eq!(
        decided(&f, &run).await,
        [
            row("granted", "alice", Some("fine")),
            row("refused", "bob", Some("already_granted")),
            row("refused", "bob", Some("already_granted")),
        ]
    );
    assert_gap_free(&f.events(&run).await);
}

async fn two_decide_and_one_wins(f: Fixture) {
    let run = f.create("run-a").await;
    for round in 0..10 {
        let id = format!("apr-{round}");
        f.ask(&run, &id).await;
        let decide = |answer, by: &str| {
            let (journal, mut decision) = (f.journal.clone(), decision(&id, answer));
            by.clone_into(&mut decision.by);
            tokio::spawn(async move { journal.decide(decision).await })
        };
        let yes = decide(ApprovalState::Granted, "yes");
        let no = decide(ApprovalState::Denied, "no");
        let (yes, no) = (yes.await.unwrap(), no.await.unwrap());
        let (winner, loser) = match (yes, no) {
            (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner, loser),
            (yes, no) => panic!("not one winner: {yes:?} {no:?}"),
        };
        let state = winner.state;
        assert_eq!(loser, DecisionRefused::NotOpen { approval: ApprovalId::new(id.as_str()), state });
        let stored = f.journal.approval(&ApprovalId::new(id)).await.unwrap().unwrap();
        assert_eq!(format!("{stored:?}"), format!("{winner:?}"));
    }
    assert_eq!(decided(&f, &run).await.len(), 20);
    assert_gap_free(&f.events(&run).await);
}

async fn a_late_decision_is_refused_and_recorded(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.clock.pass(OPEN_FOR);
    let state = ApprovalState::Expired;
    for answer in [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Withdrawn] {
        let told = f.journal.decide(decision("apr-1", answer)).await.unwrap_err();
        assert_eq!(told, DecisionRefused::NotOpen { approval: ApprovalId::new("apr-1"), state });
    }
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!((read.state, read.decided_by), (state, None));
    let late = row("refused", "alice", Some("expired"));
    assert_eq!(decided(&f, &run).await, [late.clone(), late.clone(), late]);
}

async fn a_decision_about_another_digest_is_refused_and_recorded(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let mut decision = decision("apr-1", ApprovalState::Granted);
    decision.digest = Some(bound("apr-2"));
    decision.reason = Some("my reason".to_owned());
    let told = f.journal.decide(decision).await.unwrap_err();
    assert_eq!(told, DecisionRefused::Digest(ApprovalId::new("apr-1")));
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(read.state, ApprovalState::Pending);
    assert_eq!(decided(&f, &run).await, [row("refused", "alice", Some("digest"))]);
}

async fn a_granted_question_can_be_withdrawn(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    let mut withdrawn = decision("apr-1", ApprovalState::Withdrawn);
    "bob".clone_into(&mut withdrawn.by);
    let record = f.journal.decide(withdrawn).await.unwrap();
    assert_eq!((record.state, record.decided_by.as_deref()), (ApprovalState::Withdrawn, Some("bob")));
    for answer in [ApprovalState::Granted, ApprovalState::Withdrawn] {
        let told = f.journal.decide(decision("apr-1", answer)).await.unwrap_err();
        let state = ApprovalState::Withdrawn;
        assert_eq!(told, DecisionRefused::NotOpen { approval: ApprovalId::new("apr-1"), state });
    }
    let again = row("refused", "alice", Some("already_withdrawn"));
    assert_eq!(
        decided(&f, &run).await,
        [row("granted", "alice", None), row("withdrawn", "bob", None), again.clone(), again]
    );
}

async fn nobody_is_asked_about_a_settled_call(f: Fixture) {
    let run = f.create("run-a").await;
    let asked = f.ask(&run, "apr-1").await;
    f.journal.settle(&run, settling(&asked.call_id, None), vec![event("tool.failed")]).await.unwrap();
    let read = f.journal.approval(&asked.approval_id).await.unwrap().unwrap();
    assert_eq!(read.state, ApprovalState::Withdrawn);
    let refused = f.journal.decide(decision("apr-1", ApprovalState::Granted)).await.unwrap_err();
    assert!(matches!(refused, DecisionRefused::NotOpen { state: ApprovalState::Withdrawn, .. }), "{refused:?}");
}

async fn a_word_that_is_no_answer_writes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let before = f.everything(&run).await;
    for answer in [ApprovalState::Pending, ApprovalState::Expired, ApprovalState::Consumed] {
        let told = f.journal.decide(decision("apr-1", answer)).await.unwrap_err();
        assert!(matches!(told, DecisionRefused::Journal(JournalError::Unavailable(_))), "{told:?}");
    }
    assert_eq!(f.everything(&run).await, before);
}

async fn a_decision_about_nothing_is_not_found(f: Fixture) {
    let told = f.journal.decide(decision("apr-none", ApprovalState::Granted)).await.unwrap_err();
    assert_eq!(told, DecisionRefused::NotFound(ApprovalId::new("apr-none")));
    assert!(f.journal.approval(&ApprovalId::new("apr-none")).await.unwrap().is_none());
}

async fn questions_are_filtered_by_run_and_by_state_as_of_now(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    // Asked in another order than they are stored, and one that stays open for longer.
    for (id, run, asked_at, open_for) in [
        ("apr-late", &run, 2, 60),
        ("apr-long", &other, 1, 600),
        ("apr-granted", &run, 0, 60),
        ("apr-denied", &run, 2, 60),
    ] {
        let mut question = approval(run, id);
        question.requested_at = Timestamp::from_millis(START.as_millis() + asked_at);
        question.expires_at = START.after(Duration::from_secs(open_for));
        question.arguments = document("{}");
        f.journal.ask(run, question, Vec::new()).await.unwrap();
    }
    f.decide("apr-granted", ApprovalState::Granted).await;
    f.decide("apr-denied", ApprovalState::Denied).await;
    let ids = async |run_id: Option<&RunId>, state| {
        let filter = ApprovalFilter { run_id: run_id.cloned(), state };
        let found = f.journal.approvals(filter).await.unwrap();
        assert!(found.iter().all(|approval| state.is_none_or(|state| approval.state == state)));
        found.into_iter().map(|approval| approval.approval_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, None).await, ["apr-granted", "apr-long", "apr-late", "apr-denied"]);
    assert_eq!(ids(Some(&run), None).await, ["apr-granted", "apr-late", "apr-denied"]);
    assert_eq!(ids(None, Some(ApprovalState::Pending)).await, ["apr-long", "apr-late"]);
    assert_eq!(ids(Some(&run), Some(ApprovalState::Pending)).await, ["apr-late"]);
    assert_eq!(ids(None, Some(ApprovalState::Granted)).await, ["apr-granted"]);
    assert!(ids(None, Some(ApprovalState::Expired)).await.is_empty());
    f.clock.pass(OPEN_FOR);
    assert_eq!(ids(None, Some(ApprovalState::Pending)).await, ["apr-long"]);
    assert!(ids(None, Some(ApprovalState::Granted)).await.is_empty());
    assert_eq!(ids(None, Some(ApprovalState::Expired)).await, ["apr-granted", "apr-late"]);
    assert_eq!(ids(None, Some(ApprovalState::Denied)).await, ["apr-denied"]);
    assert!(ids(Some(&RunId::new("run-none")), None).await.is_empty());
}
