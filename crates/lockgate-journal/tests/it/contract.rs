//! What every journal does, run against each of them.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::digest::Digest;
use lockgate_contract::event::{Body, EventType};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{ApprovalFilter, ClaimRefused, DecisionRefused, JournalError, RunFilter};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_contract::time::Timestamp;

use crate::support::{
    Fixture, OPEN_FOR, START, approval, artifact, assert_gap_free, bound, claim, decision, document, event, event_with,
    new_run,
};

macro_rules! contract {
    ($($test:ident;)+) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::memory()).await;
            })+
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::sqlite()).await;
            })+
        }
        mod sqlite_on_one_thread {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::support::Fixture::sqlite()).await;
            })+
        }
    };
}

contract! {
    a_run_begins_with_its_first_event;
    a_run_is_made_once;
    events_are_numbered_without_gaps_by_many_writers;
    an_append_is_one_piece;
    an_event_comes_back_as_it_was;
    an_unknown_kind_is_kept;
    events_are_read_from_a_number_on;
    the_status_is_that_of_the_last_run_event;
    runs_are_listed_newest_first;
    an_unknown_run_is_an_error;
    a_question_is_asked_once;
    a_question_comes_back_as_it_was;
    a_question_begins_undecided_whatever_it_says;
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
    a_decision_is_taken_once;
    two_decide_and_one_wins;
    a_late_decision_is_refused_and_recorded;
    a_decision_about_another_digest_is_refused_and_recorded;
    a_granted_question_can_be_withdrawn;
    a_word_that_is_no_answer_writes_nothing;
    a_decision_about_nothing_is_not_found;
    questions_are_filtered_by_run_and_by_state_as_of_now;
}

async fn a_run_begins_with_its_first_event(f: Fixture) {
    let mut run = new_run("run-a");
    run.kind = RunKind::Direct;
    "ein „Titel“ \u{0}".clone_into(&mut run.title);
    let appended = f.journal.create_run(run).await.unwrap();
    assert_eq!(appended.len(), 1);
    assert_eq!((appended[0].seq, appended[0].at, appended[0].v), (1, START, 1));
    let record = f.journal.run(&RunId::new("run-a")).await.unwrap().unwrap();
    assert_eq!(record.run_id.as_str(), "run-a");
    assert_eq!(record.tenant, "tenant");
    assert_eq!(record.kind, RunKind::Direct);
    assert_eq!(record.title, "ein „Titel“ \u{0}");
    assert_eq!((record.status, record.last_seq), (None, 1));
    assert_eq!((record.created_at, record.updated_at), (START, START));
}

async fn a_run_is_made_once(f: Fixture) {
    let run = f.create("run-a").await;
    let before = f.everything(&run).await;
    let again = f.journal.create_run(new_run("run-a")).await;
    assert_eq!(again.unwrap_err(), JournalError::Exists("run-a".to_owned()));
    assert_eq!(f.everything(&run).await, before);
}

