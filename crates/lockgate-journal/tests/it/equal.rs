//! Journals of every kind, told the same, answer the same and hold the same.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Event, EventType, Finding};
use lockgate_contract::export::Writer;
use lockgate_contract::ids::{ApprovalId, ArtifactId, RunId};
use lockgate_contract::ports::{ApprovalFilter, KeptRun, Lease, RunFilter, Settling};
use lockgate_contract::run::RunStatus;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{
    Fixture, approval, artifact, assert_gap_free, caller_key, claim, decision, document, event, event_with, found,
    new_run, settled,
};

const RUNS: [&str; 3] = ["run-a", "run-b", "run-c"];
const APPROVALS: [&str; 3] = ["apr-1", "apr-2", "apr-3"];
const KINDS: [&str; 9] = [
    "x.unknown",
    "run.waiting",
    "run.resumed",
    "run.completed",
    "run.failed",
    "run.limit_reached",
    "run.cancelled",
    "run.needs_reconciliation",
    "tool.started",
];
const ANSWERS: [ApprovalState; 4] =
    [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Withdrawn, ApprovalState::Consumed];

/// One thing that is done to two journals. Numbers choose among few, so that things meet each other.
#[derive(Debug, Clone)]
enum Step {
    Create(usize),
    Hold(usize),
    Append(Lease, Vec<usize>),
    Ask {
        run: Lease,
        approval: usize,
    },
    Claim {
        run: Lease,
        call: u32,
        attempt: u32,
        approval: Option<usize>,
        key: Option<(usize, usize)>,
        right_digest: bool,
        events: usize,
    },
    Settle {
        run: Lease,
        call: u32,
        attempt: u32,
        late: bool,
        artifact: Option<(usize, bool)>,
        result: usize,
    },
    Reconcile {
        run: Lease,
        call: u32,
        finding: usize,
    },
    Decide {
        approval: usize,
        answer: usize,
        digest: Option<bool>,
    },
    Pass(u64),
    Events(usize, u64),
    Runs(bool, u32),
    Questions(Option<usize>, usize),
}

/// A lease of one of the first runs: the maker's, or that of somebody who took it over, or will.
fn lease(runs: usize) -> impl Strategy<Value = Lease> {
    let epoch = prop_oneof![8 => Just(1), 3 => Just(2), 1 => Just(3)];
    (0..runs, epoch).prop_map(|(run, epoch)| Lease { run_id: RunId::new(RUNS[run]), epoch })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..3_usize).prop_map(Step::Create),
        1 => (0..3_usize).prop_map(Step::Hold),
        3 => (lease(3), vec(0..KINDS.len(), 0..4)).prop_map(|(run, kinds)| Step::Append(run, kinds)),
        4 => (lease(2), 0..3_usize).prop_map(|(run, approval)| Step::Ask { run, approval }),
        6 => (
            lease(2),
            0..2_u32,
            0..4_u32,
            prop::option::weighted(0.6, 0..3_usize),
            prop::option::weighted(0.3, (0..2_usize, 0..2_usize)),
            prop::bool::weighted(0.9),
            0..3_usize,
        )
            .prop_map(|(run, call, attempt, approval, key, right_digest, events)| {
                Step::Claim { run, call, attempt, approval, key, right_digest, events }
            }),
        5 => (
            lease(2),
            0..2_u32,
            0..3_u32,
            prop::bool::weighted(0.2),
            prop::option::of((0..2_usize, prop::bool::weighted(0.2))),
            0..3_usize,
        )
            .prop_map(|(run, call, attempt, late, artifact, result)| {
                Step::Settle { run, call, attempt, late, artifact, result }
            }),
        3 => (lease(2), 0..2_u32, 0..4_usize).prop_map(|(run, call, finding)| Step::Reconcile { run, call, finding }),
        6 => (0..3_usize, prop_oneof![4 => Just(0), 3 => 1..ANSWERS.len()], prop::option::of(prop::bool::weighted(0.8)))
            .prop_map(|(approval, answer, digest)| Step::Decide { approval, answer, digest }),
        2 => prop_oneof![Just(0), Just(1), Just(10_000), Just(59_999), Just(60_000)].prop_map(Step::Pass),
        1 => (0..3_usize, 0..8_u64).prop_map(|(run, after)| Step::Events(run, after)),
        1 => (any::<bool>(), 0..4_u32).prop_map(|(waiting, limit)| Step::Runs(waiting, limit)),
        1 => (prop::option::of(0..3_usize), 0..5_usize).prop_map(|(run, state)| Step::Questions(run, state)),
    ];
    vec(step, 1..60)
}

