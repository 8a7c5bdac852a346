//! Both journals, told the same, answer the same and hold the same.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::digest::Digest;
use lockgate_contract::ids::{ApprovalId, ArtifactId, RunId};
use lockgate_contract::ports::{ApprovalFilter, RunFilter};
use lockgate_contract::run::RunStatus;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{Fixture, approval, artifact, assert_gap_free, claim, decision, event, event_with, new_run};

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

/// One thing that is done to both journals. Numbers choose among few, so that things meet each other.
#[derive(Debug, Clone)]
enum Step {
    Create(usize),
    Append(usize, Vec<usize>),
    Ask { run: usize, approval: usize },
    Claim { run: usize, call: u32, attempt: u32, approval: Option<usize>, right_digest: bool, events: usize },
    Settle { run: usize, call: u32, artifact: Option<(usize, bool)>, events: usize },
    Decide { approval: usize, answer: usize, digest: Option<bool> },
    Pass(u64),
    Events(usize, u64),
    Runs(bool, u32),
    Questions(Option<usize>, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..3_usize).prop_map(Step::Create),
        3 => (0..3_usize, vec(0..KINDS.len(), 0..4)).prop_map(|(run, kinds)| Step::Append(run, kinds)),
        4 => (0..2_usize, 0..3_usize).prop_map(|(run, approval)| Step::Ask { run, approval }),
        6 => (0..2_usize, 0..2_u32, 0..4_u32, prop::option::weighted(0.8, 0..3_usize), prop::bool::weighted(0.9), 0..3_usize)
            .prop_map(|(run, call, attempt, approval, right_digest, events)| {
                Step::Claim { run, call, attempt, approval, right_digest, events }
            }),
        2 => (0..3_usize, 0..2_u32, prop::option::of((0..2_usize, prop::bool::weighted(0.2))), 0..3_usize)
            .prop_map(|(run, call, artifact, events)| Step::Settle { run, call, artifact, events }),
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
        Step::Append(place, kinds) => {
            let events = kinds.into_iter().map(|kind| event(KINDS[kind])).collect();
            format!("{:?}", f.journal.append(&run(place), events).await)
        }
        Step::Ask { run: place, approval: id } => {
            let mut question = approval(&run(place), APPROVALS[id]);
            question.call_id = run(place).call(0, u32::try_from(id % 2).unwrap());
            format!("{:?}", f.journal.ask(question, vec![event("approval.requested")]).await)
        }
        Step::Claim { run: place, call, attempt, approval, right_digest, events: count } => {
            let run = run(place);
            let mut claim = claim(&run.call(0, call), attempt, approval.map(|id| APPROVALS[id]));
            if !right_digest && let Some((_, digest)) = &mut claim.approval {
                *digest = Digest::of_text("test", "other");
            }
            format!("{:?}", f.journal.claim(&run, claim, events(count)).await)
        }
        Step::Settle { run: place, call, artifact: stored, events: count } => {
            let run = run(place);
            let stored = stored.map(|(id, other)| artifact(&format!("art-{id}"), if other { "other" } else { "text" }));
            format!("{:?}", f.journal.settle(&run, &run.call(0, call), stored, events(count)).await)
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
        Step::Events(place, after) => format!("{:?}", f.journal.events(&run(place), after).await),
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

/// All that can be read.
async fn everything(f: &Fixture) -> Vec<String> {
    let mut all = vec![format!("{:?}", f.journal.runs(RunFilter::default()).await)];
    for id in RUNS {
        let run = RunId::new(id);
        if let Ok(events) = f.journal.events(&run, 0).await {
            assert_gap_free(&events);
            all.push(format!("{events:?}"));
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_do_the_same(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (memory, mut sqlite) = (Fixture::memory(), Fixture::sqlite());
            for f in [&memory, &sqlite] {
                f.create("run-a").await;
            }
            for step in &steps {
                prop_assert_eq!(apply(&memory, step).await, apply(&sqlite, step).await, "{:?}", step);
            }
            prop_assert_eq!(everything(&memory).await, everything(&sqlite).await);
            // And once more from the disk.
            let reopened = sqlite.second();
            sqlite.journal = reopened;
            prop_assert_eq!(everything(&memory).await, everything(&sqlite).await);
            Ok(())
        })?;
    }
}
