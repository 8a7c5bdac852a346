//! The one result of a call.

use std::sync::Arc;

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Event, EventType, Settled};
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::{Code, Outcome, Status};
use lockgate_contract::run::Limit;

use crate::check::Invariant;
use crate::check::ledger::{Ending, Ledger};

impl Ledger {
    pub(super) fn tool_settled(&mut self, event: &Event, settled: Arc<Settled>) {
        let Some(place) = self.requested_call_of(event) else { return };
        self.check_unsettled(place, event);
        self.check_placement(place, event, &settled);
        self.check_shape(place, event, &settled);
        self.check_texts(place, event, &settled);
        self.check_row(place, event, &settled);
        self.check_visible(place, event, &settled);
        if let Some(earlier) = &settled.meta.deduplicated {
            self.check_reused(place, event, &settled, earlier);
        } else {
            self.check_intent(place, event, &settled);
            self.check_decision(place, event, &settled);
            self.check_refused_approval(place, event, &settled);
        }
        if self.calls[place].ending.is_some() {
            return;
        }
        // A shared result costs nothing.
        if settled.status == Status::Executed && settled.meta.deduplicated.is_none() {
            self.executed = self.executed.saturating_add(1);
        }
        if settled.is_to_be_found_out() && !self.calls[place].inner {
            self.unknown.push(place);
            self.to_find_out.insert(place);
        }
        self.open.remove(&place);
        self.calls[place].ending = Some(Ending { seq: event.seq, body: Some(settled) });
    }

    /// The result is about the call's own tool and arguments: results are placed by call id, not by position.
    fn check_placement(&mut self, place: usize, event: &Event, settled: &Settled) {
        let call = &self.calls[place];
        let last = call.starts.iter().rev().find_map(|start| start.body.as_ref().map(|body| (start.seq, body)));
        let digests = (call.arguments_digest(), settled.audit.arguments_digest);
        let (seq, wrong) = if call.tool_name != settled.tool_name {
            let what = format!("is one of tool `{}`, and the call asked for `{}`", settled.tool_name, call.tool_name);
            (call.named_at, what)
        } else if let (Some(asked), Some(answered)) = digests
            && asked != answered
        {
            (call.named_at, "belongs to other arguments than the call's".to_owned())
        } else if let Some((started, body)) = last
            && settled.tool_version.as_ref().is_some_and(|version| *version != body.tool_version)
        {
            let version = settled.tool_version.as_deref().unwrap_or_default();
            (started, format!("is one of version {version}, and version {} started", body.tool_version))
        } else {
            return;
        };
        let seqs = [seq, event.seq];
        let owner = self.owner(place, settled).map(|owner| format!("; it fits call `{owner}`")).unwrap_or_default();
        self.report_call(Invariant::Placement, place, seqs, format!("the result {wrong}{owner}"));
    }

    /// The only other call whose result this could be.
    fn owner(&self, place: usize, settled: &Settled) -> Option<CallId> {
        let digest = settled.audit.arguments_digest?;
        let mut fitting = self.calls.iter().enumerate().filter(|(other, call)| {
            *other != place && call.tool_name == settled.tool_name && call.arguments_digest() == Some(digest)
        });
        let (_, only) = fitting.next()?;
        fitting.next().is_none().then(|| only.id.clone())
    }

    /// Success has data, failure has a code; the type of the event says which.
    fn check_shape(&mut self, place: usize, event: &Event, settled: &Settled) {
        let finished = event.kind == EventType::ToolFinished;
        let wrong = if finished != settled.ok {
            format!("`{}` has `ok` {}", event.kind, settled.ok)
        } else if settled.ok && settled.code.is_some() {
            "a success has an error code".to_owned()
        } else if settled.ok && event.data.root().get("data").is_none() {
            "a success has no data".to_owned()
        } else if settled.ok && settled.status != Status::Executed {
            format!("a success has status {}", settled.status)
        } else if !settled.ok && settled.code.is_none() {
            "a failure has no error code".to_owned()
        } else if !settled.ok && settled.data.is_some() {
            "a failure has data".to_owned()
        } else if settled.env_reported_completion && !settled.ok {
            "the environment reports completion with a failure".to_owned()
        } else {
            return;
        };
        self.report_call(Invariant::ResultShape, place, [event.seq], wrong);
    }

