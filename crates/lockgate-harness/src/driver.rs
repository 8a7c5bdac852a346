//! The driver: executes the machine's commands, appends events, decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::{
    Audit, Body, Event, ModelFailed, ModelRequested, ModelResponded, NewEvent, RespondedCall, RunCancelled,
    RunCompleted, RunFailed, RunLimitReached, RunNeedsReconciliation, RunResumed, RunWaiting, Settled,
};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{
    Ids, JournalError, ModelAdapter, ModelError, ModelRequest, ModelResponse, NewRun, RunHold,
};
use lockgate_contract::run::{Budget, RunBinding, RunKind, RunStart};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::Progress;
use lockgate_executor::{Gate, Observer, Released, Request, RunLog, Scope};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::error::{FoldError, RunError};
use crate::plan::{Command, Facts, Planned, Verdict};
use crate::state::{Call, RunState, Stop};

/// Drives runs: one gate, one source of ids, and a model where agents run.
#[derive(Clone)]
pub struct Runner {
    pub(crate) gate: Arc<Gate>,
    pub(crate) ids: Arc<dyn Ids>,
    model: Option<Arc<dyn ModelAdapter>>,
    options: RunnerOptions,
}

/// How runs are driven.
#[derive(Clone)]
pub struct RunnerOptions {
    /// Reads of one turn that may run side by side; 1 keeps them in request order.
    pub parallel_reads: usize,
    /// Stops the run.
    pub cancel: CancellationToken,
    /// Sees every accepted event, in order.
    pub observer: Option<Observer>,
    /// Where tools say how far they are.
    pub progress: Option<Progress>,
}

impl Default for RunnerOptions {
    fn default() -> Self {
        Self { parallel_reads: 8, cancel: CancellationToken::new(), observer: None, progress: None }
    }
}

/// An agent's run that does not exist yet.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// What the user asks.
    pub task: String,
    /// Standing instructions for the model.
    pub system: Option<String>,
    /// On whose behalf.
    pub subject: Subject,
    /// The tools of the run.
    pub binding: RunBinding,
    /// Its limits.
    pub budget: Budget,
    /// What it does after an unknown effect.
    pub on_unknown: OnUnknown,
    /// The run file, as it was named.
    pub run_file: Option<String>,
}

/// How a run is taken up again.
#[derive(Debug, Clone, Default)]
pub struct Resume {
    /// Other limits from here on.
    pub budget: Option<Budget>,
}

/// A run in this process: its log, its state, and what only this driver knows.
pub(crate) struct Live {
    pub(crate) log: Arc<RunLog>,
    pub(crate) scope: Scope,
    pub(crate) state: RunState,
    /// Nobody else drives the run while this is here.
    _hold: RunHold,
    inbox: Inbox,
    /// A time that is known to be over, whatever the clock says.
    known_past: Timestamp,
    held: BTreeSet<CallId>,
    /// Argument texts as the model sent them; the journal's are scrubbed.
    raw: BTreeMap<CallId, String>,
    unredacted: BTreeSet<CallId>,
}

type Inbox = Arc<Mutex<Vec<Event>>>;

impl Runner {
    /// A runner for calls without a model.
    pub fn new(gate: Arc<Gate>, ids: Arc<dyn Ids>, options: RunnerOptions) -> Self {
        Self { gate, ids, model: None, options }
    }

    /// With a model, for agents.
    #[must_use]
    pub fn with_model(mut self, model: Arc<dyn ModelAdapter>) -> Self {
        self.model = Some(model);
        self
    }

    /// The same runner with another observer, beside the one it has.
    pub(crate) fn observed_by(&self, observer: Observer) -> Self {
        let before = self.options.observer.clone();
        let both: Observer = match before {
            None => observer,
            Some(before) => Arc::new(move |event| {
                before(event);
                observer(event);
            }),
        };
        Self { options: RunnerOptions { observer: Some(both), ..self.options.clone() }, ..self.clone() }
    }

    /// The gate.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// The token that stops this runner's runs.
    pub fn cancel(&self) -> &CancellationToken {
        &self.options.cancel
    }

    /// Starts a run and drives it until it stops.
    pub async fn start(&self, run: AgentRun) -> Result<RunState, RunError> {
        let scrub = |text: &str| self.gate.redactor().scrub(text).into_owned();
        let start = RunStart {
            kind: RunKind::Agent,
            task: Some(scrub(&run.task)),
            system: run.system.as_deref().map(scrub),
            subject: run.subject,
            binding: run.binding,
            budget: run.budget,
            on_unknown: run.on_unknown,
            model: self.model.as_ref().map(|model| model.name().to_owned()),
            run_file: run.run_file,
        };
        let live = self.create(start).await?;
        self.drive(live).await
    }

