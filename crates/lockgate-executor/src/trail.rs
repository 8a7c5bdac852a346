//! Facts about a call for the audit and for its release. They travel beside the tokens; no stage trusts them.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ToolCall;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::{Effect, EffectState, Idempotency, OutputForm, ReplayPolicy};
use lockgate_contract::event::{Audit, Body, NewEvent, Settled, ToolRequested};
use lockgate_contract::ids::ErrorId;
use lockgate_contract::outcome::{Code, Outcome, Status};
use lockgate_contract::ports::{Settling, StoredArtifact};
use lockgate_contract::result::Meta;
use lockgate_registry::RegisteredTool;
use serde::Serialize;
use serde::ser::SerializeMap;

use crate::exit::Refusal;
use crate::gate::Gate;
use crate::scope::{Request, Scope, Terms};

/// What is known about a call on its way.
pub(crate) struct Trail<'g> {
    pub(crate) gate: &'g Gate,
    pub(crate) scope: &'g Scope,
    pub(crate) call: &'g ToolCall,
    pub(crate) terms: &'g Terms,
    /// The tool's name as it was called, scrubbed: it is model text.
    pub(crate) shown_name: String,
    /// Events that nothing depends on yet: they ride with the next commit, and stay here until the journal took them.
    pub(crate) pending: Vec<NewEvent>,
    /// The tool's version, once the caller is known to see the tool.
    pub(crate) version: Option<String>,
    /// The tool's effect, once it is known; what is not known is far-reaching.
    pub(crate) effect: Effect,
    /// Whether the handler may have been entered.
    pub(crate) started: bool,
    /// Whether a second attempt has no second effect: because of the tool, or because of its provider.
    pub(crate) replay: ReplayPolicy,
    /// What the tool's output is.
    pub(crate) form: OutputForm,
    /// Who says how the attempt ended.
    pub(crate) origin: Origin,
    pub(crate) audit: Audit,
    pub(crate) times: StageTimes,
    /// Whether `tool.requested` stands in the journal, or is pending.
    requested: bool,
    /// The ending that is being written. It took the facts along.
    ending: Option<Arc<Settled>>,
    /// Whether the call has its ending. A trail that is dropped without one leaves an event.
    finished: bool,
}

/// Who says how an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The handler, for whoever waits for it.
    Handler,
    /// The handler, when nobody waits any more.
    LateHandler,
    /// The tool, asked what became of an attempt whose result was lost.
    Question,
}

impl<'g> Trail<'g> {
    pub(crate) fn begin(gate: &'g Gate, scope: &'g Scope, request: &'g Request) -> Self {
        let Request { call, terms } = request;
        Self {
            gate,
            scope,
            call,
            terms,
            shown_name: gate.scrub(&call.tool_name).into_owned(),
            pending: Vec::with_capacity(3),
            version: None,
            effect: Effect::External,
            started: false,
            replay: ReplayPolicy::Never,
            form: OutputForm::Value,
            origin: Origin::Handler,
            audit: Audit::default(),
            times: StageTimes::begin(gate.clock.monotonic()),
            requested: terms.requested_before,
            ending: None,
            finished: false,
        }
    }

    /// The call reached the gate: its first event, once. `read` is what was read of its argument text.
    pub(crate) fn requested(&mut self, read: Option<&Arguments>) {
        if std::mem::replace(&mut self.requested, true) {
            return;
        }
        let (gate, call) = (self.gate, self.call);
        let arguments_text = match read {
            Some(arguments) => gate.scrub_read_arguments(&call.arguments_text, Some(arguments.document())),
            None => gate.scrub_arguments(&call.arguments_text),
        };
        self.note(Body::ToolRequested(ToolRequested {
            tool_name: self.shown_name.clone(),
            parent_call_id: call.parent.clone(),
            arguments_text: Some(arguments_text),
            language: call.language,
        }));
    }

    /// The call belongs to this tool, and the caller may see it.
    pub(crate) fn see_tool(&mut self, tool: &RegisteredTool) {
        self.version = Some(tool.spec().version().to_owned());
        self.effect = tool.spec().effect();
        let is_recognised = tool.spec().idempotency() == Idempotency::Provider;
        self.replay = if is_recognised { ReplayPolicy::Safe } else { tool.spec().replay() };
        self.form = tool.spec().output_form();
        self.audit.tool_version.clone_from(&self.version);
        self.audit.definition = Some(tool.spec().definition());
    }

