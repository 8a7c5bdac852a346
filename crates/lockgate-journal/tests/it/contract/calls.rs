//! Claims, results and artifacts of calls.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::digest::Digest;
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId};
use lockgate_contract::ports::{ClaimRefused, JournalError};

use crate::support::{Fixture, OPEN_FOR, START, artifact, assert_gap_free, claim, event, event_with, settling};

contract! {
    a_claim_needs_a_usable_approval;
    a_refused_claim_writes_nothing;
    a_claim_uses_its_approval_once;
    an_approval_of_another_call_or_run_is_stale;
    an_attempt_is_claimed_once;
    many_claim_one_attempt_and_one_gets_it;
    a_settled_call_is_not_claimed_again;
    a_call_settles_once;
    a_settled_call_of_another_run_is_another_call;
    many_settle_one_call_and_one_does;
    artifacts_belong_to_their_run;
    an_artifact_is_never_overwritten;
}

/// Every way in which an approval can stand, and what a claim that brings it is told.
async fn a_claim_needs_a_usable_approval(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    for id in ["apr-pending", "apr-denied", "apr-withdrawn", "apr-taken-back", "apr-granted", "apr-late"] {
        f.ask(&run, id).await;
    }
    f.decide("apr-denied", ApprovalState::Denied).await;
    f.decide("apr-withdrawn", ApprovalState::Withdrawn).await;
    for id in ["apr-taken-back", "apr-granted", "apr-late"] {
        f.decide(id, ApprovalState::Granted).await;
    }
    f.decide("apr-taken-back", ApprovalState::Withdrawn).await;
    let before = f.everything(&run).await;
    for (id, expected) in [
        ("apr-missing", ClaimRefused::Stale),
        ("apr-pending", ClaimRefused::Approval(ApprovalState::Pending)),
        ("apr-denied", ClaimRefused::Approval(ApprovalState::Denied)),
        ("apr-withdrawn", ClaimRefused::Approval(ApprovalState::Withdrawn)),
        ("apr-taken-back", ClaimRefused::Approval(ApprovalState::Withdrawn)),
    ] {
        let refused = f.journal.claim(&run, claim(&call, 1, Some(id)), vec![event("tool.started")]).await.unwrap_err();
        assert_eq!(refused, expected, "{id}");
    }
    let mut other = claim(&call, 1, Some("apr-granted"));
    other.approval = Some((ApprovalId::new("apr-granted"), Digest::of_text("test", "something else")));
    let refused = f.journal.claim(&run, other, vec![event("tool.started")]).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::Stale);
    assert_eq!(f.everything(&run).await, before);

    // In the last millisecond it can be used; in the next one the other, granted as well, cannot.
    f.clock.pass(OPEN_FOR.saturating_sub(Duration::from_millis(1)));
    f.journal.claim(&run, claim(&call, 1, Some("apr-granted")), vec![event("tool.started")]).await.unwrap();
    f.clock.pass(Duration::from_millis(1));
    let before = f.everything(&run).await;
    let refused = f.journal.claim(&run, claim(&call, 2, Some("apr-late")), vec![event("tool.started")]).await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Expired));
    assert_eq!(f.everything(&run).await, before);
}

async fn a_refused_claim_writes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.ask(&run, "apr-1").await;
    let before = f.everything(&run).await;
    let started = || vec![event("approval.consumed"), event("tool.started")];
    f.journal.claim(&run, claim(&call, 1, Some("apr-1")), started()).await.unwrap_err();
    assert_eq!(f.everything(&run).await, before);
    // Not even the claim itself: the same attempt is still free when the approval has come.
    f.decide("apr-1", ApprovalState::Granted).await;
    let appended = f.journal.claim(&run, claim(&call, 1, Some("apr-1")), started()).await.unwrap();
    assert_eq!(appended.iter().map(|event| event.seq).collect::<Vec<_>>(), [4, 5]);
    assert_gap_free(&f.events(&run).await);
}

async fn a_claim_uses_its_approval_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    f.clock.pass(Duration::from_secs(1));
    f.journal.claim(&run, claim(&call, 1, Some("apr-1")), vec![event("tool.started")]).await.unwrap();
    let used = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(used.state, ApprovalState::Consumed);
    assert_eq!(used.consumed_at, Some(START.after(Duration::from_secs(1))));
    assert_eq!(used.decided_by.as_deref(), Some("alice"));
    let before = f.everything(&run).await;
    let refused = f.journal.claim(&run, claim(&call, 2, Some("apr-1")), vec![event("tool.started")]).await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Consumed));
    // A used approval does not become a late one.
    f.clock.pass(OPEN_FOR);
    let refused = f.journal.claim(&run, claim(&call, 2, Some("apr-1")), vec![event("tool.started")]).await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Consumed));
    assert_eq!(f.everything(&run).await, before);
}

async fn an_approval_of_another_call_or_run_is_stale(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    for (run, call) in [(&run, run.call(0, 1)), (&other, other.call(0, 0)), (&other, run.call(0, 0))] {
        let refused = f.journal.claim(run, claim(&call, 1, Some("apr-1")), vec![event("tool.started")]).await;
        assert_eq!(refused.unwrap_err(), ClaimRefused::Stale);
    }
    let approval = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(approval.state, ApprovalState::Granted);
}

