//! What is known of a run while its events are read: enough to judge the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockgate_contract::approval::Circumstances;
use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Body, Event, EventType, Settled, ToolStarted};
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::ports::Approvers;
use lockgate_contract::run::{Budget, RunStart};
use lockgate_contract::time::Timestamp;

use crate::check::{Defect, Invariant};

/// The run as far as its events were read, and the defects so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) defects: Vec<Defect>,
    /// The run of the first event.
    pub(super) run_id: Option<RunId>,
    /// What the run was started with, where it could be read.
    pub(super) start: Option<Box<RunStart>>,
    /// Its limits as they are now.
    pub(super) budget: Option<Budget>,
    /// How often a driver took the run up again.
    pub(super) drive: u32,
    /// The number of the last one who took it over.
    pub(super) epoch: u64,
    /// The step that the run is in.
    pub(super) step: u32,
    /// Where it stopped.
    pub(super) stop: Option<Stopped>,
    /// The request that the model has not answered yet.
    pub(super) asked: Option<Asked>,
    pub(super) turns: Vec<Turn>,
    /// Messages that the model is sent with its next request.
    pub(super) messages: u64,
    pub(super) calls: Vec<Call>,
    pub(super) places: BTreeMap<CallId, usize>,
    /// Calls without a result.
    pub(super) open: BTreeSet<usize>,
    /// Calls that ended with an unknown effect, without those made inside others.
    pub(super) unknown: Vec<usize>,
    /// Calls whose effect is unknown, and of which nobody has found out since.
    pub(super) to_find_out: BTreeSet<usize>,
    /// Calls that count as valid actions.
    pub(super) executed: u32,
    pub(super) questions: BTreeMap<ApprovalId, Question>,
    /// The approval that the event before this one used.
    pub(super) used: Option<Use>,
    /// An event that could have brought a call or a question could not be read: one that nobody knows is no defect any more.
    pub(super) blind: bool,
}

/// How a run stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopped {
    pub(super) seq: u64,
    pub(super) halt: Halt,
}

/// Whether a stopped run may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Never.
    Ended,
    /// Once it is known what became of some calls.
    Unknown,
    /// With other limits.
    AtALimit,
    /// After a decision.
    Waiting,
}

/// A request to the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) seq: u64,
    pub(super) step: u32,
    pub(super) drive: u32,
}

/// One answered model turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) seq: u64,
    pub(super) step: u32,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<usize>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) step: u32,
    /// Its turn, and its place in it.
    pub(super) turn: Option<(usize, usize)>,
    /// It was made inside another.
    pub(super) inner: bool,
    /// The event that named it first.
    pub(super) named_at: u64,
    pub(super) tool_name: String,
    pub(super) arguments: CallArguments,
    pub(super) requested: Option<u64>,
    /// Something came before its request: that is said once.
    pub(super) early: bool,
    pub(super) questions: Vec<ApprovalId>,
    pub(super) starts: Vec<Start>,
    pub(super) ending: Option<Ending>,
    /// Nobody asked for it: that is said once, and nothing else about it is judged.
    pub(super) stray: bool,
}

/// What is known of a call's arguments.
#[derive(Debug)]
pub(super) enum CallArguments {
    /// Exactly these.
    Exact(Arguments),
    /// No argument object at all.
    Invalid,
    /// None: it is code for an environment.
    Code,
    /// A scrubbed text, which is not what would run.
    Scrubbed,
}

/// One attempt.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) drive: u32,
    /// It failed, or is known not to have happened: another one may follow.
    pub(super) over: bool,
    /// It failed, and may have taken effect all the same.
    pub(super) unknown: bool,
    /// An approval was used for it.
    pub(super) approved: bool,
    /// Nothing where the event could not be read.
    pub(super) body: Option<ToolStarted>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) seq: u64,
    /// Nothing where the event could not be read.
    pub(super) body: Option<Arc<Settled>>,
}

