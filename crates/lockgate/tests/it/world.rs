//! A small world around the gate: tools that note what reached them, a model that says what a test says, a clock that a
//! test sets. Everything else is the product, put together as an embedding program does it.

mod act;
mod ran;
mod script;
mod set_clock;

use std::sync::Mutex;

use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::arguments::Arguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::effect::OnUnknown;
use lockgate::contract::event::Event;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{ApprovalFilter, Clock, Decision, DecisionRefused, ModelRequest, ProposedCall};
use lockgate::harness::{DirectAnswer, Resume, RunError, RunState};
use lockgate::prelude::*;
use tempfile::TempDir;

pub(super) use self::act::{Act, at_once, echo, in_time, raw};
pub(super) use self::ran::{Ran, check_events, code_of};
use self::script::Script;
pub(super) use self::script::Turn;
use self::set_clock::SetClock;

/// Everything that one run needs. The fields are what tests turn.
#[derive(Clone)]
pub(super) struct World {
    pub(super) registry: Arc<Registry>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) policy: Arc<dyn PolicyEngine>,
    pub(super) redactor: Arc<dyn Redactor>,
    pub(super) clock: Arc<SetClock>,
    pub(super) options: GateOptions,
    pub(super) runner: RunnerOptions,
    pub(super) subject: Subject,
    pub(super) budget: Budget,
    pub(super) on_unknown: OnUnknown,
    pub(super) allow: Option<Vec<String>>,
    /// What the user asks.
    pub(super) task: String,
    /// Another model than the scripted one.
    pub(super) model: Option<Arc<dyn ModelAdapter>>,
    /// What the models were asked, by this world and the ones made from it.
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    /// What reached the handlers, in the order in which they were entered.
    entries: Arc<Mutex<Vec<Entry>>>,
    folder: Option<Arc<TempDir>>,
}

/// One entering of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The very text of the arguments.
    pub(super) arguments: String,
    pub(super) idempotency_key: String,
}

impl World {
    /// A world that is gone with the test.
    pub(super) fn in_memory() -> Self {
        let clock = Arc::new(SetClock::default());
        Self {
            registry: Arc::new(Registry::default()),
            journal: open_journal("memory:", Arc::clone(&clock) as Arc<dyn Clock>).unwrap(),
            policy: Arc::new(NativePolicy::new()),
            redactor: Arc::new(ScrubberBuilder::new().build().unwrap()),
            clock,
            options: GateOptions::default(),
            runner: RunnerOptions::default(),
            subject: Subject::default(),
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            allow: None,
            task: "Do it.".to_owned(),
            model: None,
            requests: Arc::default(),
            entries: Arc::default(),
            folder: None,
        }
    }

    /// A world whose journal is a file.
    pub(super) fn on_disk() -> Self {
        let mut world = Self::in_memory();
        world.folder = Some(Arc::new(tempfile::tempdir().unwrap()));
        world.journal = world.reopened();
        world
    }

    /// One world of each kind.
    pub(super) fn of_each_kind() -> [Self; 2] {
        [Self::in_memory(), Self::on_disk()]
    }

    /// The same tools, and the journal as another process finds it.
    pub(super) fn restarted(&self) -> Self {
        Self { journal: self.reopened(), ..self.clone() }
    }

    fn reopened(&self) -> Arc<dyn Journal> {
        match &self.folder {
            None => Arc::clone(&self.journal),
            Some(folder) => {
                let url = format!("sqlite:{}", folder.path().join(FILE).display());
                open_journal(&url, Arc::clone(&self.clock) as Arc<dyn Clock>).unwrap()
            }
        }
    }

    /// From now on, keeps what a SIGKILL right behind the first such event would leave on the disk.
    pub(super) fn killed_behind(&mut self, last: impl Fn(&Event) -> bool + Send + Sync + 'static) {
        let source = Arc::clone(self.folder.as_ref().unwrap());
        let target = Arc::new(tempfile::tempdir().unwrap());
        self.folder = Some(Arc::clone(&target));
        let taken = Mutex::new(false);
        self.runner.observer = Some(Arc::new(move |event: &Event| {
            let mut taken = taken.lock().unwrap();
            if !*taken && last(event) {
                *taken = true;
                // The log before the file: what a checkpoint moves from one to the other in between is then in both.
                for name in [format!("{FILE}-wal"), FILE.to_owned()] {
                    let (from, to) = (source.path().join(&name), target.path().join(&name));
                    std::fs::copy(from, to).unwrap();
                }
            }
        }));
    }

    /// The world after that kill: another process, which finds what was kept.
    pub(super) fn after_the_kill(&self) -> Self {
        let folder = self.folder.as_ref().unwrap().path();
        assert!(folder.join(FILE).exists(), "the event behind which the process was to be killed never came");
        self.entries.lock().unwrap().clear();
        self.restarted().with_runner(RunnerOptions::default())
    }

    /// The same, driven otherwise.
    pub(super) fn with_runner(self, runner: RunnerOptions) -> Self {
        Self { runner, ..self }
    }

    /// The same with an empty registry of these rules.
    pub(super) fn with_rules(self, rules: RegistryRules) -> Self {
        Self { registry: Arc::new(Registry::new(rules)), ..self }
    }

    /// Registers a tool whose handler notes its entering and then acts.
    pub(super) fn add(&self, builder: lockgate::ToolSpecBuilder, act: Act) {
        self.registry.register(self.spec(builder, act)).unwrap();
    }