async fn an_attempt_is_claimed_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    let started = || vec![event("tool.started")];
    assert_eq!(
        f.journal.claim(&run, claim(&call, 0, None), started()).await.unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap();
    assert_eq!(
        f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    f.journal.claim(&run, claim(&call, 2, None), started()).await.unwrap();
    assert_eq!(
        f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    // Another call is another matter.
    f.journal.claim(&run, claim(&run.call(0, 1), 1, None), started()).await.unwrap();
    assert_eq!(f.kinds(&run).await, ["run.started", "tool.started", "tool.started", "tool.started"]);
}

async fn many_claim_one_attempt_and_one_gets_it(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let (journal, run) = (f.journal.clone(), run.clone());
        tasks.push(tokio::spawn(async move {
            journal.claim(&run, claim(&run.call(0, 0), 1, Some("apr-1")), vec![event("tool.started")]).await.map(drop)
        }));
    }
    let mut accepted = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => accepted += 1,
            Err(refused) => assert_eq!(refused, ClaimRefused::AlreadyClaimed),
        }
    }
    assert_eq!(accepted, 1);
    assert_eq!(f.kinds(&run).await.iter().filter(|kind| *kind == "tool.started").count(), 1);
}

async fn a_settled_call_is_not_claimed_again(f: Fixture) {
    let run = f.create("run-a").await;
    let (claimed, refused) = (run.call(0, 0), run.call(0, 1));
    f.journal.claim(&run, claim(&claimed, 1, None), vec![event("tool.started")]).await.unwrap();
    f.journal.settle(&run, settling(&claimed, None), vec![event("tool.finished")]).await.unwrap();
    // This one was never started: a refusal settles it.
    f.journal.settle(&run, settling(&refused, None), vec![event("tool.failed")]).await.unwrap();
    let before = f.everything(&run).await;
    for call in [&claimed, &refused] {
        for attempt in [1, 2] {
            let told = f.journal.claim(&run, claim(call, attempt, None), vec![event("tool.started")]).await;
            assert_eq!(told.unwrap_err(), ClaimRefused::AlreadyClaimed);
        }
    }
    assert_eq!(f.everything(&run).await, before);
}

async fn a_call_settles_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.journal.claim(&run, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    f.journal
        .settle(&run, settling(&call, Some(artifact("art-1", "one"))), vec![event("tool.finished")])
        .await
        .unwrap();
    let before = f.everything(&run).await;
    let again =
        f.journal.settle(&run, settling(&call, Some(artifact("art-2", "two"))), vec![event("tool.failed")]).await;
    assert_eq!(again.unwrap_err(), JournalError::AlreadySettled(call));
    assert_eq!(f.everything(&run).await, before);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-2")).await.unwrap(), None);
}

async fn a_settled_call_of_another_run_is_another_call(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    let call = CallId::new("same");
    f.journal.settle(&run, settling(&call, None), vec![event("tool.failed")]).await.unwrap();
    f.journal.claim(&other, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    f.journal.settle(&other, settling(&call, None), vec![event("tool.finished")]).await.unwrap();
}

async fn many_settle_one_call_and_one_does(f: Fixture) {
    let run = f.create("run-a").await;
    let mut tasks = Vec::new();
    for number in 0..16 {
        let (journal, run) = (f.journal.clone(), run.clone());
        tasks.push(tokio::spawn(async move {
            let result = event_with("tool.finished", &number.to_string());
            journal
                .settle(&run, settling(&run.call(0, 0), None), vec![result])
                .await
                .map(|events| events[0].data.to_string())
        }));
    }
    let mut stored = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(data) => stored.push(data),
            Err(error) => assert_eq!(error, JournalError::AlreadySettled(run.call(0, 0))),
        }
    }
    let events = f.journal.events(&run, 1).await.unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(stored, [events[0].data.text()]);
}

async fn artifacts_belong_to_their_run(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    let text = "line\n\u{0}😀 \u{202e}".repeat(10_000);
    f.journal.settle(&run, settling(&run.call(0, 0), Some(artifact("art-1", &text))), Vec::new()).await.unwrap();
    let id = ArtifactId::new("art-1");
    assert_eq!(f.journal.artifact(&run, &id).await.unwrap(), Some(text));
    assert_eq!(f.journal.artifact(&other, &id).await.unwrap(), None);
    f.journal.settle(&other, settling(&other.call(0, 0), Some(artifact("art-1", "other"))), Vec::new()).await.unwrap();
    assert_eq!(f.journal.artifact(&other, &id).await.unwrap().as_deref(), Some("other"));
}

async fn an_artifact_is_never_overwritten(f: Fixture) {
    let run = f.create("run-a").await;
    let id = ArtifactId::new("art-1");
    f.journal.settle(&run, settling(&run.call(0, 0), Some(artifact("art-1", "one"))), Vec::new()).await.unwrap();
    // Two calls with the same output share it.
    f.journal.settle(&run, settling(&run.call(0, 1), Some(artifact("art-1", "one"))), Vec::new()).await.unwrap();
    let before = f.everything(&run).await;
    let told =
        f.journal.settle(&run, settling(&run.call(0, 2), Some(artifact("art-1", "two"))), vec![event("x.a")]).await;
    assert_eq!(told.unwrap_err(), JournalError::Exists("art-1".to_owned()));
    assert_eq!(f.everything(&run).await, before);
    assert_eq!(f.journal.artifact(&run, &id).await.unwrap().as_deref(), Some("one"));
    // The call is not settled by what was refused.
    f.journal.settle(&run, settling(&run.call(0, 2), None), vec![event("x.a")]).await.unwrap();
}