    /// The time since the stage before this one belongs to `stage`.
    pub(crate) fn passed(&mut self, stage: Stage) {
        self.times.passed(stage, self.gate.clock.monotonic());
    }

    /// Adds an event that may ride with the next commit.
    pub(crate) fn note(&mut self, body: Body) {
        self.pending.push(NewEvent::new(self.call.step, Some(self.call.call_id.clone()), body));
    }

    /// After a commit that failed, and of which nobody may know whether it stands: what stands is not written twice.
    pub(crate) async fn forget_what_stands(&mut self) {
        if let Ok(events) = self.scope.log.of_call(&self.call.call_id).await {
            self.pending.retain(|pending| events.iter().all(|event| event.kind != pending.kind));
        }
    }

    /// The id under which the protected log explains a failure of this call. The same for the same attempt, so that a
    /// history does not change between two readings.
    pub(crate) fn error_id(&self) -> ErrorId {
        let digest = Digest::of_text("lockgate.error.v1", &format!("{}#{}", self.call.call_id, self.terms.attempt));
        ErrorId::new(format!("err-{}", digest.short(12)))
    }

    /// A panic inside the gate itself.
    pub(crate) fn gate_defect(panic: Box<dyn Any + Send>) -> Refusal {
        Refusal::new(Code::GateInternalError, format!("the gate panicked: {}", panic_text(panic)))
    }

    /// The body of the call's last event, for a refusal.
    pub(crate) fn settled_as(&mut self, refusal: Refusal) -> Arc<Settled> {
        let gate = self.gate;
        let Refusal { outcome, reason, sentence, audit_reason, audit, retryable, details, effect_state, show_error_id } =
            refusal;
        let (status, said_state, row, default_sentence) = match &outcome {
            Outcome::Gate(code) => {
                let row = code.row();
                let status = match code {
                    Code::GateInternalError if self.started => Status::Executed,
                    _ => row.status,
                };
                let state = effect_state.unwrap_or_else(|| row.effect.state(self.effect, self.started));
                (status, state, Some(row), gate.observations.sentence(*code))
            }
            Outcome::Tool(_) => {
                // What only reads leaves no unknown effect behind, whatever it says of itself.
                let said = effect_state.filter(|state| self.effect != Effect::Read || *state != EffectState::Unknown);
                (Status::Executed, said.unwrap_or(EffectState::None), None, "")
            }
        };
        // What this attempt knows nothing of, the one before it may have done.
        let by_an_earlier_one =
            said_state == EffectState::None && self.terms.unknown_before && self.effect != Effect::Read;
        let known_state = if by_an_earlier_one { EffectState::Unknown } else { said_state };
        let retryable = match row {
            Some(row) => row.retry.advises(known_state),
            None => retryable && (!by_an_earlier_one || self.replay == ReplayPolicy::Safe),
        };
        let message = shortened(gate.scrub(sentence.as_deref().unwrap_or(default_sentence)).into_owned());
        let audit_text = gate.scrub_audit(&audit);
        let error_id = show_error_id.then(|| self.error_id());
        if let Some(error_id) = &error_id {
            tracing::error!(call_id = %self.call.call_id, %error_id, code = outcome.word(), text = audit_text, "call failed");
        }
        let (tool_version, facts) = self.take_facts();
        let audit = Audit {
            reason: audit_reason.map(str::to_owned).or_else(|| reason.clone()),
            text: Some(audit_text),
            ..facts
        };
        Arc::new(Settled {
            tool_name: self.shown_name.clone(),
            tool_version,
            ok: false,
            code: Some(outcome),
            reason,
            status,
            effect_state: known_state,
            data: None,
            message: Some(message),
            details,
            retryable,
            meta: Meta {
                error_id,
                effect_state: (known_state == EffectState::Unknown).then_some(known_state),
                arguments_edited: self.terms.edited,
                ..Meta::default()
            },
            env_reported_completion: false,
            audit,
        })
    }