    /// Takes a run up again and drives it until it stops. A run that has ended, or that still waits, is left as it is.
    pub async fn resume(&self, run_id: &RunId, resume: Resume) -> Result<RunState, RunError> {
        let stored = self.state(run_id).await?;
        if let (RunKind::Direct, Some(Stop::WaitingForApproval(_))) = (stored.start().kind, stored.stop()) {
            let what = "is a direct call: send the call again with `--approval ID`";
            return Err(RunError::WrongKind { run: run_id.clone(), what });
        }
        if !self.can_go_on(&stored, &resume) {
            return Ok(stored);
        }
        let mut live = self.open(run_id).await?;
        if !self.can_go_on(&live.state, &resume) {
            // Somebody else drove it on meanwhile.
            return Ok(live.state);
        }
        if live.state.start().kind == RunKind::Direct {
            return self.take_up_direct(live).await;
        }
        live.append(Body::RunResumed(RunResumed { budget: resume.budget })).await?;
        self.drive(live).await
    }

    /// The state of a run as the journal has it.
    pub async fn state(&self, run_id: &RunId) -> Result<RunState, RunError> {
        let events = self.gate.journal().events(run_id, 0).await?;
        if events.is_empty() {
            return Err(JournalError::NoSuchRun(run_id.clone()).into());
        }
        RunState::fold(&events).map_err(|cause| RunError::Fold { run: run_id.clone(), cause })
    }

    /// Whether anything changed that lets a run go on.
    fn can_go_on(&self, state: &RunState, resume: &Resume) -> bool {
        let now = self.gate.clock().now();
        match state.stop() {
            // Its driver died.
            None => true,
            // Whatever else was decided waits behind the first open call.
            Some(Stop::WaitingForApproval(_)) => state
                .calls()
                .find(|call| call.settled.is_none())
                .and_then(|call| call.approval.as_ref())
                .is_none_or(|open| open.decided || now >= open.expires_at),
            Some(Stop::LimitReached(_)) => resume.budget.is_some(),
            Some(Stop::Completed { .. } | Stop::NeedsReconciliation(_) | Stop::Failed { .. } | Stop::Cancelled) => {
                false
            }
        }
    }

    pub(crate) async fn create(&self, start: RunStart) -> Result<Live, RunError> {
        let run_id = RunId::from_random(self.ids.random());
        let run = NewRun {
            run_id: run_id.clone(),
            tenant: start.subject.tenant.clone(),
            kind: start.kind,
            title: start.task.clone().unwrap_or_default(),
            started: NewEvent::new(0, None, Body::RunStarted(Box::new(start))),
        };
        let hold = self.hold(&run_id).await?;
        let events = self.gate.journal().create_run(run).await?;
        self.live(&run_id, &events, hold)
    }

    /// Takes a run over. Its events are read once nobody else drives it, so what they say is how it stands.
    pub(crate) async fn open(&self, run_id: &RunId) -> Result<Live, RunError> {
        let hold = self.hold(run_id).await?;
        let events = self.gate.journal().events(run_id, 0).await?;
        if events.is_empty() {
            return Err(JournalError::NoSuchRun(run_id.clone()).into());
        }
        self.live(run_id, &events, hold)
    }

    async fn hold(&self, run_id: &RunId) -> Result<RunHold, RunError> {
        self.gate.journal().hold(run_id).await?.ok_or_else(|| RunError::Busy(run_id.clone()))
    }

    /// Takes a run into this process, as of these events.
    fn live(&self, run_id: &RunId, events: &[Event], hold: RunHold) -> Result<Live, RunError> {
        let state = RunState::fold(events).map_err(|cause| RunError::Fold { run: run_id.clone(), cause })?;
        if let Some(observer) = &self.options.observer {
            events.iter().filter(|_| state.last_seq() == 1).for_each(|event| observer(event));
        }
        let inbox = Inbox::default();
        let observer: Observer = {
            let (inbox, outer) = (Arc::clone(&inbox), self.options.observer.clone());
            Arc::new(move |event| {
                inbox.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
                if let Some(outer) = &outer {
                    outer(event);
                }
            })
        };
        let log = Arc::new(RunLog::new(run_id.clone(), Arc::clone(self.gate.journal()), state.last_seq(), observer));
        let agent = state.start().kind == RunKind::Agent;
        let scope = Scope {
            log: Arc::clone(&log),
            subject: Arc::new(state.start().subject.clone()),
            allowed: Arc::new(state.start().binding.allowed.clone()),
            cancel: self.options.cancel.clone(),
            // The driver of an agent's run sets it, and moves it with the run's.
            deadline: None,
            progress: self.options.progress.clone(),
            stale_approval_settles: agent,
        };
        Ok(Live {
            log,
            scope,
            state,
            _hold: hold,
            inbox,
            known_past: Timestamp::default(),
            held: BTreeSet::new(),
            raw: BTreeMap::new(),
            unredacted: BTreeSet::new(),
        })
    }

