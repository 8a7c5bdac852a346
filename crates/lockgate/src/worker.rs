//! A worker: drives on whatever run of a journal is ready.
//!
//! ```text
//!   journal ── ready ──► prepare: who has its tools and its model? ──► resume, a few runs side by side ──► what became of it
//!      ▲                                                                    │
//!      └──────────── lets go: stopped, handed over, or the worker died ◄────┘
//! ```
//!
//! Any number of workers share a journal. Who takes a run has its lease; a run whose worker died is ready again when the
//! lease is over. One process that starts and resumes its own runs needs no worker.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::event::EventType;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Journal, JournalError, RunRecord};
use lockgate_executor::Observer;
use lockgate_harness::{Resume, RunError, RunState, Runner, RunnerOptions};
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// Drives runs of one journal, one after another and several at once.
pub struct Worker {
    journal: Arc<dyn Journal>,
    prepare: Prepare,
    options: WorkerOptions,
}

/// Who can drive a run: a runner with its tools and its model, made with these options. The error says, for an operator, why
/// this worker cannot; another one may.
pub type Prepare = Arc<dyn Fn(&RunState, RunnerOptions) -> Result<Runner, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// How a worker works.
#[derive(Clone)]
pub struct WorkerOptions {
    /// Runs side by side; at least one.
    pub concurrency: usize,
    /// How often it looks for runs.
    pub look: Duration,
    /// Ends the worker: it takes no more runs, and lets go of each at the next place where nothing is under way.
    pub drain: CancellationToken,
    /// How long what is under way may take then. What takes longer is broken off: a call that was started is `interrupted`, and
    /// its effect unknown; one that was not is `cancelled`.
    pub patience: Duration,
    /// Whether it ends when no run is ready.
    pub until_idle: bool,
    /// Is told what happens.
    pub report: Arc<dyn Fn(Report) + Send + Sync>,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            concurrency: 4,
            look: Duration::from_secs(1),
            drain: CancellationToken::new(),
            patience: Duration::from_secs(30),
            until_idle: false,
            report: Arc::new(|_| ()),
        }
    }
}

/// Something that a worker tells.
#[derive(Debug)]
pub enum Report {
    /// It has this run now.
    Taken(RunId),
    /// It let go of this run, where it stands now.
    Left(Box<RunState>),
    /// It cannot drive this run. It looks at it again later.
    Unfit {
        /// The run.
        run_id: RunId,
        /// Why not.
        cause: Box<dyn Error + Send + Sync>,
    },
    /// Driving this run failed. The run is as the journal has it, and is taken up again later.
    Failed(RunId, RunError),
    /// This run was broken off in the middle.
    BrokenOff(RunId),
    /// The journal does not answer. It asks again.
    Journal(JournalError),
}

/// How long a run is left alone that could not be driven: doubled each time, up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// How soon a worker looks again that is to end when nothing is ready.
const NEXT_LOOK: Duration = Duration::from_millis(50);

/// Runs that are looked at in one go.
const LOOKED_AT: u32 = 64;

/// A run that could not be driven.
struct Later {
    /// At which number: whatever is new about it may change that. Nothing where it was driven and failed: what is new since
    /// is its own.
    last_seq: Option<u64>,
    until: Instant,
    pause: Duration,
}

impl Later {
    /// Whether the run may be tried again: its pause is over, or there is something new about it that is not this worker's own.
    fn is_over(&self, run: &RunRecord) -> bool {
        Instant::now() >= self.until || self.last_seq.is_some_and(|seen| seen != run.last_seq)
    }
}

/// What is under way.
#[derive(Default)]
struct Desk {
    driven: JoinSet<Result<RunState, RunError>>,
    runs: HashMap<task::Id, RunRecord>,
    later: HashMap<RunId, Later>,
}

impl Worker {
    /// A worker over this journal. Nothing is taken before it runs.
    pub fn new(journal: Arc<dyn Journal>, prepare: Prepare, options: WorkerOptions) -> Self {
        Self { journal, prepare, options }
    }

    /// Works until it is drained, or, if it is to, until nothing is ready. What it leaves is in the journal.
    pub async fn run(&self) {
        let mut desk = Desk::default();
        let drain = &self.options.drain;
        let mut idle_looks = 0;
        while !drain.is_cancelled() {
            let found = self.take(&mut desk).await;
            idle_looks = if found || !desk.driven.is_empty() { 0 } else { idle_looks + 1 };
            // Twice: somebody else's look may have hidden a run for a moment.
            if self.options.until_idle && idle_looks > 1 {
                return;
            }
            tokio::select! {
                () = drain.cancelled() => {}
                Some(ended) = desk.driven.join_next_with_id() => self.ended(&mut desk, ended),
                // Before its end it looks again at once: nothing that it left alone may come back in between.
                () = sleep(if self.options.until_idle && idle_looks > 0 { NEXT_LOOK } else { self.options.look }) => {}
            }
        }
        let end = Instant::now() + self.options.patience;
        loop {
            tokio::select! {
                biased;
                ended = desk.driven.join_next_with_id() => match ended {
                    Some(ended) => self.ended(&mut desk, ended),
                    None => return,
                },
                () = sleep_until(end) => break,
            }
        }
        desk.driven.shutdown().await;
        desk.runs.into_values().for_each(|run| (self.options.report)(Report::BrokenOff(run.run_id)));
    }