    /// What is known about the call, for its ending: the tool's version, as the caller may see it, and the audit. Where one
    /// ending could not be written, the next one has its facts.
    pub(crate) fn take_facts(&mut self) -> (Option<String>, Audit) {
        match self.ending.take() {
            Some(ending) => (ending.tool_version.clone(), ending.audit.clone()),
            None => (self.version.take(), std::mem::take(&mut self.audit)),
        }
    }

    /// The events of the call's last commit: what is pending, but no start that did not happen, and the ending.
    pub(crate) fn last_events(&mut self, settled: &Arc<Settled>) -> Vec<NewEvent> {
        self.requested(None);
        let mut events = Vec::with_capacity(self.pending.len() + 1);
        events.extend(self.pending.iter().filter(|event| self.started || !event.kind.is_start()).cloned());
        self.ending = Some(Arc::clone(settled));
        let ending = Body::Settled(Arc::clone(settled));
        events.push(NewEvent::new(self.call.step, Some(self.call.call_id.clone()), ending));
        events
    }

    /// Which result the call's ending is: that of the attempt, or of none.
    pub(crate) fn settling(&self, artifact: Option<StoredArtifact>) -> Settling {
        let attempt = if self.started { self.terms.attempt } else { 0 };
        Settling { call_id: self.call.call_id.clone(), attempt, late: self.origin == Origin::LateHandler, artifact }
    }

    /// The call has its ending.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }
}

/// A dropped call still leaves an event (architecture rule 4): here, or by the driver that its run is handed over to.
impl Drop for Trail<'_> {
    fn drop(&mut self) {
        if self.finished || self.scope.hand_over.is_cancelled() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let code = if self.started { Code::Interrupted } else { Code::Cancelled };
        let settled = self.settled_as(Refusal::new(code, "the caller dropped the call"));
        let events = self.last_events(&settled);
        let call_id = self.call.call_id.clone();
        let settling = self.settling(None);
        let log = Arc::clone(&self.scope.log);
        runtime.spawn(async move {
            if let Err(error) = log.settle(settling, events).await {
                tracing::warn!(%call_id, %error, "a dropped call could not be recorded");
            }
        });
    }
}

/// A sentence for the model, cut to what it needs. Only ever of a scrubbed text: half a secret is not recognised.
pub(crate) fn shortened(mut sentence: String) -> String {
    const LONGEST: usize = 2000;
    if let Some((end, _)) = sentence.char_indices().nth(LONGEST) {
        sentence.truncate(end);
        sentence.push('…');
    }
    sentence
}

/// The text of a panic.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<String>() {
        Ok(text) => return *text,
        Err(other) => other,
    };
    match panic.downcast::<&str>() {
        Ok(text) => (*text).to_owned(),
        Err(other) => {
            // It may be anything, also something that panics again when it is dropped.
            std::mem::forget(other);
            "no text".to_owned()
        }
    }
}

/// The stages, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Proposed,
    Resolved,
    Validated,
    Authorized,
    Recorded,
    Ran,
    Checked,
    Released,
}

impl Stage {
    const NAMES: [&'static str; 8] =
        ["proposed", "resolved", "validated", "authorized", "recorded", "ran", "checked", "released"];
}

/// How long a call spent in each stage, for the audit. A stage that it did not reach is absent.
#[derive(Debug, Clone)]
pub struct StageTimes {
    last: Duration,
    spent: [Option<Duration>; Stage::NAMES.len()],
}

impl StageTimes {
    fn begin(now: Duration) -> Self {
        Self { last: now, spent: [None; Stage::NAMES.len()] }
    }

    fn passed(&mut self, stage: Stage, now: Duration) {
        self.spent[stage as usize] = Some(now.saturating_sub(self.last));
        self.last = now;
    }

    /// The stages that the call went through, with the time spent in each.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        Stage::NAMES.into_iter().zip(self.spent).filter_map(|(name, spent)| Some((name, spent?)))
    }
}

/// As an object from stage to microseconds.
impl Serialize for StageTimes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (stage, spent) in self.stages() {
            map.serialize_entry(stage, &u64::try_from(spent.as_micros()).unwrap_or(u64::MAX))?;
        }
        map.end()
    }
}