    /// A tool whose handler notes its entering and then acts.
    pub(super) fn spec(&self, builder: lockgate::ToolSpecBuilder, act: Act) -> ToolSpec {
        builder.handler(self.handler(act)).build().unwrap()
    }

    /// A handler that notes its entering, and then acts.
    pub(super) fn handler(&self, act: Act) -> Handler {
        let entries = Arc::clone(&self.entries);
        Handler::untyped(move |arguments: Arguments, context: ToolContext| {
            entries.lock().unwrap().push(Entry {
                arguments: arguments.text().to_owned(),
                idempotency_key: context.idempotency_key.to_string(),
            });
            act(arguments, context)
        })
    }

    /// The argument texts that reached handlers, in order.
    pub(super) fn entered(&self) -> Vec<String> {
        self.entries.lock().unwrap().iter().map(|entry| entry.arguments.clone()).collect()
    }

    /// The idempotency keys that handlers were given, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        self.entries.lock().unwrap().iter().map(|entry| entry.idempotency_key.clone()).collect()
    }

    /// What the models were asked.
    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The runner of this world, with a model that says these turns.
    pub(super) fn runner(&self, turns: Vec<Turn>) -> Runner {
        let gate = Gate::builder(
            Arc::clone(&self.registry),
            Arc::clone(&self.policy),
            Arc::clone(&self.journal),
            Arc::clone(&self.redactor),
            Arc::clone(&self.clock) as Arc<dyn Clock>,
        );
        let gate = gate.options(self.options.clone()).build().unwrap();
        let script = Script { turns, requests: Arc::clone(&self.requests) };
        let model = self.model.clone().unwrap_or_else(|| Arc::new(script));
        Runner::new(Arc::new(gate), Arc::new(RandomIds), self.runner.clone()).with_model(model)
    }

    /// What the subject may call now.
    pub(super) fn binding(&self) -> lockgate::contract::run::RunBinding {
        let discovery = self.registry.discover(&self.subject);
        match &self.allow {
            None => discovery.bind(),
            Some(allow) => discovery.only(allow).bind(),
        }
    }

    /// The run that this world starts.
    pub(super) fn agent_run(&self) -> AgentRun {
        let run = AgentRun::new(&self.task, self.subject.clone(), self.binding());
        AgentRun { budget: self.budget.clone(), on_unknown: self.on_unknown, ..run }
    }

    /// Drives a run whose first model turn asks for these calls.
    pub(super) async fn run(&self, calls: Vec<ProposedCall>) -> Ran {
        self.run_turns(vec![Turn::Calls(calls)]).await
    }

    /// Drives a run over these turns.
    pub(super) async fn run_turns(&self, turns: Vec<Turn>) -> Ran {
        let state = self.runner(turns).start(self.agent_run()).await.unwrap();
        self.ran(state).await
    }

    /// Takes a run up again; the model has nothing more to ask for.
    pub(super) async fn resume(&self, run: &RunId) -> Ran {
        self.try_resume(run).await.unwrap()
    }

    pub(super) async fn try_resume(&self, run: &RunId) -> Result<Ran, RunError> {
        let state = self.runner(Vec::new()).resume(run, Resume::default()).await?;
        Ok(self.ran(state).await)
    }

    async fn ran(&self, state: RunState) -> Ran {
        let events = self.journal.events(state.run_id(), 0).await.unwrap();
        check_events(&events);
        let folded = RunState::fold(&events).unwrap();
        assert_eq!(format!("{:?}", folded.messages()), format!("{:?}", state.messages()), "the journal is the truth");
        Ran { result: RunResult::of(&state).with_messages(&state), state, events }
    }

    /// One call without a model.
    pub(super) async fn direct(&self, name: &str, arguments: &str) -> DirectAnswer {
        self.direct_with(name, arguments, None).await
    }

    /// One call without a model, with the question that it goes on from.
    pub(super) async fn direct_with(&self, name: &str, arguments: &str, approval: Option<&Approval>) -> DirectAnswer {
        let mut call = DirectCall::new(self.subject.clone(), self.binding(), name, arguments);
        call.approval = approval.map(|approval| approval.approval_id.clone());
        let answer = self.runner(Vec::new()).call(call).await.unwrap();
        check_events(&self.journal.events(&answer.run_id, 0).await.unwrap());
        answer
    }

    /// The questions of a run, in the order in which they were asked.
    pub(super) async fn questions(&self, run: &RunId) -> Vec<Approval> {
        let filter = ApprovalFilter { run_id: Some(run.clone()), ..ApprovalFilter::default() };
        self.journal.approvals(filter).await.unwrap()
    }

    /// A person answers, having been shown what is bound.
    pub(super) async fn answer(&self, question: &Approval, answer: ApprovalState) -> Result<Approval, DecisionRefused> {
        self.answer_shown(question, answer, question.digest).await
    }

    /// A person answers, having been shown this.
    pub(super) async fn answer_shown(
        &self,
        question: &Approval,
        answer: ApprovalState,
        shown: Digest,
    ) -> Result<Approval, DecisionRefused> {
        let decision =
            Decision { digest: Some(shown), ..Decision::new(question.approval_id.clone(), answer, "reviewer") };
        self.journal.decide(decision).await
    }
}

const FILE: &str = "journal.db";