    /// Takes runs as long as there is room. Answers whether it took one, or had no room to.
    async fn take(&self, desk: &mut Desk) -> bool {
        let most = self.options.concurrency.max(1);
        let mut limit = LOOKED_AT;
        let mut found = desk.runs.len() >= most;
        while desk.runs.len() < most {
            let ready = match self.journal.ready(limit).await {
                Ok(ready) => ready,
                Err(error) => {
                    (self.options.report)(Report::Journal(error));
                    return !self.options.until_idle;
                }
            };
            let is_full = ready.len() == usize::try_from(limit).unwrap_or(usize::MAX);
            if !is_full {
                desk.later.retain(|later, _| ready.iter().any(|run| run.run_id == *later));
            }
            let mut fit: Vec<_> = ready.into_iter().filter(|run| desk.may_try(run)).collect();
            // What was never tried comes before what could not be driven.
            fit.sort_by_key(|run| desk.later.contains_key(&run.run_id));
            for run in &fit {
                if desk.runs.len() == most {
                    break;
                }
                found |= self.try_run(desk, run).await;
            }
            // What somebody else drives, or nobody here can, is not all there is.
            if found || !is_full || limit > u32::MAX / 2 {
                break;
            }
            limit *= 2;
        }
        found
    }

    /// Drives a run if this worker can. Answers whether it does.
    async fn try_run(&self, desk: &mut Desk, run: &RunRecord) -> bool {
        let prepared = match self.stored(&run.run_id).await {
            Ok(state) => (self.prepare)(&state, self.runner_options()),
            Err(error) => Err(error.into()),
        };
        match prepared {
            Ok(runner) => {
                let run_id = run.run_id.clone();
                let driving = async move { runner.resume(&run_id, Resume::default()).await };
                let task = desk.driven.spawn(driving);
                desk.runs.insert(task.id(), run.clone());
                true
            }
            Err(cause) => {
                if desk.put_off(&run.run_id, Some(run.last_seq)) {
                    (self.options.report)(Report::Unfit { run_id: run.run_id.clone(), cause });
                }
                false
            }
        }
    }

    async fn stored(&self, run: &RunId) -> Result<RunState, RunError> {
        let events = self.journal.events(run, 0).await?;
        RunState::fold(&events).map_err(|cause| RunError::Fold { run: run.clone(), cause })
    }

    fn runner_options(&self) -> RunnerOptions {
        let report = Arc::clone(&self.options.report);
        let observer: Observer = Arc::new(move |event| {
            if event.kind == EventType::RunLeaseTaken {
                report(Report::Taken(event.run_id.clone()));
            }
        });
        RunnerOptions { hand_over: self.options.drain.clone(), observer: Some(observer), ..RunnerOptions::default() }
    }

    /// A run is not driven here any more.
    fn ended(&self, desk: &mut Desk, ended: Result<(task::Id, Result<RunState, RunError>), JoinError>) {
        let (id, ended) = match ended {
            Ok((id, ended)) => (id, Some(ended)),
            // A panic of a driver is a defect of the gate. The lease was given back, so the run is taken up again.
            Err(panic) => (panic.id(), None),
        };
        let Some(run) = desk.runs.remove(&id) else { return };
        let Some(ended) = ended else {
            desk.put_off(&run.run_id, None);
            return (self.options.report)(Report::BrokenOff(run.run_id));
        };
        match ended {
            Ok(state) if state.last_seq() > run.last_seq => {
                desk.later.remove(&run.run_id);
                (self.options.report)(Report::Left(Box::new(state)));
            }
            // Nothing could be done about it, or somebody else was faster.
            Ok(_) => {
                desk.put_off(&run.run_id, Some(run.last_seq));
            }
            // Its driver may die at any time, and leave no trace of it.
            Err(RunError::Busy(_)) => desk.leave_alone(&run.run_id, Some(run.last_seq), PAUSES.0),
            Err(error) => {
                desk.put_off(&run.run_id, None);
                (self.options.report)(Report::Failed(run.run_id, error));
            }
        }
    }
}

impl Desk {
    fn may_try(&self, run: &RunRecord) -> bool {
        self.runs.values().all(|driven| driven.run_id != run.run_id)
            && self.later.get(&run.run_id).is_none_or(|later| later.is_over(run))
    }

    /// Leaves a run alone for a while, longer each time. Answers whether this is the first time as it stands.
    fn put_off(&mut self, run: &RunId, last_seq: Option<u64>) -> bool {
        let (first, longest) = PAUSES;
        let before = self.later.get(run).filter(|later| later.last_seq == last_seq);
        let pause = before.map_or(first, |later| (later.pause * 2).min(longest));
        let is_new = before.is_none();
        self.leave_alone(run, last_seq, pause);
        is_new
    }

    fn leave_alone(&mut self, run: &RunId, last_seq: Option<u64>, pause: Duration) {
        let later = Later { last_seq, until: Instant::now() + pause, pause };
        self.later.insert(run.clone(), later);
    }
}