    /// The loop: ask what comes next, do it, take in what the journal accepted.
    async fn drive(&self, mut live: Live) -> Result<RunState, RunError> {
        let span =
            tracing::info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent", run_id = %live.log.run_id());
        async {
            loop {
                live.scope.deadline = Some(live.state.deadline());
                let command = live.state.next(&Facts {
                    now: self.gate.clock().now().max(live.known_past),
                    cancelled: self.options.cancel.is_cancelled(),
                    held: &live.held,
                    unredacted: &live.unredacted,
                    parallel_reads: self.options.parallel_reads,
                });
                match command {
                    Command::CallModel { step } => self.call_model(&mut live, step).await?,
                    Command::RunCalls(planned) => self.run_calls(&mut live, planned).await?,
                    Command::Settle(verdicts) => self.settle(&mut live, verdicts).await?,
                    Command::Stop(stop) => live.append(stop_event(stop)).await?,
                    Command::Ended(_) => return Ok(live.state),
                }
            }
        }
        .instrument(span)
        .await
    }

    /// One model turn: request and response are events of their own.
    async fn call_model(&self, live: &mut Live, step: u32) -> Result<(), RunError> {
        let model = self.model.as_ref().ok_or_else(|| RunError::NoModel(live.log.run_id().clone()))?;
        let request = ModelRequest {
            step,
            messages: live.state.messages(),
            tools: self.gate.registry().definitions(&live.scope.allowed),
        };
        let requested = Body::ModelRequested(ModelRequested {
            messages: request.messages.len() as u64,
            tools: request.tools.len() as u64,
        });
        live.append_at(step, requested).await?;
        let left = live.state.deadline().since(self.gate.clock().now());
        let answer = tokio::select! {
            biased;
            answer = model.respond(&request) => answer,
            // The machine sees the cancel for itself.
            () = self.options.cancel.cancelled() => return Ok(()),
            // The clock may have been set back meanwhile: the model is not asked a second time for that.
            () = tokio::time::sleep(left) => {
                live.known_past = live.state.deadline();
                return Ok(());
            }
        };
        match answer {
            Ok(response) => live.responded(step, response, &self.gate).await,
            Err(error) => live.append_at(step, self.model_failed(&error)).await,
        }
    }

    fn model_failed(&self, error: &ModelError) -> Body {
        let detail = self.gate.redactor().scrub(&error.to_string()).into_owned();
        Body::ModelFailed(ModelFailed { reason: error.code().to_owned(), detail })
    }

    /// Takes calls to the gate, side by side where there are several.
    async fn run_calls(&self, live: &mut Live, planned: Vec<Planned>) -> Result<(), RunError> {
        let requests: Vec<Request> = planned.into_iter().map(|planned| live.request(planned)).collect();
        let calls: Vec<_> = requests.iter().map(|request| self.gate.call(request.clone(), &live.scope)).collect();
        let released = join_all(calls).await;
        live.absorb()?;
        for (request, released) in requests.into_iter().zip(released) {
            let call_id = request.call.call_id.clone();
            match released {
                Released::Settled(settlement) => live.expect_settled(&call_id, settlement.settled())?,
                Released::Open(open) => {
                    live.expect_asked(&call_id, open.audit()).await?;
                    live.held.insert(call_id);
                }
                Released::Held => {
                    live.held.insert(call_id);
                }
                Released::Cancelled { started } => {
                    let code = if started { Code::Interrupted } else { Code::Cancelled };
                    self.settle_one(live, request, code, started, "the run was cancelled").await?;
                }
            }
        }
        Ok(())
    }

    async fn settle(&self, live: &mut Live, verdicts: Vec<Verdict>) -> Result<(), RunError> {
        for Verdict { planned, code, started, why } in verdicts {
            let request = live.request(planned);
            self.settle_one(live, request, code, started, why).await?;
        }
        Ok(())
    }

