//! What can be wrong with an approval: each lets nothing run, under its own code.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{Approvers, Decision, DecisionRefused, Lease};
use lockgate_contract::subject::Subject;
use lockgate_executor::{GateOptions, Released, Request, RunLog, Scope};
use lockgate_registry::ReplacementRule;

use super::{asking, bench};
use crate::bench::{Bench, EFFECTS, Fault, Method, code, create_run, settlement, word};

/// What is wrong with the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Record {
    None,
    Undecided,
    Expired,
    DigestDiffers,
    OtherCall,
    OtherTool,
    OtherVersion,
    OtherRun,
    OtherUser,
    OtherTenant,
    OtherEnvironment,
    Denied,
    Withdrawn,
    AlreadyUsed,
    /// Granted by somebody whose yes does not count: the question is still open.
    NotEntitled,
    /// Named, and no such approval exists.
    Invented,
    Valid,
}

const RECORDS: [(Record, &str); 17] = [
    (Record::None, "approval_required"),
    (Record::Undecided, "approval_required"),
    (Record::Expired, "approval_expired"),
    (Record::DigestDiffers, "approval_stale"),
    (Record::OtherCall, "approval_stale"),
    (Record::OtherTool, "approval_stale"),
    (Record::OtherVersion, "approval_stale"),
    (Record::OtherRun, "approval_stale"),
    (Record::OtherUser, "approval_stale"),
    (Record::OtherTenant, "approval_stale"),
    (Record::OtherEnvironment, "approval_stale"),
    (Record::Denied, "approval_denied"),
    (Record::Withdrawn, "approval_withdrawn"),
    (Record::AlreadyUsed, "approval_used"),
    (Record::NotEntitled, "approval_required"),
    (Record::Invented, "approval_stale"),
    (Record::Valid, "ok"),
];

/// Asks, decides, changes one thing, and sends the call that would then run.
async fn send(record: Record, bench: &mut Bench, effect: Effect) -> Released {
    let arguments = r#"{"n":100}"#;
    let mut request = bench.request(effect.word(), arguments);
    if record == Record::None {
        return bench.send(&request).await;
    }
    let approval = bench.ask(&request).await.approval_id().clone();
    request.terms.requested_before = true;
    request.terms.approval = Some(approval.clone());
    match record {
        Record::Undecided => {}
        Record::Denied => bench.decide(&approval, ApprovalState::Denied).await,
        Record::NotEntitled => {
            let typed = Decision::new(approval.clone(), ApprovalState::Granted, "mallory");
            let refused = bench.gate.decide(typed).await.unwrap_err();
            assert!(matches!(refused, DecisionRefused::NotEntitled { .. }), "{refused}");
        }
        _ => bench.decide(&approval, ApprovalState::Granted).await,
    }
    match record {
        Record::Expired => bench.clock.pass(Duration::from_mins(10)),
        Record::Withdrawn => bench.decide(&approval, ApprovalState::Withdrawn).await,
        Record::DigestDiffers => r#"{"n":50}"#.clone_into(&mut request.call.arguments_text),
        Record::OtherCall => {
            let other = bench.request(effect.word(), arguments);
            request = Request { terms: request.terms, ..other };
            request.terms.requested_before = false;
        }
        Record::OtherTool => "other".clone_into(&mut request.call.tool_name),
        Record::OtherVersion => {
            let new = asking(&bench.counters, effect, "2.6");
            bench.registry.replace(new, ReplacementRule::Migrate).unwrap();
        }
        Record::OtherRun => {
            let other = RunId::new("run-ffff00000000");
            create_run(&*bench.journal, &other).await;
            let log = RunLog::new(Lease::first(other.clone()), bench.journal.clone(), 1, Arc::new(|_| {}));
            bench.scope = Scope::new(Arc::new(log), Arc::clone(&bench.scope.subject), Arc::clone(&bench.scope.allowed));
            request.call.call_id = other.call(0, 0);
            request.terms.requested_before = false;
        }
        Record::OtherUser => {
            bench.scope.subject = Arc::new(Subject { user: "other".to_owned(), ..Subject::default() });
        }
        Record::OtherTenant => {
            bench.scope.subject = Arc::new(Subject { tenant: "other".to_owned(), ..Subject::default() });
        }
        Record::OtherEnvironment => {
            bench.resume_under(GateOptions { environment: Some("production".to_owned()), ..GateOptions::default() });
        }
        Record::AlreadyUsed => {
            // A claim whose result never came.
            bench.journal.fail(Method::Claim, 0, Fault::UnknownWritten);
            bench.journal.fail(Method::Settle, 0, Fault::Unavailable);
            let first = bench.send(&request).await;
            assert_eq!(word(&first), "storage_unavailable");
        }
        Record::Invented => request.terms.approval = Some(ApprovalId::new("apr-0000000000000000")),
        Record::None | Record::Undecided | Record::Denied | Record::NotEntitled | Record::Valid => {}
    }
    bench.send(&request).await
}

#[tokio::test]
async fn only_a_valid_approval_lets_a_call_run() {
    for effect in [Effect::Write, Effect::External] {
        for (record, expected) in RECORDS {
            let mut bench = bench(effect).await;
            if record == Record::NotEntitled {
                let approvers = Some(Approvers { roles: vec!["finance".to_owned()], count: 1 });
                bench.resume_under(GateOptions { approvers, ..GateOptions::default() });
            }
            let released = send(record, &mut bench, effect).await;
            assert_eq!(word(&released), expected, "{record:?}, {effect}"); // S-39
            let runs = usize::from(record == Record::Valid);
            assert_eq!(bench.handler_count(), runs, "{record:?}, {effect}"); // R-168, R-169, R-173
            let kinds = bench.kinds().await;
            let used = kinds.iter().filter(|kind| *kind == "approval.consumed").count();
            assert_eq!(used, usize::from(runs == 1 || record == Record::AlreadyUsed), "{record:?}: {kinds:?}");
        }
    }
}

#[tokio::test]
async fn what_came_of_a_used_approval_is_unknown_only_where_something_may_have_changed() {
    let states = [EffectState::None, EffectState::Unknown, EffectState::Unknown];
    for (effect, state) in EFFECTS.into_iter().zip(states) {
        let mut bench = bench(effect).await;
        let again = settlement(send(Record::AlreadyUsed, &mut bench, effect).await);
        assert_eq!((code(&again), again.settled().effect_state), ("approval_used", state)); // R-126
    }
}
