//! A run that is being driven in this process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use lockgate_contract::event::{Audit, Body, Event, ModelResponded, NewEvent, RespondedCall, signed_with};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{ModelResponse, NewRun, ProviderItem, RunHold};
use lockgate_contract::run::{RunKind, RunStart};
use lockgate_contract::time::Timestamp;
use lockgate_executor::{Gate, Observer, Request, RunLog, Scope, show};

use crate::direct::ends_with_its_call;
use crate::driver::Runner;
use crate::error::RunError;
use crate::plan::{Command, Planned};
use crate::state::RunState;
use crate::turn::Call;

/// A run in this process: its log, its state, and what only this driver knows.
pub(crate) struct Live {
    pub(crate) log: Arc<RunLog>,
    pub(crate) scope: Scope,
    pub(crate) state: RunState,
    /// Nobody else drives the run while this is here.
    _hold: RunHold,
    inbox: Inbox,
    /// A time that is known to be over, whatever the clock says.
    pub(crate) known_past: Timestamp,
    /// Calls that the gate left open or held.
    pub(crate) held: BTreeSet<CallId>,
    /// Argument texts as the model sent them; the journal's are scrubbed.
    raw: BTreeMap<CallId, String>,
    /// The calls that have one.
    pub(crate) unredacted: BTreeSet<CallId>,
}

type Inbox = Arc<Mutex<Vec<Event>>>;

impl Runner {
    /// Makes a run, and nobody else can have it.
    pub(crate) async fn create(&self, mut start: RunStart) -> Result<Live, RunError> {
        start.chained = self.options.chain;
        let run_id = RunId::from_random(self.ids.random());
        let (hold, events) = self.gate.journal().create_run(NewRun::new(run_id.clone(), start)).await?;
        reach(Point::RunCreated);
        self.live(&run_id, &events, hold)
    }

    /// Takes a run over. Its events are read once nobody else drives it, so what they say is how it stands.
    pub(crate) async fn open(&self, run_id: &RunId) -> Result<Live, RunError> {
        let hold = self.gate.journal().hold(run_id).await?.ok_or_else(|| RunError::Busy(run_id.clone()))?;
        reach(Point::RunHeld);
        let events = self.events(run_id).await?;
        if let Some(key) = signed_with(&events).filter(|_| !hold.signs()) {
            // Its decisions would be signed up to here, and not from here on.
            return Err(RunError::Signed { run: run_id.clone(), key });
        }
        self.live(run_id, &events, hold)
    }