async fn events_are_numbered_without_gaps_by_many_writers(f: Fixture) {
    let runs = [
        f.create("run-a").await,
        f.create("run-b").await,
        f.create("run-c").await,
    ];
    let mut tasks = Vec::new();
    for task in 0..24_usize {
        let (journal, run) = (f.journal.clone(), runs[task % runs.len()].clone());
        tasks.push(tokio::spawn(async move {
            for round in 0..10 {
                let data = format!("{{\"task\":{task},\"round\":{round}}}");
                let pair = vec![event_with("x.first", &data), event_with("x.second", &data)];
                let appended = journal.append(&run, pair).await.unwrap();
                assert_eq!(appended[1].seq, appended[0].seq + 1);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for run in &runs {
        let events = f.events(run).await;
        assert_gap_free(&events);
        assert_eq!(events.len(), 1 + 8 * 10 * 2);
        assert_eq!(f.journal.run(run).await.unwrap().unwrap().last_seq, 161);
        // Each pair stands together, and each writer's pairs stand in its order.
        let mut rounds = std::collections::HashMap::new();
        for pair in events[1..].chunks(2) {
            assert_eq!(pair[0].data.text(), pair[1].data.text());
            let value = pair[0].data.to_json_value();
            let next = rounds.entry(value["task"].to_string()).or_insert(0);
            assert_eq!(value["round"], *next);
            *next += 1;
        }
    }
}

async fn an_append_is_one_piece(f: Fixture) {
    let run = f.create("run-a").await;
    f.clock.pass(Duration::from_millis(5));
    let appended = f
        .journal
        .append(&run, vec![event("x.a"), event("x.b"), event("x.c")])
        .await
        .unwrap();
    let stored = f.journal.events(&run, 1).await.unwrap();
    assert_eq!(format!("{appended:?}"), format!("{stored:?}"));
    assert!(
        stored
            .iter()
            .all(|event| event.at == START.after(Duration::from_millis(5)))
    );
    assert_eq!(f.journal.run(&run).await.unwrap().unwrap().updated_at, stored[0].at);
    // Nothing at all is no event, and leaves the run as it is.
    f.clock.pass(Duration::from_millis(5));
    let before = f.everything(&run).await;
    assert!(f.journal.append(&run, Vec::new()).await.unwrap().is_empty());
    assert_eq!(f.everything(&run).await, before);
}

async fn an_event_comes_back_as_it_was(f: Fixture) {
    let run = f.create("run-a").await;
    let text = "{ \"number\" : 123456789012345678901234567890.1230e-5 ,\n\t\"text\": \"né \\u0000 \\ud83d\\ude00 😀 \u{202e}\",\
                \"z\":-0.0,\"a\":[1,  [ ], {}, null], \"\":1E300}";
    let mut written = event_with("tool.requested", text);
    written.step = u32::MAX;
    written.call_id = Some(CallId::new("run-a:step-0:call-0.1"));
    f.journal.append(&run, vec![written]).await.unwrap();
    let events = f.events(&run).await;
    let read = &events[1];
    assert_eq!(read.data.text(), text);
    assert_eq!((read.step, read.v, read.seq), (u32::MAX, 1, 2));
    assert_eq!(read.call_id.as_ref().unwrap().as_str(), "run-a:step-0:call-0.1");
    assert_eq!(read.kind, EventType::ToolRequested);
    assert_eq!(read.run_id, run);
}

async fn an_unknown_kind_is_kept(f: Fixture) {
    let run = f.create("run-a").await;
    f.journal
        .append(&run, vec![event_with("future.thing", "[1]")])
        .await
        .unwrap();
    let events = f.events(&run).await;
    assert_eq!(events[1].kind, EventType::Other("future.thing".to_owned()));
    assert_eq!(events[1].data.text(), "[1]");
}

async fn events_are_read_from_a_number_on(f: Fixture) {
    let run = f.create("run-a").await;
    f.journal
        .append(&run, vec![event("x.a"), event("x.b"), event("x.c")])
        .await
        .unwrap();
    for (after, expected) in [
        (0, vec![1, 2, 3, 4]),
        (2, vec![3, 4]),
        (4, vec![]),
        (5, vec![]),
        (u64::MAX, vec![]),
    ] {
        let numbers: Vec<u64> = f
            .journal
            .events(&run, after)
            .await
            .unwrap()
            .iter()
            .map(|event| event.seq)
            .collect();
        assert_eq!(numbers, expected, "after {after}");
    }
}

async fn the_status_is_that_of_the_last_run_event(f: Fixture) {
    let run = f.create("run-a").await;
    for (kinds, expected) in [
        (vec!["run.waiting"], Some(RunStatus::WaitingForApproval)),
        (vec!["approval.decided", "x.other"], Some(RunStatus::WaitingForApproval)),
        (vec!["run.resumed"], None),
        (vec!["run.needs_reconciliation"], Some(RunStatus::NeedsReconciliation)),
        (vec!["run.resumed", "run.failed"], Some(RunStatus::Failed)),
        (
            vec!["run.resumed", "run.cancelled", "x.other"],
            Some(RunStatus::Cancelled),
        ),
        (vec!["run.limit_reached", "run.resumed"], None),
        (vec!["run.limit_reached"], Some(RunStatus::LimitReached)),
        (vec!["run.completed"], Some(RunStatus::Completed)),
    ] {
        f.journal
            .append(&run, kinds.iter().copied().map(event).collect())
            .await
            .unwrap();
        assert_eq!(
            f.journal.run(&run).await.unwrap().unwrap().status,
            expected,
            "{kinds:?}"
        );
    }
}

async fn runs_are_listed_newest_first(f: Fixture) {
    // Two of them in one millisecond: the later one is the newer one.
    for (id, kind) in [
        ("run-b", "run.completed"),
        ("run-c", "run.failed"),
        ("run-a", "run.completed"),
        ("run-d", "x.y"),
    ] {
        let run = f.create(id).await;
        f.journal.append(&run, vec![event(kind)]).await.unwrap();
        if id != "run-b" {
            f.clock.pass(Duration::from_secs(1));
        }
    }
    for (status, limit, expected) in [
        (None, 50, vec!["run-d", "run-a", "run-c", "run-b"]),
        (None, 2, vec!["run-d", "run-a"]),
        (Some(RunStatus::Completed), 50, vec!["run-a", "run-b"]),
        (Some(RunStatus::Completed), 1, vec!["run-a"]),
        (Some(RunStatus::Cancelled), 50, vec![]),
        (None, 0, vec![]),
    ] {
        let runs = f.journal.runs(RunFilter { status, limit }).await.unwrap();
        let ids: Vec<&str> = runs.iter().map(|run| run.run_id.as_str()).collect();
        assert_eq!(ids, expected, "{status:?} {limit}");
    }
}

async fn an_unknown_run_is_an_error(f: Fixture) {
    let run = RunId::new("run-none");
    let call = run.call(0, 0);
    let expected = JournalError::NoSuchRun(run.clone());
    assert_eq!(f.journal.append(&run, vec![event("x.a")]).await.unwrap_err(), expected);
    assert_eq!(f.journal.append(&run, Vec::new()).await.unwrap_err(), expected);
    assert_eq!(
        f.journal.ask(approval(&run, "apr-1"), Vec::new()).await.unwrap_err(),
        expected
    );
    assert_eq!(
        f.journal
            .approval(&ApprovalId::new("apr-1"))
            .await
            .unwrap()
            .map(|a| a.approval_id),
        None
    );
    let refused = f
        .journal
        .claim(&run, claim(&call, 1, Some("apr-1")), Vec::new())
        .await
        .unwrap_err();
    assert_eq!(refused, ClaimRefused::Journal(expected.clone()));
    let stored = f
        .journal
        .settle(&run, &call, Some(artifact("art-1", "x")), Vec::new())
        .await;
    assert_eq!(stored.unwrap_err(), expected);
    assert_eq!(f.journal.events(&run, 0).await.unwrap_err(), expected);
    assert_eq!(f.journal.run(&run).await.unwrap(), None);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-1")).await.unwrap(), None);
}

async fn a_question_is_asked_once(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    f.ask(&run, "apr-1").await;
    let before = (f.everything(&run).await, f.everything(&other).await);
    for run in [&run, &other] {
        let again = f
            .journal
            .ask(approval(run, "apr-1"), vec![event("approval.requested")])
            .await;
        assert_eq!(again.unwrap_err(), JournalError::Exists("apr-1".to_owned()));
    }
    assert_eq!((f.everything(&run).await, f.everything(&other).await), before);
}

async fn a_question_comes_back_as_it_was(f: Fixture) {
    let run = f.create("run-a").await;
    let asked = f.ask(&run, "apr-1").await;
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(format!("{read:?}"), format!("{asked:?}"));
    assert_eq!(
        read.arguments.text(),
        "{ \"amount\" : 123456789012345678901234567890.10 ,\n \"to\": \"bøb\" }"
    );
    assert_eq!(f.kinds(&run).await, ["run.started", "approval.requested"]);
}

async fn a_question_begins_undecided_whatever_it_says(f: Fixture) {
    let run = f.create("run-a").await;
    let mut forged = approval(&run, "apr-1");
    forged.state = ApprovalState::Granted;
    forged.decided_by = Some("nobody".to_owned());
    forged.decided_at = Some(START);
    f.journal.ask(forged, Vec::new()).await.unwrap();
    let read = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(
        (read.state, read.decided_by, read.decided_at),
        (ApprovalState::Pending, None, None)
    );
    let refused = f
        .journal
        .claim(&run, claim(&run.call(0, 0), 1, Some("apr-1")), Vec::new())
        .await
        .unwrap_err();
    assert_eq!(refused, ClaimRefused::Approval(ApprovalState::Pending));
}

/// Every way in which an approval can stand, and what a claim that brings it is told.
async fn a_claim_needs_a_usable_approval(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    for id in [
        "apr-pending",
        "apr-denied",
        "apr-withdrawn",
        "apr-taken-back",
        "apr-granted",
        "apr-late",
    ] {
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
        let refused = f
            .journal
            .claim(&run, claim(&call, 1, Some(id)), vec![event("tool.started")])
            .await
            .unwrap_err();
        assert_eq!(refused, expected, "{id}");
    }
    let mut other = claim(&call, 1, Some("apr-granted"));
    other.approval = Some((
        ApprovalId::new("apr-granted"),
        Digest::of_text("test", "something else"),
    ));
    let refused = f
        .journal
        .claim(&run, other, vec![event("tool.started")])
        .await
        .unwrap_err();
    assert_eq!(refused, ClaimRefused::Stale);
    assert_eq!(f.everything(&run).await, before);

    // In the last millisecond it can be used; in the next one the other, granted as well, cannot.
    f.clock.pass(OPEN_FOR.saturating_sub(Duration::from_millis(1)));
    f.journal
        .claim(&run, claim(&call, 1, Some("apr-granted")), vec![event("tool.started")])
        .await
        .unwrap();
    f.clock.pass(Duration::from_millis(1));
    let before = f.everything(&run).await;
    let refused = f
        .journal
        .claim(&run, claim(&call, 2, Some("apr-late")), vec![event("tool.started")])
        .await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Expired));
    assert_eq!(f.everything(&run).await, before);
}

async fn a_refused_claim_writes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.ask(&run, "apr-1").await;
    let before = f.everything(&run).await;
    let started = || vec![event("approval.consumed"), event("tool.started")];
    f.journal
        .claim(&run, claim(&call, 1, Some("apr-1")), started())
        .await
        .unwrap_err();
    assert_eq!(f.everything(&run).await, before);
    // Not even the claim itself: the same attempt is still free when the approval has come.
    f.decide("apr-1", ApprovalState::Granted).await;
    let appended = f
        .journal
        .claim(&run, claim(&call, 1, Some("apr-1")), started())
        .await
        .unwrap();
    assert_eq!(appended.iter().map(|event| event.seq).collect::<Vec<_>>(), [4, 5]);
    assert_gap_free(&f.events(&run).await);
}

async fn a_claim_uses_its_approval_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    f.clock.pass(Duration::from_secs(1));
    f.journal
        .claim(&run, claim(&call, 1, Some("apr-1")), vec![event("tool.started")])
        .await
        .unwrap();
    let used = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(used.state, ApprovalState::Consumed);
    assert_eq!(used.consumed_at, Some(START.after(Duration::from_secs(1))));
    assert_eq!(used.decided_by.as_deref(), Some("alice"));
    let before = f.everything(&run).await;
    let refused = f
        .journal
        .claim(&run, claim(&call, 2, Some("apr-1")), vec![event("tool.started")])
        .await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Consumed));
    // A used approval does not become a late one.
    f.clock.pass(OPEN_FOR);
    let refused = f
        .journal
        .claim(&run, claim(&call, 2, Some("apr-1")), vec![event("tool.started")])
        .await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Approval(ApprovalState::Consumed));
    assert_eq!(f.everything(&run).await, before);
}

