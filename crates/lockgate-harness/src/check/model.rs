//! The model's turns: one request, one answer, and every result before the next request.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::{Event, ModelRequested, ModelResponded, RespondedCall};
use lockgate_contract::run::RunKind;

use crate::check::Invariant;
use crate::check::ledger::{Asked, Call, CallArguments, Ledger, Turn};
use crate::history::messages_of_turn;

impl Ledger {
    pub(super) fn model_requested(&mut self, event: &Event, request: &ModelRequested) {
        if self.start.as_ref().is_some_and(|start| start.kind == RunKind::Direct) {
            self.report(Invariant::ModelTurns, [event.seq], None, "a direct run has no model, and one is asked");
        }
        if let Some(asked) = self.asked.filter(|asked| asked.drive == self.drive) {
            let text = format!("the model is asked again before it answered event {}", asked.seq);
            self.report(Invariant::ModelTurns, [asked.seq, event.seq], None, text);
        }
        let due = self.turns.last().map_or(0, |turn| turn.step.saturating_add(1));
        if event.step != due {
            let text = format!("the model is asked for step {}, and step {due} is next", event.step);
            self.report(Invariant::Steps, [event.seq], None, text);
        }
        self.check_history(event, request);
        self.check_steps_left(event);
        self.check_open_calls(event, "the model is asked again");
        self.check_nothing_unknown(event);
        self.check_no_reason_to_stop(event);
        self.asked = Some(Asked { seq: event.seq, step: event.step, drive: self.drive });
        self.step = self.step.max(event.step);
    }

    pub(super) fn model_responded(&mut self, event: &Event, response: ModelResponded) {
        self.model_answered(event);
        let turn = self.turns.len();
        self.messages += messages_of_turn(response.calls.len());
        let mut calls = Vec::with_capacity(response.calls.len());
        for (index, responded) in response.calls.into_iter().enumerate() {
            calls.extend(self.responded_call(event, turn, index, responded));
        }
        self.turns.push(Turn { seq: event.seq, step: event.step, text: response.text, calls });
    }

    /// An answer belongs to the request before it.
    pub(super) fn model_answered(&mut self, event: &Event) {
        self.step = self.step.max(event.step);
        match self.asked.take() {
            Some(asked) if asked.drive != self.drive => {
                let text = format!("the model answers event {}, whose driver is gone", asked.seq);
                self.report(Invariant::ModelTurns, [asked.seq, event.seq], None, text);
            }
            Some(asked) if asked.step != event.step => {
                let text = format!("the model is asked for step {} and answers step {}", asked.step, event.step);
                self.report(Invariant::ModelTurns, [asked.seq, event.seq], None, text);
            }
            Some(_) => {}
            None => {
                let text = format!("`{}` answers no request", event.kind);
                self.report(Invariant::ModelTurns, [event.seq], None, text);
            }
        }
    }

    /// The ids are made by the harness from the call's place, in the very commit of the answer.
    fn responded_call(&mut self, event: &Event, turn: usize, index: usize, responded: RespondedCall) -> Option<usize> {
        let RespondedCall { call_id, tool_name, arguments_text, language, redacted, .. } = responded;
        let made = self.run_id.as_ref().map(|run_id| run_id.call(event.step, u32::try_from(index).unwrap_or(u32::MAX)));
        if let Some(made) = made.filter(|made| *made != call_id) {
            let text = format!("call {index} of the turn is `{call_id}`, and its place makes it `{made}`");
            self.report(Invariant::CallIds, [event.seq], Some(&call_id), text);
        }
        if let Some(place) = self.places.get(&call_id).copied() {
            let named_at = self.calls[place].named_at;
            let text = format!("a second call has the id of a call in event {named_at}");
            self.report(Invariant::CallIds, [named_at, event.seq], Some(&call_id), text);
            return None;
        }
        let arguments = match language {
            ActionLanguage::Code => CallArguments::Code,
            ActionLanguage::Call if redacted => CallArguments::Scrubbed,
            ActionLanguage::Call => exact(&arguments_text),
        };
        let call = Call::new(call_id, event.step, event.seq, tool_name, arguments);
        Some(self.add_call(Call { turn: Some((turn, index)), ..call }))
    }

    /// Every turn and every result goes back to the model.
    fn check_history(&mut self, event: &Event, request: &ModelRequested) {
        if let Some(start) = &self.start {
            let allowed = start.binding.allowed.names().len() as u64;
            if request.tools > allowed {
                let text = format!("the model is shown {} tools, and the run may call {allowed}", request.tools);
                self.report(Invariant::AllowedTools, [event.seq], None, text);
            }
        }
        if self.start.is_some() && !self.blind && request.messages != self.messages {
            let (sent, due) = (request.messages, self.messages);
            let text = format!("the model is sent {sent} messages, and the turns before make {due}");
            let last = self.turns.last().map(|turn| turn.seq);
            self.report(Invariant::Pairing, last.into_iter().chain([event.seq]), None, text);
            // Said once: the next request is compared with this one.
            self.messages = request.messages;
        }
    }

    fn check_steps_left(&mut self, event: &Event) {
        let Some(budget) = &self.budget else { return };
        let (most, answered) = (u64::from(budget.max_steps), self.turns.len() as u64);
        if answered >= most {
            let text = format!("the model is asked for another step behind {answered}, and the run has {most}");
            self.report(Invariant::Budget, [event.seq], None, text);
        }
    }

    /// Every call has its result by now.
    pub(super) fn check_open_calls(&mut self, event: &Event, what: &str) {
        let open: Vec<usize> = self.open.iter().copied().collect();
        for place in open {
            let call = &self.calls[place];
            let seqs = [Some(call.named_at), call.requested, Some(event.seq)].into_iter().flatten();
            self.report_call(Invariant::Pairing, place, seqs, format!("the call has no result, and {what}"));
        }
        // Said once.
        self.open.clear();
    }

    /// An unknown effect stops the run, where it was told so.
    pub(super) fn check_nothing_unknown(&mut self, event: &Event) {
        if self.start.as_ref().is_none_or(|start| start.on_unknown != OnUnknown::Stop) {
            return;
        }
        for place in std::mem::take(&mut self.unknown) {
            let ended = self.calls[place].ending.as_ref().map(|ending| ending.seq);
            let text = format!(
                "the effect of the call is unknown, and behind it comes `{}` in place of `run.needs_reconciliation`",
                event.kind
            );
            self.report_call(Invariant::UnknownEffect, place, ended.into_iter().chain([event.seq]), text);
        }
    }
}

fn exact(text: &str) -> CallArguments {
    // How many bytes a gate takes is its own setting.
    let limits = Limits { max_bytes: Limits::OWN.max_bytes, ..Limits::ARGUMENTS };
    Arguments::parse(text, limits).map_or(CallArguments::Invalid, CallArguments::Exact)
}
