//! The driver: executes the machine's commands, appends events, decides nothing.

use std::sync::Arc;

use futures_util::future::join_all;
use lockgate_contract::event::{Body, Event, ModelFailed, ModelRequested, RunResumed};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::RunId;
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{Caller, Heard, Ids, JournalError, ModelAdapter, ModelError, ModelRequest};
use lockgate_contract::run::{Budget, RunKind};
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::Progress;
use lockgate_executor::{Gate, Observer, Released, Request, show};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::agent_run::AgentRun;
use crate::error::RunError;
use crate::live::Live;
use crate::plan::{Command, Facts, Planned, Verdict};
use crate::state::RunState;
use crate::stop::Stop;

/// Drives runs: one gate, one source of ids, and a model where agents run.
#[derive(Clone)]
pub struct Runner {
    pub(crate) gate: Arc<Gate>,
    pub(crate) ids: Arc<dyn Ids>,
    model: Option<Arc<dyn ModelAdapter>>,
    pub(crate) options: RunnerOptions,
}

/// How runs are driven.
#[derive(Clone)]
pub struct RunnerOptions {
    /// Reads of one turn that may run side by side; 1 keeps them in request order.
    pub parallel_reads: usize,
    /// Stops the run.
    pub cancel: CancellationToken,
    /// Lets the run go at the next place where nothing is under way, for somebody else to take up. Nothing is written for it,
    /// and nothing for a call whose driver is dropped from then on: whoever takes the run up recovers it.
    pub hand_over: CancellationToken,
    /// Sees every accepted event, in order.
    pub observer: Option<Observer>,
    /// Where tools say how far they are.
    pub progress: Option<Progress>,
    /// Hears the model while it speaks: for people to see, and nothing else. It is not scrubbed.
    pub heard: Option<Arc<Heard>>,
    /// The way back to whoever sent the calls, for tools that have more to say, or to ask.
    pub caller: Option<Arc<dyn Caller>>,
    /// Ties the events of the runs that it makes to each other with hashes.
    pub chain: bool,
}

impl Default for RunnerOptions {
    fn default() -> Self {
        Self {
            parallel_reads: 8,
            cancel: CancellationToken::new(),
            hand_over: CancellationToken::new(),
            observer: None,
            progress: None,
            heard: None,
            caller: None,
            chain: false,
        }
    }
}

/// How a run is taken up again.
#[derive(Debug, Clone, Default)]
pub struct Resume {
    /// Other limits from here on.
    pub budget: Option<Budget>,
}

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
    #[must_use]
    pub fn observed_by(&self, observer: Observer) -> Self {
        let before = self.options.observer.clone();
        let both: Observer = match before {
            None => observer,
            Some(before) => Arc::new(move |event| {
                show(&before, event);
                show(&observer, event);
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
        let model = self.model.as_ref().map(|model| model.name());
        let start = run.start(&self.gate, model);
        let live = self.create(start).await?;
        self.drive(live).await
    }

    /// Makes a run that nobody drives yet: whoever resumes it first begins it.
    pub async fn enqueue(&self, run: AgentRun) -> Result<RunState, RunError> {
        let model = self.model.as_ref().map(|model| model.name());
        Ok(self.create(run.start(&self.gate, model)).await?.state)
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
        RunState::fold(&self.events(run_id).await?).map_err(|cause| RunError::Fold { run: run_id.clone(), cause })
    }

    /// The events of a run that there is.
    pub(crate) async fn events(&self, run_id: &RunId) -> Result<Vec<Event>, RunError> {
        let events = self.gate.journal().events(run_id, 0).await?;
        if events.is_empty() {
            return Err(JournalError::NoSuchRun(run_id.clone()).into());
        }
        Ok(events)
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
                .find(|call| call.is_open())
                .and_then(|call| call.approval.as_ref())
                .is_none_or(|open| open.decided || now >= open.expires_at),
            Some(Stop::LimitReached(_)) => resume.budget.is_some(),
            // Each of them was reconciled since.
            Some(Stop::NeedsReconciliation(_)) => state.is_reconciled(),
            Some(Stop::Completed { .. } | Stop::Failed { .. } | Stop::Cancelled) => false,
        }
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
                if self.options.hand_over.is_cancelled() && live.can_be_left(&command) {
                    return Ok(live.state);
                }
                match command {
                    Command::CallModel { step } => self.call_model(&mut live, step).await?,
                    Command::RunCalls(planned) => self.run_calls(&mut live, planned).await?,
                    Command::Settle(verdicts) => self.settle(&mut live, verdicts).await?,
                    Command::Reconcile(planned) => self.ask_tool(&mut live, *planned).await?,
                    Command::Wait(until) => self.wait(&mut live, until).await,
                    Command::Stop(stop) => live.end(stop.event()).await?,
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
        reach(Point::TurnBefore);
        let left = live.state.deadline().since(self.gate.clock().now());
        let answer = tokio::select! {
            biased;
            answer = async {
                match &self.options.heard {
                    Some(heard) => model.stream(&request, &**heard).await,
                    None => model.respond(&request).await,
                }
            } => answer,
            // The machine sees the cancel for itself.
            () = self.options.cancel.cancelled() => return Ok(()),
            // The clock may have been set back meanwhile: the model is not asked a second time for that.
            () = tokio::time::sleep(left) => {
                live.known_past = live.state.deadline();
                return Ok(());
            }
        };
        match answer {
            Ok(response) if !live.state.reads_turn_of(response.calls.len()) => {
                let detail = format!("it asks for {} calls in one turn", response.calls.len());
                live.append_at(step, self.model_failed(&ModelError::InvalidResponse { detail })).await
            }
            Ok(response) => live.responded(step, response, &self.gate).await,
            Err(error) => live.append_at(step, self.model_failed(&error)).await,
        }
    }

    fn model_failed(&self, error: &ModelError) -> Body {
        let detail = self.gate.scrub(&error.to_string()).into_owned();
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
                Released::Settled(settlement) => live.expect_settled(&call_id, &settlement.settled().audit).await?,
                Released::Open(open) => {
                    live.expect_asked(&call_id, open.audit()).await?;
                    live.held.insert(call_id);
                }
                Released::Held => {
                    live.held.insert(call_id);
                }
                // The machine sees what became of it, and what comes next.
                Released::AttemptFailed | Released::Reopened => {}
                Released::Cancelled { started } => {
                    let code = if started { Code::Interrupted } else { Code::Cancelled };
                    self.settle_one(live, request, code, started, "the run was cancelled").await?;
                }
            }
        }
        Ok(())
    }

    /// Asks a tool what became of a call.
    async fn ask_tool(&self, live: &mut Live, planned: Planned) -> Result<(), RunError> {
        let request = live.request(planned);
        let call_id = request.call.call_id.clone();
        let released = self.gate.reconcile(request, &live.scope).await;
        live.absorb()?;
        match released {
            Released::Settled(settlement) => live.expect_settled(&call_id, &settlement.settled().audit).await,
            _ => Ok(()),
        }
    }

    /// Waits, unless the run is cancelled meanwhile.
    async fn wait(&self, live: &mut Live, until: Timestamp) {
        let left = until.since(self.gate.clock().now());
        tokio::select! {
            // The clock may have been set back meanwhile: it is not waited a second time for that.
            () = tokio::time::sleep(left) => live.known_past = until,
            // The machine sees the cancel for itself.
            () = self.options.cancel.cancelled() => {}
            () = self.options.hand_over.cancelled() => {}
        }
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
            Released::Settled(settlement) => live.expect_settled(&call_id, &settlement.settled().audit).await,
            _ => Ok(()),
        }
    }
}