/// A question to a person.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) seq: u64,
    pub(super) place: usize,
    pub(super) digest: Digest,
    pub(super) effect: Effect,
    pub(super) tool_version: String,
    pub(super) circumstances: Circumstances,
    pub(super) expires_at: Timestamp,
    /// Whose yes it needs.
    pub(super) approvers: Option<Approvers>,
    /// Who said yes so far, and in which event.
    pub(super) yeses: Vec<(String, u64)>,
    pub(super) answer: Option<(Answer, u64)>,
    pub(super) consumed: Option<u64>,
}

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Granted,
    Denied,
    Withdrawn,
    /// Other arguments were put in place of those that it asks about.
    Edited,
}

/// An approval that was used, and whose start has to follow.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) seq: u64,
    pub(super) call_id: Option<CallId>,
}

impl Ledger {
    /// Takes in the next event.
    pub(super) fn take(&mut self, event: &Event) {
        self.check_frame(event);
        if let EventType::Other(word) = &event.kind {
            // What only informs is kept and skipped; what steers a run must be understood.
            if word.starts_with("run.") || word.starts_with("call.") {
                self.unreadable(event, "its type steers runs, and this version does not know it");
            }
            return;
        }
        self.check_stop(event);
        let approved = self.check_use(event);
        match read(event) {
            Ok(body) => self.take_body(event, body, approved),
            Err(why) => {
                self.unreadable(event, &why);
                self.take_unread(event);
            }
        }
    }

    fn take_body(&mut self, event: &Event, body: Body, approved: bool) {
        match body {
            Body::RunStarted(start) => self.run_started(event, start),
            Body::RunResumed(resumed) => self.run_resumed(event, resumed),
            Body::ModelRequested(request) => self.model_requested(event, &request),
            Body::ModelResponded(response) => self.model_responded(event, response),
            Body::ModelFailed(_) => self.model_answered(event),
            Body::ToolRequested(requested) => self.tool_requested(event, &requested),
            Body::ToolRelaxed(relaxed) => self.tool_relaxed(event, &relaxed),
            Body::ApprovalRequested(asked) => self.approval_requested(event, asked),
            Body::ApprovalAgreed(agreed) => self.approval_agreed(event, &agreed),
            Body::ApprovalEdited(edited) => self.approval_edited(event, &edited),
            Body::ApprovalDecided(decided) => self.approval_decided(event, &decided),
            Body::ApprovalConsumed(consumed) => self.approval_consumed(event, &consumed),
            Body::ToolStarted(started) => self.tool_started(event, started, approved),
            Body::Settled(settled) => self.tool_settled(event, settled),
            Body::RunWaiting(waiting) => self.run_waiting(event, &waiting),
            Body::RunCompleted(completed) => self.run_completed(event, &completed),
            Body::RunLimitReached(reached) => self.run_limit_reached(event, reached.limit),
            Body::RunNeedsReconciliation(needs) => self.run_needs_reconciliation(event, &needs),
            Body::RunFailed(_) | Body::RunCancelled(_) => self.run_ended(event),
            Body::RunLeaseTaken(taken) => self.run_lease_taken(event, &taken),
            Body::ToolAttemptFailed(failed) => self.tool_attempt_failed(event, &failed),
            Body::ToolAnsweredLate(late) => self.tool_answered_late(event, &late),
            Body::CallReconciled(found) => self.call_reconciled(event, found),
            Body::Unknown => {}
        }
    }

