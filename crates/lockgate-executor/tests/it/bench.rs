//! A gate on a test bench: tools that count, a journal that fails when it is told to, a clock that only the test moves.

mod faulty_journal;
mod policy;
mod tools;

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::approval::ApprovalState;
use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Body, Event, EventType, NewEvent, Settled};
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::observation::SyntheticObservations;
use lockgate_contract::ports::{ApprovalFilter, Clock, Decision, Journal, Lease, NewRun, NoRedaction, Redactor};
use lockgate_contract::run::RunKind;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;
use lockgate_executor::{Dispatch, Gate, GateOptions, Open, Released, Request, RunLog, Scope, Settlement, Terms, Veto};
use lockgate_journal::MemoryJournal;
use lockgate_redact::{ScrubberBuilder, SecretValue};
use lockgate_registry::Registry;

pub(crate) use faulty_journal::{Fault, FaultyJournal, Method, reached};
pub(crate) use policy::{Answer, ScriptedPolicy};
pub(crate) use tools::{EFFECTS, answering, failing, pending, tool, with_handler};

/// Time that only the test moves.
pub(crate) struct ManualClock(AtomicI64);

pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

impl ManualClock {
    pub(crate) fn pass(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.now().since(START)
    }
}

/// How often each stage's own part was entered.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) pre_check: AtomicUsize,
    pub(crate) harmless: AtomicUsize,
    pub(crate) policy: AtomicUsize,
    pub(crate) handler: AtomicUsize,
    /// Answers that a handler gave.
    pub(crate) output: AtomicUsize,
}

pub(crate) fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

pub(crate) fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::SeqCst);
}

/// What a bench is built from.
pub(crate) struct Setup {
    pub(crate) counters: Arc<Counters>,
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) policy: Answer,
    pub(crate) redactor: Arc<dyn Redactor>,
    pub(crate) options: GateOptions,
    pub(crate) observations: SyntheticObservations,
    pub(crate) dispatch: Option<Dispatch>,
    /// The names that the run may call; `None` means all.
    pub(crate) allowed: Option<Vec<&'static str>>,
    pub(crate) vetoes: Vec<Veto>,
}

impl Setup {
    /// A setup whose tools are made with the counters that they count in.
    pub(crate) fn new(specs: impl FnOnce(&Arc<Counters>) -> Vec<ToolSpec>) -> Self {
        let counters = Arc::default();
        Self {
            specs: specs(&counters),
            counters,
            policy: Answer::Native,
            redactor: Arc::new(NoRedaction),
            options: GateOptions::default(),
            observations: SyntheticObservations::new(),
            dispatch: None,
            allowed: None,
            vetoes: Vec::new(),
        }
    }

    pub(crate) fn policy(mut self, answer: Answer) -> Self {
        self.policy = answer;
        self
    }

    pub(crate) fn veto(mut self, veto: Veto) -> Self {
        self.vetoes.push(veto);
        self
    }

    pub(crate) fn redactor(mut self, redactor: impl Redactor + 'static) -> Self {
        self.redactor = Arc::new(redactor);
        self
    }

    /// With the real scrubber, which knows [`CANARY`].
    pub(crate) fn scrubbing(self) -> Self {
        let mut builder = ScrubberBuilder::new();
        builder.secret("CANARY", SecretValue::new(CANARY)).unwrap();
        self.redactor(builder.build().unwrap())
    }

    pub(crate) fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.options.max_output_bytes = bytes;
        self
    }

    pub(crate) async fn build(self) -> Bench {
        let registry = Arc::new(Registry::default());
        for spec in self.specs {
            registry.register(spec).unwrap();
        }
        let clock = Arc::new(ManualClock(AtomicI64::new(START.as_millis())));
        let journal = Arc::new(FaultyJournal::over(MemoryJournal::new(clock.clone())));
        let policy = Arc::new(ScriptedPolicy::new(self.policy, Arc::clone(&self.counters)));
        let mut builder = Gate::builder(Arc::clone(&registry), policy, journal.clone(), self.redactor, clock.clone())
            .options(self.options)
            .observations(self.observations);
        if let Some(dispatch) = self.dispatch {
            builder = builder.dispatch(dispatch);
        }
        for veto in self.vetoes {
            builder = builder.veto(veto);
        }
        let subject = Subject::default();
        let tools = registry.tools();
        let names = |name: &str| self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&name));
        let allowed = AllowedTools::new(
            subject.source(),
            tools
                .iter()
                .filter(|tool| names(tool.spec().name()))
                .map(|tool| (tool.spec().name().to_owned(), tool.spec().definition())),
        );
        let seen: Arc<Mutex<Vec<Event>>> = Arc::default();
        let observer = Arc::clone(&seen);
        let run_id = RunId::new("run-0123456789ab");
        create_run(&*journal, &run_id).await;
        let log = RunLog::new(
            Lease::first(run_id.clone()),
            journal.clone(),
            1,
            Arc::new(move |event: &Event| observer.lock().unwrap().push(event.clone())),
        );
        Bench {
            gate: builder.build().unwrap(),
            scope: Scope::new(Arc::new(log), Arc::new(subject), Arc::new(allowed)),
            registry,
            journal,
            clock,
            counters: self.counters,
            seen,
            run_id,
            calls: AtomicU32::new(0),
        }
    }
}

/// A secret that the scrubber of [`Setup::scrubbing`] knows.
pub(crate) const CANARY: &str = "canary/Yellow+\"Bird\"?77";