    pub(crate) async fn settle_one(
        &self,
        live: &mut Live,
        mut request: Request,
        code: Code,
        started: bool,
        why: &str,
    ) -> Result<(), RunError> {
        let call_id = request.call.call_id.clone();
        // A call that the gate let go may have been recorded on its way.
        request.terms.requested_before |= live.call(&call_id).is_some_and(|call| call.requested);
        let released = self.gate.settle(request, code, started, why, &live.scope).await;
        live.absorb()?;
        match released {
            Released::Settled(settlement) => live.expect_settled(&call_id, settlement.settled()),
            Released::Open(_) | Released::Held | Released::Cancelled { .. } => Ok(()),
        }
    }
}

impl Live {
    pub(crate) async fn append(&mut self, body: Body) -> Result<(), RunError> {
        let step = self.state.steps().saturating_sub(1);
        self.append_at(step, body).await
    }

    async fn append_at(&mut self, step: u32, body: Body) -> Result<(), RunError> {
        self.log.append(vec![NewEvent::new(step, None, body)]).await?;
        self.absorb()
    }

    /// Takes in what the journal accepted.
    pub(crate) fn absorb(&mut self) -> Result<(), RunError> {
        let events = std::mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        for event in &events {
            self.state
                .apply(event)
                .map_err(|cause: FoldError| RunError::Fold { run: self.log.run_id().clone(), cause })?;
        }
        Ok(())
    }

    /// The model's turn is stored with the ids of its calls in one commit, so that no call is ever known by two ids.
    async fn responded(&mut self, step: u32, response: ModelResponse, gate: &Gate) -> Result<(), RunError> {
        let run_id = self.log.run_id().clone();
        let mut calls = Vec::with_capacity(response.calls.len());
        for (index, proposed) in (0..).zip(response.calls) {
            let call_id = run_id.call(step, index);
            let arguments_text = gate.scrub_arguments(&proposed.arguments_text);
            calls.push(RespondedCall {
                call_id: call_id.clone(),
                provider_call_id: gate.redactor().scrub(&proposed.provider_call_id).into_owned(),
                tool_name: gate.redactor().scrub(&proposed.name).into_owned(),
                redacted: arguments_text != proposed.arguments_text,
                arguments_text,
                language: proposed.language,
            });
            self.unredacted.insert(call_id.clone());
            self.raw.insert(call_id, proposed.arguments_text);
        }
        let text = response.text.map(|text| gate.redactor().scrub(&text).into_owned());
        let body = ModelResponded { text, calls, input_tokens: None, output_tokens: None }.with_usage(response.usage);
        self.append_at(step, Body::ModelResponded(body)).await
    }

    /// The request of a planned call, with its arguments as the model sent them where this process has them.
    fn request(&self, planned: Planned) -> Request {
        let Planned { mut call, terms } = planned;
        if let Some(raw) = self.raw.get(&call.call_id) {
            call.arguments_text.clone_from(raw);
        }
        Request { call, terms }
    }

    fn call(&self, call_id: &CallId) -> Option<&Call> {
        self.state.calls().find(|call| call.call_id == *call_id)
    }

    /// A result that is not in the journal is none: the run stops here rather than going round.
    fn expect_settled(&self, call_id: &CallId, settled: &Settled) -> Result<(), RunError> {
        if self.call(call_id).is_some_and(|call| call.settled.is_some()) {
            return Ok(());
        }
        Err(RunError::NotRecorded { call: call_id.clone(), detail: settled.audit.text.clone().unwrap_or_default() })
    }

    /// A question that somebody else opened meanwhile is read back: nobody waits for a question that is not known.
    async fn expect_asked(&mut self, call_id: &CallId, audit: &Audit) -> Result<(), RunError> {
        let asked = |live: &Self| live.call(call_id).is_some_and(|call| call.approval.is_some());
        if !asked(self) {
            self.log.catch_up().await?;
            self.absorb()?;
        }
        if asked(self) {
            return Ok(());
        }
        Err(RunError::NotRecorded { call: call_id.clone(), detail: audit.text.clone().unwrap_or_default() })
    }
}

pub(crate) fn stop_event(stop: Stop) -> Body {
    match stop {
        Stop::Completed { reason, answer, completed_by } => {
            Body::RunCompleted(RunCompleted { reason: reason.to_owned(), answer, completed_by })
        }
        Stop::LimitReached(limit) => Body::RunLimitReached(RunLimitReached { limit }),
        Stop::WaitingForApproval(approvals) => Body::RunWaiting(RunWaiting { approvals }),
        Stop::NeedsReconciliation(calls) => Body::RunNeedsReconciliation(RunNeedsReconciliation { calls }),
        Stop::Failed { reason, detail } => Body::RunFailed(RunFailed { reason, detail }),
        Stop::Cancelled => Body::RunCancelled(RunCancelled {}),
    }
}