    /// Goes on behind an event that could not be read, as if it had said what its type promises.
    fn take_unread(&mut self, event: &Event) {
        let place = event.call_id.as_ref().and_then(|id| self.places.get(id)).copied();
        match (&event.kind, place) {
            (EventType::ModelRequested, _) => {
                self.asked = Some(Asked { seq: event.seq, step: event.step, drive: self.drive });
                self.step = self.step.max(event.step);
            }
            (EventType::ModelResponded, _) => {
                self.asked = None;
                self.blind = true;
                self.turns.push(Turn { seq: event.seq, step: event.step, text: None, calls: Vec::new() });
            }
            (EventType::ToolRequested, None) | (EventType::ApprovalRequested | EventType::ApprovalEdited, _) => {
                self.blind = true;
            }
            (EventType::ToolRequested, Some(place)) => self.calls[place].requested = Some(event.seq),
            (EventType::ToolStarted, Some(place)) => {
                let start = Start {
                    seq: event.seq,
                    at: event.at,
                    drive: self.drive,
                    over: false,
                    unknown: false,
                    approved: true,
                    body: None,
                };
                self.calls[place].starts.push(start);
            }
            (EventType::ToolFinished | EventType::ToolFailed, Some(place)) => {
                self.calls[place].ending = Some(Ending { seq: event.seq, body: None });
                self.open.remove(&place);
            }
            (EventType::ApprovalConsumed, _) => {
                self.used = Some(Use { seq: event.seq, call_id: event.call_id.clone() });
            }
            (EventType::RunResumed, _) => {
                self.drive += 1;
                self.stop = None;
            }
            (EventType::RunLeaseTaken, _) => self.drive += 1,
            (EventType::ToolAttemptFailed, Some(place)) => {
                if let Some(start) = self.calls[place].starts.last_mut() {
                    start.over = true;
                }
            }
            // It may have opened the call again, or have ended it otherwise.
            (EventType::CallReconciled, Some(place)) => {
                self.calls[place].stray = true;
                self.open.remove(&place);
                self.unknown.retain(|unknown| *unknown != place);
                self.to_find_out.remove(&place);
            }
            _ => {}
        }
    }

    /// Judges what only the end of the stream shows.
    pub(super) fn close(&mut self) {
        if let Some(used) = self.used.take() {
            self.report_unstarted(&used, None);
        }
    }

    /// Writes a defect down.
    pub(super) fn report(
        &mut self,
        invariant: Invariant,
        seqs: impl IntoIterator<Item = u64>,
        call_id: Option<&CallId>,
        text: impl Into<String>,
    ) {
        let seqs: BTreeSet<u64> = seqs.into_iter().collect();
        self.defects.push(Defect {
            invariant,
            seqs: seqs.into_iter().collect(),
            call_id: call_id.cloned(),
            text: text.into(),
        });
    }

    /// Writes a defect of a call down, shown by these events.
    pub(super) fn report_call(
        &mut self,
        invariant: Invariant,
        place: usize,
        seqs: impl IntoIterator<Item = u64>,
        text: impl Into<String>,
    ) {
        let call_id = self.calls[place].id.clone();
        self.report(invariant, seqs, Some(&call_id), text);
    }

    fn unreadable(&mut self, event: &Event, why: &str) {
        let text = format!("`{}` cannot be read: {why}", event.kind);
        self.report(Invariant::Unreadable, [event.seq], event.call_id.as_ref(), text);
    }
}

fn read(event: &Event) -> Result<Body, String> {
    if event.v == 0 || event.v > event.kind.version() {
        let known = event.kind.version();
        return Err(format!("its body has version {}, and this version knows 1 to {known}", event.v));
    }
    event.body().map_err(|error| error.to_string())
}

impl Call {
    /// A call that was named by the event `named_at`.
    pub(super) fn new(id: CallId, step: u32, named_at: u64, tool_name: String, arguments: CallArguments) -> Self {
        Self {
            id,
            step,
            turn: None,
            inner: false,
            named_at,
            tool_name,
            arguments,
            requested: None,
            early: false,
            questions: Vec::new(),
            starts: Vec::new(),
            ending: None,
            stray: false,
        }
    }

    /// The digest of the arguments that it is about, where they are known.
    pub(super) fn arguments_digest(&self) -> Option<Digest> {
        match &self.arguments {
            CallArguments::Exact(arguments) => Some(arguments.digest()),
            CallArguments::Invalid | CallArguments::Code | CallArguments::Scrubbed => {
                self.starts.iter().find_map(|start| start.body.as_ref()).map(|body| body.arguments_digest)
            }
        }
    }

    /// The effect that its tool was started with.
    pub(super) fn effect(&self) -> Option<Effect> {
        self.starts.iter().rev().find_map(|start| start.body.as_ref()).map(|body| body.effect)
    }

    /// The result, where there is one that can be read.
    pub(super) fn settled(&self) -> Option<&Settled> {
        self.ending.as_ref()?.body.as_deref()
    }
}