/// A gate, one run, and everything that can be watched about them.
pub(crate) struct Bench {
    pub(crate) gate: Gate,
    pub(crate) scope: Scope,
    pub(crate) registry: Arc<Registry>,
    pub(crate) journal: Arc<FaultyJournal>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) counters: Arc<Counters>,
    /// What the run's observer saw.
    pub(crate) seen: Arc<Mutex<Vec<Event>>>,
    pub(crate) run_id: RunId,
    calls: AtomicU32,
}

impl Bench {
    /// A request under the run's next call id.
    pub(crate) fn request(&self, tool: &str, arguments: &str) -> Request {
        let index = self.calls.fetch_add(1, Ordering::SeqCst);
        let call = ToolCall {
            call_id: self.run_id.call(0, index),
            step: 0,
            parent: None,
            provider_call_id: format!("provider-{index}"),
            tool_name: tool.to_owned(),
            arguments_text: arguments.to_owned(),
            language: ActionLanguage::Call,
        };
        Request { call, terms: Terms::default() }
    }

    pub(crate) async fn send(&self, request: &Request) -> Released {
        self.gate.call(request.clone(), &self.scope).await
    }

    /// Calls a tool with `{}`, once, and takes the settlement.
    pub(crate) async fn call(&self, tool: &str) -> Settlement {
        settlement(self.send(&self.request(tool, "{}")).await)
    }

    /// Opens the question of a request.
    pub(crate) async fn ask(&self, request: &Request) -> Open {
        match self.send(request).await {
            Released::Open(open) => *open,
            other => panic!("no question was opened: {other:?}"),
        }
    }

    pub(crate) async fn decide(&self, approval: &ApprovalId, answer: ApprovalState) {
        let decision = Decision::new(approval.clone(), answer, "alice");
        self.journal.decide(decision).await.unwrap();
    }

    /// A request that was asked for and approved, ready to be sent again.
    pub(crate) async fn approved(&self, tool: &str) -> Request {
        let mut request = self.request(tool, "{}");
        let open = self.ask(&request).await;
        self.decide(open.approval_id(), ApprovalState::Granted).await;
        request.terms.requested_before = true;
        request
    }

    /// The same run, driven on by a process whose operator says other things.
    pub(crate) fn resume_under(&mut self, options: GateOptions) {
        let policy = Arc::new(ScriptedPolicy::new(Answer::Native, Arc::clone(&self.counters)));
        let redactor = Arc::clone(self.gate.redactor());
        let builder =
            Gate::builder(Arc::clone(&self.registry), policy, self.journal.clone(), redactor, self.clock.clone());
        self.gate = builder.options(options).build().unwrap();
    }

    pub(crate) fn handler_count(&self) -> usize {
        count(&self.counters.handler)
    }

    /// The run's events after `run.started`, read past every fault.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.journal.inner().events(&self.run_id, 1).await.unwrap()
    }

    pub(crate) async fn kinds(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event.kind.word().to_owned()).collect()
    }

    /// The endings of a call that stand in the journal.
    pub(crate) async fn endings(&self, call: &CallId) -> Vec<Settled> {
        self.events()
            .await
            .iter()
            .filter(|event| event.call_id.as_ref() == Some(call))
            .filter_map(|event| match event.body().unwrap() {
                Body::Settled(settled) => Some(Arc::unwrap_or_clone(settled)),
                _ => None,
            })
            .collect()
    }

    /// The one ending of a call.
    pub(crate) async fn ending(&self, call: &CallId) -> Settled {
        let mut endings = self.endings(call).await;
        assert_eq!(endings.len(), 1, "{call} must end exactly once: {endings:#?}");
        endings.remove(0)
    }

    /// Everything of the run that is stored, as one text.
    pub(crate) async fn stored_text(&self) -> String {
        let events = self.events().await;
        let approvals = self.journal.inner().approvals(ApprovalFilter::default()).await.unwrap();
        let approvals: Vec<&str> = approvals.iter().flat_map(|one| [one.arguments.text(), &*one.shown_text]).collect();
        let events: Vec<&str> = events.iter().map(|event| event.data.text()).collect();
        format!("{}\n{}", events.join("\n"), approvals.join("\n"))
    }
}

pub(crate) async fn create_run(journal: &dyn Journal, run_id: &RunId) {
    let started = NewEvent {
        kind: EventType::RunStarted,
        step: 0,
        call_id: None,
        data: Document::parse("{}", Limits::OWN).unwrap().into(),
    };
    let run = NewRun {
        run_id: run_id.clone(),
        tenant: "default".to_owned(),
        kind: RunKind::Agent,
        title: String::new(),
        chained: false,
        started,
    };
    journal.create_run(run).await.unwrap();
}

pub(crate) fn settlement(released: Released) -> Settlement {
    match released {
        Released::Settled(settlement) => *settlement,
        other => panic!("the call is not settled: {other:?}"),
    }
}

/// The code of a call, `ok` on success.
pub(crate) fn word(released: &Released) -> String {
    match released {
        Released::Settled(settlement) => code(settlement).to_owned(),
        Released::Open(open) => open.result().code().unwrap().word().to_owned(),
        other => format!("{other:?}"),
    }
}

/// The code of a settlement; `ok` for a success.
pub(crate) fn code(settlement: &Settlement) -> &str {
    settlement.result().code().map_or("ok", |code| code.word())
}

/// The word of an effect names the bench's tool with that effect.
pub(crate) fn named(effect: Effect) -> &'static str {
    effect.word()
}
