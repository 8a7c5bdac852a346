//! Runs that the product itself writes, on a journal in which other processes meddle: they decide approvals, let time pass,
//! cancel, kill the driver, or break the disk, before any write.

mod journal;
mod tools;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::Event;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{
    ApprovalFilter, BoxFuture, Clock, Decision, Ids, Journal, ModelAdapter, ModelError, ModelRequest, ModelResponse,
    ProposedCall, Redactor,
};
use lockgate_contract::run::{Budget, RunBinding};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_executor::{Dispatch, Gate};
use lockgate_policy::NativePolicy;
use lockgate_redact::{Scrubber, ScrubberBuilder, SecretValue};
use lockgate_registry::Registry;
use tokio_util::sync::CancellationToken;

pub(super) use self::journal::{MeddledJournal, Meddling};
pub(super) use self::tools::{ALLOWED, HIDDEN, SECRET};
use self::tools::{OwnExecutor, specs, stops_with};
use crate::{AgentRun, DirectCall, Resume, Runner, RunnerOptions};

/// When every run begins.
pub(super) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// The name of what is no tool call.
pub(super) const PYTHON: &str = "python";

/// Time that moves a little with every write, and otherwise when it is told to.
pub(super) struct TestClock(AtomicI64);

impl TestClock {
    pub(super) fn pass(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.now().since(START)
    }
}

struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Built once: compiling schemas is the slowest part of a bench.
static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let registry = Registry::default();
    for spec in specs() {
        registry.register(spec).unwrap();
    }
    Arc::new(registry)
});

/// Built once, as the registry is.
static REDACTOR: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    let mut builder = ScrubberBuilder::new();
    builder.secret("canary", SecretValue::new(SECRET)).unwrap();
    Arc::new(builder.build().unwrap())
});

/// One model turn.
#[derive(Debug, Clone)]
pub(super) enum TurnPlan {
    /// It answers: text, and calls as name and argument text; what is called [`PYTHON`] is code.
    Answers(Option<String>, Vec<(String, String)>),
    /// It fails.
    Fails,
    /// It never answers.
    Hangs,
}

struct PlannedModel(Vec<TurnPlan>);

impl ModelAdapter for PlannedModel {
    fn name(&self) -> &'static str {
        "planned"
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            match self.0.get(request.step as usize) {
                None => Err(ModelError::ScriptExhausted),
                Some(TurnPlan::Fails) => {
                    Err(ModelError::Overloaded { detail: "too many".to_owned(), retry_after: None })
                }
                Some(TurnPlan::Hangs) => std::future::pending().await,
                Some(TurnPlan::Answers(text, calls)) => Ok(ModelResponse {
                    text: text.clone(),
                    calls: (0..)
                        .zip(calls)
                        .map(|(index, (name, arguments_text))| ProposedCall {
                            provider_call_id: format!("p{index}"),
                            name: name.clone(),
                            arguments_text: arguments_text.clone(),
                            language: if name == PYTHON { ActionLanguage::Code } else { ActionLanguage::Call },
                        })
                        .collect(),
                    ..ModelResponse::default()
                }),
            }
        })
    }
}

/// What a bench is built from.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) turns: Vec<TurnPlan>,
    pub(super) budget: Budget,
    pub(super) on_unknown: OnUnknown,
    pub(super) parallel_reads: usize,
    pub(super) ask_always: bool,
    pub(super) own_executor: bool,
    pub(super) chain: bool,
    pub(super) meddlings: Vec<Meddling>,
    /// The random bits of the first run's id.
    pub(super) first_id: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            turns: Vec::new(),
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            parallel_reads: 4,
            ask_always: false,
            own_executor: false,
            chain: false,
            meddlings: Vec::new(),
            first_id: 0xa11ce,
        }
    }
}

/// A journal with one run, and everything that drives it.
pub(super) struct Bench {
    setup: Setup,
    pub(super) clock: Arc<TestClock>,
    pub(super) journal: Arc<MeddledJournal>,
    gate: Arc<Gate>,
    ids: Arc<CountedIds>,
    binding: RunBinding,
    run_id: RunId,
}