    /// What the model reads and what people read are two fields.
    fn check_texts(&mut self, place: usize, event: &Event, settled: &Settled) {
        let audit = settled.audit.text.as_ref();
        let copied = settled.code.as_ref().is_some_and(|code| code.is(Code::EnvironmentError))
            && settled.message.as_deref() != Some(Code::EnvironmentError.row().model_text)
            && settled.message.as_ref() == audit;
        let wrong = match (settled.ok, &settled.message) {
            (true, Some(_)) => "a success has a sentence for the model beside its data",
            (false, None) => "a failure has no sentence for the model",
            (false, Some(_)) if audit.is_none() => "a failure has no text for people",
            (false, Some(_)) if copied => "the model is told what the environment said to people",
            (true, None) | (false, Some(_)) => return,
        };
        self.report_call(Invariant::TwoTexts, place, [event.seq], wrong);
    }

    /// The model learns no version of a tool that the run may not call.
    fn check_visible(&mut self, place: usize, event: &Event, settled: &Settled) {
        let unknown = settled.code.as_ref().is_some_and(|code| code.is(Code::UnknownTool));
        let hidden = self.is_allowed(&settled.tool_name) == Some(false);
        if (unknown || hidden) && settled.tool_version.is_some() {
            let text = format!("the result names the version of tool `{}`, which is not available", settled.tool_name);
            self.report_call(Invariant::AllowedTools, place, [event.seq], text);
        }
    }

    /// What ran was started first, and what did not run was not started.
    fn check_intent(&mut self, place: usize, event: &Event, settled: &Settled) {
        let ran = settled.status != Status::NotExecuted;
        let call = &self.calls[place];
        let code = settled.code.as_ref();
        let is = |known: Code| code.is_some_and(|code| code.is(known));
        let word = code.map_or("ok", Outcome::word);
        match call.starts.last() {
            None if ran => {
                // The intent of a read rides with its result: an interrupted one has left none.
                if !(is(Code::Interrupted) && settled.effect_state == EffectState::None) {
                    let text = format!("the call ended as {word} ({}), and it was never started", settled.status);
                    self.report_call(Invariant::IntentBeforeEffect, place, [event.seq], text);
                }
            }
            Some(start) if !ran => {
                let started = start.seq;
                // The intent stands, and the handler was not entered; or it is said that nobody knows.
                let too_late = is(Code::LimitReached) && settled.reason.as_deref() == Some(Limit::Deadline.word());
                let not_entered =
                    too_late || is(Code::Cancelled) || is(Code::StorageUnavailable) || is(Code::GateInternalError);
                let admitted = not_entered || settled.effect_state == EffectState::Unknown;
                let same_drive = start.drive == self.drive;
                // Tried again by another driver, and refused this time.
                let again = start.over || (!same_drive && self.is_repeatable(place, event));
                if !admitted && !again {
                    let text = format!("the call ended as {word} ({}), and it was started", settled.status);
                    self.report_call(Invariant::IntentBeforeEffect, place, [started, event.seq], text);
                }
            }
            None | Some(_) => {}
        }
    }

    /// A shared result is the one of an identical call that ran before it in the same turn.
    fn check_reused(&mut self, place: usize, event: &Event, settled: &Settled, earlier: &CallId) {
        // A caller's key leads to calls of other runs, which are not here.
        if self.run_id.as_ref().is_some_and(|run_id| !earlier.as_str().starts_with(&format!("{run_id}:"))) {
            return;
        }
        let own = self.calls[place].turn;
        let twin = self.places.get(earlier).filter(|twin| **twin != place).map(|twin| &self.calls[*twin]);
        let before = twin.filter(|twin| match (twin.turn, own) {
            (Some((turn, index)), Some((own_turn, own_index))) => turn == own_turn && index < own_index,
            _ => false,
        });
        let (seq, wrong) = match before.map(|twin| (twin, twin.ending.as_ref())) {
            None => (None, "which does not stand before it in its turn"),
            Some((_, None)) => (None, "which has no result"),
            Some((_, Some(Ending { body: None, .. }))) => return,
            Some((twin, Some(Ending { seq, body: Some(first) }))) => {
                let same = (&first.tool_name, first.audit.arguments_digest, first.ok, &first.code)
                    == (&settled.tool_name, settled.audit.arguments_digest, settled.ok, &settled.code)
                    && (first.status, first.effect_state) == (settled.status, settled.effect_state)
                    && match (&first.data, &settled.data) {
                        (None, None) => true,
                        (Some(one), Some(other)) => one.same_value(other),
                        _ => false,
                    };
                if first.status != Status::Executed {
                    (Some(*seq), "which was not executed")
                } else if twin.id == *earlier && !same {
                    (Some(*seq), "whose result is another")
                } else if !self.calls[place].starts.is_empty() {
                    (self.calls[place].starts.last().map(|start| start.seq), "and was started itself")
                } else {
                    return;
                }
            }
        };
        let text = format!("the call shares the result of `{earlier}`, {wrong}");
        self.report_call(Invariant::ReusedResult, place, seq.into_iter().chain([event.seq]), text);
    }
}