/// Does one thing, and writes down the answer.
async fn apply(f: &Fixture, step: &Step) -> String {
    let run = |run: usize| RunId::new(RUNS[run]);
    let events = |count: usize| (0..count).map(|number| event_with("x.of-call", &number.to_string())).collect();
    match step.clone() {
        Step::Create(place) => format!("{:?}", f.journal.create_run(new_run(RUNS[place])).await),
        Step::Hold(place) => format!("{:?}", f.journal.hold(&run(place)).await),
        Step::Append(run, kinds) => {
            let events = kinds.into_iter().map(|kind| event(KINDS[kind])).collect();
            format!("{:?}", f.journal.append(&run, events).await)
        }
        Step::Ask { run, approval: id } => {
            let mut question = approval(&run, APPROVALS[id]);
            question.call_id = run.call(0, u32::try_from(id % 2).unwrap());
            format!("{:?}", f.journal.ask(&run, question, vec![event("approval.requested")]).await)
        }
        Step::Claim { run, call, attempt, approval, key, right_digest, events: count } => {
            let mut claim = claim(&run.call(0, call), attempt, approval.map(|id| APPROVALS[id]));
            if !right_digest && let Some((_, digest)) = &mut claim.approval {
                *digest = Digest::of_text("test", "other");
            }
            claim.caller_key =
                key.map(|(key, request)| caller_key(&format!("key-{key}"), &format!("request {request}")));
            format!("{:?}", f.journal.claim(&run, claim, events(count)).await)
        }
        Step::Settle { run, call, attempt, late, artifact: stored, result } => {
            let stored = stored.map(|(id, other)| artifact(&format!("art-{id}"), if other { "other" } else { "text" }));
            let call_id = run.call(0, call);
            let result = match result {
                0 => vec![event("x.other"), settled(&call_id, EffectState::Unknown)],
                1 => vec![settled(&call_id, EffectState::None)],
                _ => vec![event("x.other"), settled(&call_id, EffectState::Done)],
            };
            let settling = Settling { call_id, attempt, late, artifact: stored };
            format!("{:?}", f.journal.settle(&run, settling, result).await)
        }
        Step::Reconcile { run, call, finding } => {
            let call_id = run.call(0, call);
            let event = match finding {
                0 => event("x.other"),
                1 => found(&call_id, Finding::Done),
                2 => found(&call_id, Finding::NotDone),
                _ => found(&call_id, Finding::Abandoned),
            };
            format!("{:?}", f.journal.reconcile(&run, &call_id, vec![event]).await)
        }
        Step::Decide { approval, answer, digest } => {
            let mut decision = decision(APPROVALS[approval], ANSWERS[answer]);
            decision.digest = digest.map(|right| Digest::of_text("test", if right { APPROVALS[approval] } else { "" }));
            decision.reason = digest.map(|right| format!("because {right}"));
            format!("{:?}", f.journal.decide(decision).await)
        }
        Step::Pass(millis) => {
            f.clock.pass(Duration::from_millis(millis));
            String::new()
        }
        Step::Events(place, after) => format!("{:?}", f.journal.events(&run(place), after).await.map(shown)),
        Step::Runs(waiting, limit) => {
            let status = waiting.then_some(RunStatus::WaitingForApproval);
            format!("{:?}", f.journal.runs(RunFilter { status, limit }).await)
        }
        Step::Questions(place, state) => {
            let state = [
                ApprovalState::Pending,
                ApprovalState::Granted,
                ApprovalState::Expired,
                ApprovalState::Consumed,
                ApprovalState::Withdrawn,
            ][state];
            let filter = ApprovalFilter { run_id: place.map(run), state: Some(state) };
            format!("{:?}", f.journal.approvals(filter).await)
        }
    }
}

/// Events, but not who took the run over: that is for people, and each journal has its own words for it.
fn shown(mut events: Vec<Event>) -> String {
    for event in events.iter_mut().filter(|event| event.kind == EventType::RunLeaseTaken) {
        event.data = document("{}").into();
    }
    format!("{events:?}")
}

/// All that can be read.
async fn everything(f: &Fixture) -> Vec<String> {
    let mut all = vec![format!("{:?}", f.journal.runs(RunFilter::default()).await)];
    all.push(format!("{:?}", f.journal.ready(10).await));
    for id in RUNS {
        let run = RunId::new(id);
        if let Ok(events) = f.journal.events(&run, 0).await {
            assert_gap_free(&events);
            all.push(shown(events));
        }
        for artifact in ["art-0", "art-1"] {
            all.push(format!("{:?}", f.journal.artifact(&run, &ArtifactId::new(artifact)).await));
        }
    }
    for id in APPROVALS {
        all.push(format!("{:?}", f.journal.approval(&ApprovalId::new(id)).await));
    }
    all.push(format!("{:?}", f.journal.approvals(ApprovalFilter::default()).await));
    all
}

/// Tells both the same, and compares what they say and hold.
async fn compare(memory: Fixture, mut other: Fixture, steps: &[Step]) -> Result<(), TestCaseError> {
    for f in [&memory, &other] {
        f.create("run-a").await;
    }
    for step in steps {
        prop_assert_eq!(apply(&memory, step).await, apply(&other, step).await, "{:?}", step);
    }
    prop_assert_eq!(everything(&memory).await, everything(&other).await);
    // And once more from the disk.
    let reopened = other.second();
    other.journal = reopened;
    prop_assert_eq!(everything(&memory).await, everything(&other).await);
    // What one kind exports the other takes, and exports it again to the byte.
    let (into_other, into_memory) = (other.fresh(), Fixture::memory());
    for id in RUNS.map(RunId::new) {
        let (one, two) = (memory.journal.upkeep().export_run(&id).await, other.journal.upkeep().export_run(&id).await);
        let (Ok(one), Ok(two)) = (one, two) else { continue };
        prop_assert_eq!(lines(&masked(one.clone())), lines(&masked(two.clone())));
        for (run, target) in [(one, &into_other), (two, &into_memory)] {
            let before = lines(&run);
            target.journal.upkeep().import_run(run).await.unwrap();
            prop_assert_eq!(before, lines(&target.journal.upkeep().export_run(&id).await.unwrap()));
        }
    }
    Ok(())
}

fn lines(run: &KeptRun) -> String {
    Writer::default().run(run)
}

/// As [`shown`].
fn masked(mut run: KeptRun) -> KeptRun {
    for event in run.events.iter_mut().filter(|event| event.kind == EventType::RunLeaseTaken) {
        event.data = document("{}").into();
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_do_the_same(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(compare(Fixture::memory(), Fixture::sqlite(), &steps))?;
    }
}

#[cfg(feature = "postgres")]
proptest! {
    // Fewer: each has a database of its own.
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_postgres_do_the_same(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(compare(Fixture::memory(), Fixture::postgres(), &steps))?;
    }
}
