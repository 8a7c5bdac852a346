//! Everything that a run needs, with time, ids, model, tools and journal in the test's hands.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::Event;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{
    ApprovalFilter, Clock, Decision, DecisionRefused, Heard, Ids, Journal, NoRedaction, PolicyEngine, Redactor,
};
use lockgate_contract::run::{Budget, RunBinding, RunStatus};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_executor::{Dispatch, Gate, GateBuilder, GateOptions, Observer, Veto};
use lockgate_harness::{AgentRun, Resume, RunError, RunResult, RunState, Runner, RunnerOptions};
use lockgate_journal::{MemoryJournal, SqliteJournal};
use lockgate_policy::NativePolicy;
use lockgate_registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::model::{Model, Turn};
use crate::tools::{World, registry};

/// How long a question stays open.
pub(crate) const OPEN_FOR: Duration = Duration::from_mins(10);

/// Time that stands still unless the test moves it, or a runtime whose own time is paused does.
pub(crate) struct TestClock {
    moved: AtomicI64,
    runtime: Option<tokio::time::Instant>,
}

impl TestClock {
    /// Only the test moves it.
    pub(crate) fn manual() -> Arc<Self> {
        Arc::new(Self { moved: AtomicI64::new(0), runtime: None })
    }

    /// It goes with the paused time of the runtime. To be asked from the runtime's own thread.
    pub(crate) fn paused() -> Arc<Self> {
        Arc::new(Self { moved: AtomicI64::new(0), runtime: Some(tokio::time::Instant::now()) })
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.moved.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn set_back(&self, time: Duration) {
        self.moved.fetch_sub(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let runtime = self.runtime.map_or(0, |began| began.elapsed().as_millis());
        let moved = self.moved.load(Ordering::SeqCst) + i64::try_from(runtime).unwrap();
        Timestamp::from_millis(1_800_000_000_000 + moved)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// 1, 2, 3 …
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// The next one is one more than this.
    pub(crate) fn start_at(&self, last: u64) {
        self.0.store(last, Ordering::SeqCst);
    }
}

impl Ids for Counter {
    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// A workbench for one run after the other.
pub(crate) struct Bench {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) world: Arc<World>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) model: Arc<Model>,
    pub(crate) redactor: Arc<dyn Redactor>,
    pub(crate) ids: Arc<Counter>,
    pub(crate) budget: Budget,
    pub(crate) on_unknown: OnUnknown,
    pub(crate) parallel_reads: usize,
    pub(crate) dispatch: Option<Dispatch>,
    pub(crate) policy: Arc<dyn PolicyEngine>,
    pub(crate) options: GateOptions,
    pub(crate) vetoes: Vec<Veto>,
    /// Each sees every accepted event, in order.
    pub(crate) observers: Vec<Observer>,
    /// Stops the runs of the runners that are made from here on.
    pub(crate) cancel: CancellationToken,
    /// Hears the model speak.
    pub(crate) heard: Option<Arc<Heard>>,
}

impl Bench {
    /// In memory, with the runtime's paused time.
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let clock = TestClock::paused();
        let journal = Arc::new(MemoryJournal::new(clock.clone()));
        Self::over(journal, clock, turns)
    }

    /// In a file, with time that only the test moves.
    pub(crate) fn in_file(path: &Path, turns: impl IntoIterator<Item = Turn>) -> Self {
        let clock = TestClock::manual();
        let journal = Arc::new(SqliteJournal::open(path, clock.clone()).unwrap());
        Self::over(journal, clock, turns)
    }

    pub(crate) fn over(
        journal: Arc<dyn Journal>,
        clock: Arc<TestClock>,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        let world = Arc::new(World::default());
        Self {
            clock,
            journal,
            registry: registry(&world),
            world,
            model: Model::new(turns),
            redactor: Arc::new(NoRedaction),
            ids: Arc::default(),
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            parallel_reads: 8,
            dispatch: None,
            policy: Arc::new(NativePolicy::new()),
            options: GateOptions { approval_expires: OPEN_FOR, ..GateOptions::default() },
            vetoes: Vec::new(),
            observers: Vec::new(),
            cancel: CancellationToken::new(),
            heard: None,
        }
    }

    pub(crate) fn within(mut self, change: impl FnOnce(&mut Budget)) -> Self {
        change(&mut self.budget);
        self
    }

    /// The process ends: what was only in memory is gone. The world remembers what was done to it.
    pub(crate) fn restarted(self, journal: Arc<dyn Journal>) -> Self {
        let registry = registry(&self.world);
        Self { journal, registry, cancel: CancellationToken::new(), ..self }
    }

    pub(crate) fn runner(&self) -> Runner {
        let mut gate = Gate::builder(
            Arc::clone(&self.registry),
            Arc::clone(&self.policy),
            Arc::clone(&self.journal),
            Arc::clone(&self.redactor),
            self.clock.clone(),
        )
        .options(self.options.clone());
        if let Some(dispatch) = &self.dispatch {
            gate = gate.dispatch(dispatch.clone());
        }
        let gate = self.vetoes.iter().cloned().fold(gate, GateBuilder::veto);
        let observers = self.observers.clone();
        let options = RunnerOptions {
            parallel_reads: self.parallel_reads,
            cancel: self.cancel.clone(),
            heard: self.heard.clone(),
            observer: Some(Arc::new(move |event| observers.iter().for_each(|observer| observer(event)))),
            ..RunnerOptions::default()
        };
        Runner::new(Arc::new(gate.build().unwrap()), self.ids.clone(), options).with_model(self.model.clone())
    }

    pub(crate) fn binding(&self) -> RunBinding {
        self.registry.discover(&Subject::default()).bind()
    }

    pub(crate) fn task(&self) -> AgentRun {
        let run = AgentRun::new("a task", Subject::default(), self.binding());
        AgentRun { budget: self.budget.clone(), on_unknown: self.on_unknown, ..run }
    }

    /// Starts the run and drives it until it stops; the events hold together.
    pub(crate) async fn run(&self) -> RunState {
        let state = self.runner().start(self.task()).await.unwrap();
        self.assert_stored(&state).await;
        state
    }

    pub(crate) async fn resume(&self, run: &RunId) -> RunState {
        self.try_resume(run, Resume::default()).await.unwrap()
    }

    pub(crate) async fn resume_within(&self, run: &RunId, budget: Budget) -> RunState {
        self.try_resume(run, Resume { budget: Some(budget) }).await.unwrap()
    }

    pub(crate) async fn try_resume(&self, run: &RunId, resume: Resume) -> Result<RunState, RunError> {
        let state = self.runner().resume(run, resume).await?;
        self.assert_stored(&state).await;
        Ok(state)
    }

    /// The state that the driver went along with is the fold over what the journal has (architecture rule 5).
    async fn assert_stored(&self, state: &RunState) {
        let events = self.events(state.run_id()).await;
        crate::invariants::assert_hold(&events);
        assert_eq!(format!("{state:?}"), format!("{:?}", RunState::fold(&events).unwrap()));
    }

    pub(crate) async fn events(&self, run: &RunId) -> Vec<Event> {
        self.journal.events(run, 0).await.unwrap()
    }

    /// The types of the run's events, in order.
    pub(crate) async fn kinds(&self, run: &RunId) -> Vec<String> {
        self.events(run).await.iter().map(|event| event.kind.word().to_owned()).collect()
    }

    /// The run's events, byte for byte.
    pub(crate) async fn bytes(&self, run: &RunId) -> String {
        serde_json::to_string_pretty(&self.events(run).await).unwrap()
    }

    pub(crate) async fn approvals(&self, run: &RunId) -> Vec<Approval> {
        let filter = ApprovalFilter { run_id: Some(run.clone()), state: None };
        self.journal.approvals(filter).await.unwrap()
    }

    pub(crate) async fn decide(
        &self,
        approval: &ApprovalId,
        answer: ApprovalState,
    ) -> Result<Approval, DecisionRefused> {
        let decision = Decision::new(approval.clone(), answer, "alice");
        self.journal.decide(decision).await
    }

    /// Decides every open question of a run.
    pub(crate) async fn decide_all(&self, run: &RunId, answer: ApprovalState) {
        for approval in self.approvals(run).await {
            if approval.state == ApprovalState::Pending {
                self.decide(&approval.approval_id, answer).await.unwrap();
            }
        }
    }
}

/// Where a run stopped: the stop state and the word inside.
pub(crate) fn stop(state: &RunState) -> (RunStatus, String) {
    let stop = state.stop().expect("the run stopped");
    (stop.status(), stop.reason().to_owned())
}

/// Code of each call, `ok` on success and nothing while it is open; in request order.
pub(crate) fn codes(state: &RunState) -> Vec<String> {
    RunResult::of(state)
        .calls
        .iter()
        .map(|call| match &call.code {
            Some(code) => code.word().to_owned(),
            None if call.ok => "ok".to_owned(),
            None => String::new(),
        })
        .collect()
}