impl Bench {
    pub(super) fn new(setup: Setup) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(START.as_millis())));
        let journal = Arc::new(MeddledJournal::new(Arc::clone(&clock), setup.meddlings.clone()));
        let registry = Arc::clone(&REGISTRY);
        let allow = ALLOWED.map(str::to_owned);
        let binding = registry.discover(&Subject::default()).only(&allow).bind();
        let policy = if setup.ask_always { NativePolicy::new().ask_always() } else { NativePolicy::new() };
        let redactor = Arc::clone(&REDACTOR) as Arc<dyn Redactor>;
        let mut builder = Gate::builder(
            registry,
            Arc::new(policy),
            Arc::clone(&journal) as Arc<dyn Journal>,
            redactor,
            clock.clone(),
        );
        if setup.own_executor {
            builder = builder.dispatch(Dispatch::Own(Arc::new(OwnExecutor)));
        }
        let gate = Arc::new(builder.build().unwrap());
        let run_id = RunId::from_random(setup.first_id);
        let ids = Arc::new(CountedIds(AtomicU64::new(setup.first_id)));
        Self { setup, clock, journal, gate, ids, binding, run_id }
    }

    /// A runner of a new process.
    fn runner(&self) -> Runner {
        let cancel = CancellationToken::new();
        stops_with(&cancel);
        let options = RunnerOptions {
            parallel_reads: self.setup.parallel_reads,
            chain: self.setup.chain,
            cancel,
            ..RunnerOptions::default()
        };
        Runner::new(Arc::clone(&self.gate), Arc::clone(&self.ids) as Arc<dyn Ids>, options)
            .with_model(Arc::new(PlannedModel(self.setup.turns.clone())))
    }

    /// Starts the run and drives it until it stops, its journal fails, or its driver is killed.
    pub(super) async fn start(&self) {
        let run = AgentRun {
            system: Some("be brief".to_owned()),
            budget: self.setup.budget.clone(),
            on_unknown: self.setup.on_unknown,
            ..AgentRun::new("a task", Subject::default(), self.binding.clone())
        };
        let runner = self.runner();
        self.journal.drive(Box::pin(async move { drop(runner.start(run).await) })).await;
    }

    /// Takes the run up again in another process.
    pub(super) async fn resume(&self, budget: Option<Budget>) {
        let runner = self.runner();
        let run_id = self.run_id.clone();
        self.journal.drive(Box::pin(async move { drop(runner.resume(&run_id, Resume { budget }).await) })).await;
    }

    /// Sends one call without a model.
    pub(super) async fn call(&self, tool_name: &str, arguments: &str, approval: Option<ApprovalId>) {
        let direct =
            DirectCall { approval, ..DirectCall::new(Subject::default(), self.binding.clone(), tool_name, arguments) };
        let runner = self.runner();
        self.journal.drive(Box::pin(async move { drop(runner.call(direct).await) })).await;
    }

    /// Decides everything that waits.
    pub(super) async fn decide(&self, answer: ApprovalState) {
        for approval in self.approvals().await {
            let decision = Decision::new(approval, answer, "alice");
            drop(self.journal.inner().decide(decision).await);
        }
    }

    pub(super) async fn approvals(&self) -> Vec<ApprovalId> {
        let approvals = self.journal.inner().approvals(ApprovalFilter::default()).await.unwrap();
        approvals.into_iter().map(|approval| approval.approval_id).collect()
    }

    /// What the journal holds of the run; nothing where it was never made.
    pub(super) async fn events(&self) -> Vec<Event> {
        self.journal.inner().events(&self.run_id, 0).await.unwrap_or_default()
    }
}

/// Drives a bench on a clock that jumps to the next time-out.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(future)
}

/// A model turn with these calls.
pub(super) fn calls(calls: &[(&str, &str)]) -> TurnPlan {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned()));
    TurnPlan::Answers(None, calls.collect())
}

/// The model's last turn.
pub(super) fn says(text: &str) -> TurnPlan {
    TurnPlan::Answers(Some(text.to_owned()), Vec::new())
}
