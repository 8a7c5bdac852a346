//! What must hold for the events of every agent's run, whatever happened in it.

use std::collections::{BTreeMap, BTreeSet};

use lockgate_contract::event::{Body, Event, EventType};
use lockgate_contract::ids::CallId;
use lockgate_contract::run::RunStatus;
use lockgate_harness::{Facts, RunResult, RunState};

use crate::model::assert_paired;

/// Fails with the events in the message where one of them breaks a rule.
pub(crate) fn assert_hold(events: &[Event]) {
    if let Err(broken) = check(events) {
        let list: Vec<String> = events.iter().map(line).collect();
        panic!("{broken}\n{}", list.join("\n"));
    }
    // And the checker that is shipped finds nothing either.
    assert_eq!(lockgate_harness::check::events(events), []);
}

fn line(event: &Event) -> String {
    let call = event.call_id.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{:3} {} {} {call} {}", event.seq, event.kind, event.step, event.data.text())
}

/// What was seen of a call so far.
#[derive(Default)]
struct Seen {
    requested: bool,
    attempts: u32,
    /// An attempt was started, and has no ending of its own.
    underway: bool,
    settled: bool,
}

fn check(events: &[Event]) -> Result<(), String> {
    let mut calls: BTreeMap<CallId, Seen> = BTreeMap::new();
    let mut consumed = BTreeSet::new();
    let mut stopped: Option<EventType> = None;
    let mut rest = events.iter();
    let mut number = 0;
    while let Some(event) = rest.next() {
        number += 1;
        let broken = |rule: &str| Err(format!("event {number} breaks: {rule}"));
        if event.seq != number {
            return broken("events are numbered 1, 2, 3 (R-209)");
        }
        match (&stopped, &event.kind) {
            // A question may be answered at any time, also when the answer helps nobody any more; so may what became of a
            // call be found out, and a driver take the run over to look.
            (
                None | Some(_),
                EventType::ApprovalAgreed
                | EventType::ApprovalEdited
                | EventType::ApprovalDecided
                | EventType::CallReconciled
                | EventType::ToolAnsweredLate
                | EventType::RunLeaseTaken,
            )
            | (None, _) => {}
            (
                Some(EventType::RunWaiting | EventType::RunLimitReached | EventType::RunNeedsReconciliation),
                EventType::RunResumed,
            ) => stopped = None,
            (Some(_), _) => return broken("nothing happens after a run stopped (R-199)"),
        }
        let is_call = ["tool.", "approval.", "call."].iter().any(|about| event.kind.word().starts_with(about));
        if is_call != event.call_id.is_some() {
            return broken("tool and approval events name their call, and no others do (R-211)");
        }
        if event.kind == EventType::RunLeaseTaken {
            // What the driver before it had under way is lost: a further attempt is asked about anew.
            for call in calls.values_mut() {
                call.underway = false;
            }
        }
        let open = calls.values().any(|call| !call.settled);
        let seen = event.call_id.as_ref().map(|call| calls.entry(call.clone()).or_default());
        match (event.body().map_err(|error| error.to_string())?, seen) {
            (Body::ModelRequested(_), _) if open => {
                return broken("the model is asked when every call is settled");
            }
            (Body::ModelResponded(response), _) => {
                for (call, index) in response.calls.iter().zip(0..) {
                    if call.call_id != event.run_id.call(event.step, index) {
                        return broken("a call is named by run, step and place (R-207, R-218)");
                    }
                    if calls.insert(call.call_id.clone(), Seen::default()).is_some() {
                        return broken("a call id is given once");
                    }
                }
            }
            (Body::ToolRequested(_), Some(call)) if call.requested => {
                return broken("a call is requested once (R-212)");
            }
            (Body::ToolRequested(_), Some(call)) => call.requested = true,
            (Body::ApprovalRequested(_), Some(call)) if !call.requested || call.underway => {
                return broken("a person is asked between the request and the start");
            }
            (Body::ApprovalConsumed(used), Some(_)) => {
                if !consumed.insert(used.approval_id) {
                    return broken("an approval is used once (architecture rule 6)");
                }
                if rest.clone().next().is_none_or(|next| next.kind != EventType::ToolStarted) {
                    return broken("the use of an approval and the intent are one commit");
                }
            }
            (Body::ToolStarted(started), Some(call)) => {
                if !call.requested || call.settled {
                    return broken("a call starts between its request and its result (R-125)");
                }
                call.attempts += 1;
                call.underway = true;
                if started.attempt != call.attempts {
                    return broken("attempts are numbered");
                }
            }
            (Body::ToolAttemptFailed(failed), Some(call)) => {
                let was_underway = std::mem::replace(&mut call.underway, false);
                if !was_underway || failed.attempt != call.attempts {
                    return broken("what fails is the attempt that is under way");
                }
            }
            (Body::CallReconciled(found), Some(call)) => {
                call.underway = false;
                call.settled &= !found.reopens();
            }
            (Body::Settled(_), Some(call)) => {
                call.underway = false;
                if !call.requested {
                    return broken("a result belongs to a request (R-212)");
                }
                if std::mem::replace(&mut call.settled, true) {
                    return broken("a call settles once (R-212)");
                }
            }
            _ => {}
        }
        let ends = matches!(
            event.kind,
            EventType::RunCompleted
                | EventType::RunFailed
                | EventType::RunCancelled
                | EventType::RunNeedsReconciliation
                | EventType::RunLimitReached
        );
        if ends && open {
            return broken("a run ends when every call is settled (R-212)");
        }
        if ends || event.kind == EventType::RunWaiting {
            stopped = Some(event.kind.clone());
        }
    }
    check_folds(events);
    Ok(())
}

/// Every beginning of the run is a run; the next command is a question that may be asked twice; what is shown of the run
/// is what happened.
fn check_folds(events: &[Event]) {
    let mut state = RunState::begin(&events[0]).unwrap();
    for event in &events[1..] {
        state.apply(event).unwrap();
        let nothing = BTreeSet::new();
        let facts = Facts { now: event.at, cancelled: false, held: &nothing, unredacted: &nothing, parallel_reads: 4 };
        let next = format!("{:?}", state.next(&facts));
        assert_eq!(next, format!("{:?}", state.next(&facts)));
        if event.kind == EventType::ModelRequested {
            assert_paired(&state.messages());
        }
    }
    let result = RunResult::of(&state);
    assert_eq!(result.status, state.stop().map(lockgate_harness::Stop::status));
    let responded: usize = state.turns().iter().map(|turn| turn.calls.len()).sum();
    assert_eq!(result.calls.len(), responded); // results equal calls in number and order
    let ids: Vec<_> = result.calls.iter().map(|call| &call.call_id).collect();
    assert_eq!(ids, state.calls().map(|call| &call.call_id).collect::<Vec<_>>());
    assert_eq!(result.completed_by.is_some(), result.reason.as_deref() == Some("goal_reached"));
    assert!(result.answer.is_none() || result.status == Some(RunStatus::Completed));
    assert!(result.calls.iter().all(|call| call.ok == (call.code.is_none() && call.status.is_some())));
}