    /// Takes a run into this process, as of these events.
    fn live(&self, run_id: &RunId, events: &[Event], hold: RunHold) -> Result<Live, RunError> {
        let state = RunState::fold(events).map_err(|cause| RunError::Fold { run: run_id.clone(), cause })?;
        if let Some(observer) = &self.options.observer {
            // The driver's own first event. Those of a run that was there already were seen when they were written.
            events.last().into_iter().for_each(|event| show(observer, event));
        }
        let inbox = Inbox::default();
        let observer: Observer = {
            let (inbox, outer) = (Arc::clone(&inbox), self.options.observer.clone());
            Arc::new(move |event| {
                inbox.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
                if let Some(outer) = &outer {
                    show(outer, event);
                }
            })
        };
        let log =
            Arc::new(RunLog::new(hold.lease().clone(), Arc::clone(self.gate.journal()), state.last_seq(), observer));
        let start = state.start();
        let (subject, allowed) = (Arc::new(start.subject.clone()), Arc::new(start.binding.allowed.clone()));
        let scope = Scope {
            cancel: self.options.cancel.clone(),
            hand_over: self.options.hand_over.clone(),
            progress: self.options.progress.clone(),
            caller: self.options.caller.clone(),
            // The driver of an agent's run sets the deadline, and moves it with the run's.
            stale_approval_settles: start.kind == RunKind::Agent,
            then: (start.kind == RunKind::Direct).then_some(ends_with_its_call),
            ..Scope::new(Arc::clone(&log), subject, allowed)
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
}

impl Live {
    /// Whether another driver would do this next as well as this one: it has all that this one knows.
    pub(crate) fn can_be_left(&self, next: &Command) -> bool {
        match next {
            Command::CallModel { .. } => true,
            // Arguments that held a secret are known here alone (decision 0008).
            Command::RunCalls(_) | Command::Reconcile(_) | Command::Wait(_) => {
                let is_known_here = |call: &Call| call.is_redacted() && self.unredacted.contains(&call.call_id);
                !self.state.calls().any(|call| call.is_open() && is_known_here(call))
            }
            Command::Settle(_) | Command::Stop(_) | Command::Ended(_) => false,
        }
    }

    pub(crate) async fn append(&mut self, body: Body) -> Result<(), RunError> {
        let step = self.state.steps().saturating_sub(1);
        self.append_at(step, body).await
    }

    /// Writes that the run has stopped.
    pub(crate) async fn end(&mut self, body: Body) -> Result<(), RunError> {
        reach(Point::EndBefore);
        self.append(body).await?;
        reach(Point::EndAfter);
        Ok(())
    }

    pub(crate) async fn append_at(&mut self, step: u32, body: Body) -> Result<(), RunError> {
        self.log.append(vec![NewEvent::new(step, None, body)]).await?;
        self.absorb()
    }

    /// Takes in what the journal accepted.
    pub(crate) fn absorb(&mut self) -> Result<(), RunError> {
        let events = std::mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        for event in &events {
            self.state.apply(event).map_err(|cause| RunError::Fold { run: self.log.run_id().clone(), cause })?;
        }
        Ok(())
    }

    /// The model's turn is stored with the ids of its calls in one commit, so that no call is ever known by two ids.
    pub(crate) async fn responded(&mut self, step: u32, response: ModelResponse, gate: &Gate) -> Result<(), RunError> {
        let run_id = self.log.run_id().clone();
        let mut calls = Vec::with_capacity(response.calls.len());
        for (index, proposed) in (0..).zip(response.calls) {
            let call_id = run_id.call(step, index);
            let arguments_text = gate.scrub_arguments(&proposed.arguments_text);
            calls.push(RespondedCall {
                call_id: call_id.clone(),
                provider_call_id: gate.scrub(&proposed.provider_call_id).into_owned(),
                tool_name: gate.scrub(&proposed.name).into_owned(),
                redacted: arguments_text != proposed.arguments_text,
                arguments_text,
                language: proposed.language,
            });
            self.unredacted.insert(call_id.clone());
            self.raw.insert(call_id, proposed.arguments_text);
        }
        let text = response.text.map(|text| gate.scrub(&text).into_owned());
        // One that cannot be kept whole is of no use to its provider.
        let is_clean = |item: &ProviderItem| gate.scrub(item.item.text()) == item.item.text();
        let items = response.items.into_iter().filter(is_clean).collect();
        let body = ModelResponded { text, calls, items, usage: response.usage };
        reach(Point::TurnAnswered);
        self.append_at(step, Body::ModelResponded(body)).await?;
        reach(Point::TurnStored);
        Ok(())
    }

    /// The request of a planned call, with its arguments as the model sent them where this process has them.
    pub(crate) fn request(&self, planned: Planned) -> Request {
        let Planned { mut call, terms } = planned;
        let raw = self.raw.get(&call.call_id);
        // What a person put in place of the model's arguments is what runs.
        if let Some(raw) = raw.filter(|_| !terms.edited) {
            call.arguments_text.clone_from(raw);
        }
        Request { call, terms }
    }

    pub(crate) fn call(&self, call_id: &CallId) -> Option<&Call> {
        self.state.calls().find(|call| call.call_id == *call_id)
    }

    /// A result that is not in the journal is none: the run stops here rather than going round.
    pub(crate) async fn expect_settled(&mut self, call_id: &CallId, audit: &Audit) -> Result<(), RunError> {
        self.expect(call_id, audit, |call| !call.is_open()).await
    }

    /// Nobody waits for a question that is not known.
    pub(crate) async fn expect_asked(&mut self, call_id: &CallId, audit: &Audit) -> Result<(), RunError> {
        self.expect(call_id, audit, |call| call.approval.is_some()).await
    }

    /// What is not known of a call is read back first: somebody else may have written it, or a reading may have failed.
    async fn expect(&mut self, call_id: &CallId, audit: &Audit, holds: impl Fn(&Call) -> bool) -> Result<(), RunError> {
        if !self.call(call_id).is_some_and(&holds) {
            self.log.catch_up().await?;
            self.absorb()?;
        }
        if self.call(call_id).is_some_and(holds) {
            return Ok(());
        }
        Err(RunError::NotRecorded { call: call_id.clone(), detail: audit.text.clone().unwrap_or_default() })
    }
}