async fn an_approval_of_another_call_or_run_is_stale(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    for (run, call) in [
        (&run, run.call(0, 1)),
        (&other, other.call(0, 0)),
        (&other, run.call(0, 0)),
    ] {
        let refused = f
            .journal
            .claim(run, claim(&call, 1, Some("apr-1")), vec![event("tool.started")])
            .await;
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
        f.journal
            .claim(&run, claim(&call, 0, None), started())
            .await
            .unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap();
    assert_eq!(
        f.journal
            .claim(&run, claim(&call, 1, None), started())
            .await
            .unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    f.journal.claim(&run, claim(&call, 2, None), started()).await.unwrap();
    assert_eq!(
        f.journal
            .claim(&run, claim(&call, 1, None), started())
            .await
            .unwrap_err(),
        ClaimRefused::AlreadyClaimed
    );
    // Another call is another matter.
    f.journal
        .claim(&run, claim(&run.call(0, 1), 1, None), started())
        .await
        .unwrap();
    assert_eq!(
        f.kinds(&run).await,
        ["run.started", "tool.started", "tool.started", "tool.started"]
    );
}

async fn many_claim_one_attempt_and_one_gets_it(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let (journal, run) = (f.journal.clone(), run.clone());
        tasks.push(tokio::spawn(async move {
            journal
                .claim(
                    &run,
                    claim(&run.call(0, 0), 1, Some("apr-1")),
                    vec![event("tool.started")],
                )
                .await
                .map(drop)
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
    assert_eq!(
        f.kinds(&run)
            .await
            .iter()
            .filter(|kind| *kind == "tool.started")
            .count(),
        1
    );
}

async fn a_settled_call_is_not_claimed_again(f: Fixture) {
    let run = f.create("run-a").await;
    let (claimed, refused) = (run.call(0, 0), run.call(0, 1));
    f.journal
        .claim(&run, claim(&claimed, 1, None), vec![event("tool.started")])
        .await
        .unwrap();
    f.journal
        .settle(&run, &claimed, None, vec![event("tool.finished")])
        .await
        .unwrap();
    // This one was never started: a refusal settles it.
    f.journal
        .settle(&run, &refused, None, vec![event("tool.failed")])
        .await
        .unwrap();
    let before = f.everything(&run).await;
    for call in [&claimed, &refused] {
        for attempt in [1, 2] {
            let told = f
                .journal
                .claim(&run, claim(call, attempt, None), vec![event("tool.started")])
                .await;
            assert_eq!(told.unwrap_err(), ClaimRefused::AlreadyClaimed);
        }
    }
    assert_eq!(f.everything(&run).await, before);
}

async fn a_call_settles_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.journal
        .claim(&run, claim(&call, 1, None), vec![event("tool.started")])
        .await
        .unwrap();
    f.journal
        .settle(
            &run,
            &call,
            Some(artifact("art-1", "one")),
            vec![event("tool.finished")],
        )
        .await
        .unwrap();
    let before = f.everything(&run).await;
    let again = f
        .journal
        .settle(&run, &call, Some(artifact("art-2", "two")), vec![event("tool.failed")])
        .await;
    assert_eq!(again.unwrap_err(), JournalError::AlreadySettled(call));
    assert_eq!(f.everything(&run).await, before);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-2")).await.unwrap(), None);
}

async fn a_settled_call_of_another_run_is_another_call(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    let call = CallId::new("same");
    f.journal
        .settle(&run, &call, None, vec![event("tool.failed")])
        .await
        .unwrap();
    f.journal
        .claim(&other, claim(&call, 1, None), vec![event("tool.started")])
        .await
        .unwrap();
    f.journal
        .settle(&other, &call, None, vec![event("tool.finished")])
        .await
        .unwrap();
}

async fn many_settle_one_call_and_one_does(f: Fixture) {
    let run = f.create("run-a").await;
    let mut tasks = Vec::new();
    for number in 0..16 {
        let (journal, run) = (f.journal.clone(), run.clone());
        tasks.push(tokio::spawn(async move {
            let result = event_with("tool.finished", &number.to_string());
            journal
                .settle(&run, &run.call(0, 0), None, vec![result])
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
    f.journal
        .settle(&run, &run.call(0, 0), Some(artifact("art-1", &text)), Vec::new())
        .await
        .unwrap();
    let id = ArtifactId::new("art-1");
    assert_eq!(f.journal.artifact(&run, &id).await.unwrap(), Some(text));
    assert_eq!(f.journal.artifact(&other, &id).await.unwrap(), None);
    f.journal
        .settle(&other, &other.call(0, 0), Some(artifact("art-1", "other")), Vec::new())
        .await
        .unwrap();
    assert_eq!(f.journal.artifact(&other, &id).await.unwrap().as_deref(), Some("other"));
}

async fn an_artifact_is_never_overwritten(f: Fixture) {
    let run = f.create("run-a").await;
    let id = ArtifactId::new("art-1");
    f.journal
        .settle(&run, &run.call(0, 0), Some(artifact("art-1", "one")), Vec::new())
        .await
        .unwrap();
    // Two calls with the same output share it.
    f.journal
        .settle(&run, &run.call(0, 1), Some(artifact("art-1", "one")), Vec::new())
        .await
        .unwrap();
    let before = f.everything(&run).await;
    let told = f
        .journal
        .settle(
            &run,
            &run.call(0, 2),
            Some(artifact("art-1", "two")),
            vec![event("x.a")],
        )
        .await;
    assert_eq!(told.unwrap_err(), JournalError::Exists("art-1".to_owned()));
    assert_eq!(f.everything(&run).await, before);
    assert_eq!(f.journal.artifact(&run, &id).await.unwrap().as_deref(), Some("one"));
    // The call is not settled by what was refused.
    f.journal
        .settle(&run, &run.call(0, 2), None, vec![event("x.a")])
        .await
        .unwrap();
}

/// The bodies of the run's `approval.decided` events: decision, by whom, why.
async fn decided(f: &Fixture, run: &RunId) -> Vec<(String, String, Option<String>)> {
    let mut bodies = Vec::new();
    let events = f.events(run).await;
    for event in events
        .into_iter()
        .filter(|event| event.kind == EventType::ApprovalDecided)
    {
        let Body::ApprovalDecided(body) = event.body().unwrap() else {
            panic!("another body: {event:?}")
        };
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
    assert_eq!(
        (record.decided_by.as_deref(), record.reason.as_deref()),
        (Some("alice"), Some("fine"))
    );
    let stored = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!(format!("{stored:?}"), format!("{record:?}"));

    for answer in [ApprovalState::Granted, ApprovalState::Denied] {
        let mut second = decision("apr-1", answer);
        "bob".clone_into(&mut second.by);
        let told = f.journal.decide(second).await.unwrap_err();
        let state = ApprovalState::Granted;
        assert_eq!(
            told,
            DecisionRefused::NotOpen {
                approval: ApprovalId::new("apr-1"),
                state
            }
        );
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
        assert_eq!(
            loser,
            DecisionRefused::NotOpen {
                approval: ApprovalId::new(id.as_str()),
                state
            }
        );
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
        assert_eq!(
            told,
            DecisionRefused::NotOpen {
                approval: ApprovalId::new("apr-1"),
                state
            }
        );
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
    assert_eq!(
        (record.state, record.decided_by.as_deref()),
        (ApprovalState::Withdrawn, Some("bob"))
    );
    for answer in [ApprovalState::Granted, ApprovalState::Withdrawn] {
        let told = f.journal.decide(decision("apr-1", answer)).await.unwrap_err();
        let state = ApprovalState::Withdrawn;
        assert_eq!(
            told,
            DecisionRefused::NotOpen {
                approval: ApprovalId::new("apr-1"),
                state
            }
        );
    }
    let again = row("refused", "alice", Some("already_withdrawn"));
    assert_eq!(
        decided(&f, &run).await,
        [
            row("granted", "alice", None),
            row("withdrawn", "bob", None),
            again.clone(),
            again
        ]
    );
}

async fn a_word_that_is_no_answer_writes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let before = f.everything(&run).await;
    for answer in [ApprovalState::Pending, ApprovalState::Expired, ApprovalState::Consumed] {
        let told = f.journal.decide(decision("apr-1", answer)).await.unwrap_err();
        assert!(
            matches!(told, DecisionRefused::Journal(JournalError::Unavailable(_))),
            "{told:?}"
        );
    }
    assert_eq!(f.everything(&run).await, before);
}

async fn a_decision_about_nothing_is_not_found(f: Fixture) {
    let told = f
        .journal
        .decide(decision("apr-none", ApprovalState::Granted))
        .await
        .unwrap_err();
    assert_eq!(told, DecisionRefused::NotFound(ApprovalId::new("apr-none")));
    assert!(
        f.journal
            .approval(&ApprovalId::new("apr-none"))
            .await
            .unwrap()
            .is_none()
    );
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
        f.journal.ask(question, Vec::new()).await.unwrap();
    }
    f.decide("apr-granted", ApprovalState::Granted).await;
    f.decide("apr-denied", ApprovalState::Denied).await;
    let ids = async |run_id: Option<&RunId>, state| {
        let filter = ApprovalFilter {
            run_id: run_id.cloned(),
            state,
        };
        let found = f.journal.approvals(filter).await.unwrap();
        assert!(
            found
                .iter()
                .all(|approval| state.is_none_or(|state| approval.state == state))
        );
        found
            .into_iter()
            .map(|approval| approval.approval_id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(None, None).await,
        ["apr-granted", "apr-long", "apr-late", "apr-denied"]
    );
    assert_eq!(ids(Some(&run), None).await, ["apr-granted", "apr-late", "apr-denied"]);
    assert_eq!(ids(None, Some(ApprovalState::Pending)).await, ["apr-long", "apr-late"]);
    assert_eq!(ids(Some(&run), Some(ApprovalState::Pending)).await, ["apr-late"]);
    assert_eq!(ids(None, Some(ApprovalState::Granted)).await, ["apr-granted"]);
    assert!(ids(None, Some(ApprovalState::Expired)).await.is_empty());
    f.clock.pass(OPEN_FOR);
    assert_eq!(ids(None, Some(ApprovalState::Pending)).await, ["apr-long"]);
    assert!(ids(None, Some(ApprovalState::Granted)).await.is_empty());
    assert_eq!(
        ids(None, Some(ApprovalState::Expired)).await,
        ["apr-granted", "apr-late"]
    );
    assert_eq!(ids(None, Some(ApprovalState::Denied)).await, ["apr-denied"]);
    assert!(ids(Some(&RunId::new("run-none")), None).await.is_empty());
}
