//! The intent: the last moment at which something can be wrong and nothing has happened yet.

use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Event, ToolStarted};

use crate::check::Invariant;
use crate::check::ledger::{CallArguments, Ledger, Start};

impl Ledger {
    pub(super) fn tool_started(&mut self, event: &Event, started: ToolStarted, approved: bool) {
        let Some(place) = self.requested_call_of(event) else { return };
        self.check_unsettled(place, event);
        self.check_name(place, event, &started.tool_name);
        self.check_started_arguments(place, event, &started);
        self.check_definition(place, event, &started);
        self.check_attempt(place, event, &started, approved);
        self.check_permission(place, event, &started, approved);
        self.check_question(place, event, &started);
        self.check_turn_order(place, event, &started);
        self.check_actions_left(place, event);
        let start = Start {
            seq: event.seq,
            at: event.at,
            drive: self.drive,
            over: false,
            unknown: false,
            approved,
            body: Some(started),
        };
        self.calls[place].starts.push(start);
    }

    /// What runs is what was asked for (architecture rule 3).
    fn check_started_arguments(&mut self, place: usize, event: &Event, started: &ToolStarted) {
        let call = &self.calls[place];
        let seqs = [call.named_at, event.seq];
        match &call.arguments {
            CallArguments::Exact(arguments) if arguments.digest() != started.arguments_digest => {
                let text = "what started has other arguments than the call asked for";
                self.report_call(Invariant::Placement, place, seqs, text);
            }
            CallArguments::Invalid => {
                let text = "the call started, and its arguments are not one JSON object";
                self.report_call(Invariant::OrderOfChecks, place, seqs, text);
            }
            CallArguments::Code => {
                let text = "the call started, and it is code, which the gate does not take";
                self.report_call(Invariant::OrderOfChecks, place, seqs, text);
            }
            CallArguments::Exact(_) | CallArguments::Scrubbed => {}
        }
    }

    /// A name reaches an implementation through the run's allowed set only, and it is the one that was bound.
    fn check_definition(&mut self, place: usize, event: &Event, started: &ToolStarted) {
        let Some(start) = &self.start else { return };
        let name = &started.tool_name;
        let text = match start.binding.allowed.definition(name) {
            None => format!("tool `{name}` started, and the run may not call it"),
            Some(bound) if bound != started.definition => {
                format!("tool `{name}` started with another definition than the run was bound to")
            }
            Some(_) if started.effect != Effect::Read && self.reads(name) => {
                format!(
                    "tool `{name}` started with effect {}, and the run was bound to a tool that only reads",
                    started.effect
                )
            }
            Some(_) => return,
        };
        self.report_call(Invariant::AllowedTools, place, [1, event.seq], text);
    }

    /// Whether something may run again is decided by its tool's replay policy or its provider's keys, after its driver died
    /// what failed or is known not to have happened may run again at once.
    fn check_attempt(&mut self, place: usize, event: &Event, started: &ToolStarted, approved: bool) {
        let call = &self.calls[place];
        let due = call.starts.len() as u64 + 1;
        if u64::from(started.attempt) != due {
            let seqs = call.starts.last().map(|start| start.seq).into_iter().chain([event.seq]);
            let text = format!("the call starts with attempt {}, and attempt {due} is next", started.attempt);
            self.report_call(Invariant::Attempts, place, seqs, text);
        }
        let call = &self.calls[place];
        let Some(last) = call.starts.last() else { return };
        let (last, same_drive, over, unknown) = (last.seq, last.drive == self.drive, last.over, last.unknown);
        let text = if same_drive && !over {
            "the call starts again, and its driver did not die in between"
        } else if (!over || unknown) && !self.is_repeatable(place, event) {
            "the call starts again, and its tool must not be repeated"
        } else if !self.calls[place].questions.is_empty() && !approved {
            "the call starts again under an approval that was good for one start"
        } else {
            return;
        };
        self.report_call(Invariant::Attempts, place, [last, event.seq], text);
    }

    /// Whether a lost attempt of the call may be repeated: its tool says so, or its provider still knows the key.
    pub(super) fn is_repeatable(&self, place: usize, event: &Event) -> bool {
        let Some(start) = &self.start else { return true };
        let call = &self.calls[place];
        let remembers = |window: &u64| {
            let first = call.starts.first().map(|start| start.at);
            first.is_some_and(|first| event.at < first.after(Duration::from_millis(*window)))
        };
        start.binding.replayable.contains(&call.tool_name)
            || start.binding.keyed.get(&call.tool_name).is_some_and(remembers)
    }

    /// What was asked about is what starts.
    fn check_question(&mut self, place: usize, event: &Event, started: &ToolStarted) {
        let question = self.calls[place].questions.last().and_then(|id| self.questions.get(id));
        if let Some(question) = question
            && (question.effect != started.effect || question.tool_version != started.tool_version)
        {
            let seqs = [question.seq, event.seq];
            let text = format!(
                "a person was asked about version {} with effect {}, and version {} with effect {} starts",
                question.tool_version, question.effect, started.tool_version, started.effect
            );
            self.report_call(Invariant::ApprovalBinding, place, seqs, text);
        }
    }

    /// An effect waits for every call before it in its turn; a read only overtakes reads.
    fn check_turn_order(&mut self, place: usize, event: &Event, started: &ToolStarted) {
        let Some((turn, index)) = self.calls[place].turn else { return };
        let alone = started.effect != Effect::Read || !self.calls[place].questions.is_empty();
        let before: Vec<usize> = match self.turns.get(turn) {
            Some(turn) => turn.calls.iter().copied().filter(|before| self.index(*before) < index).collect(),
            None => Vec::new(),
        };
        for earlier in before {
            let call = &self.calls[earlier];
            let seqs = [call.requested.unwrap_or(call.named_at), event.seq];
            if call.ending.is_none() && (alone || !self.reads(&call.tool_name)) {
                let text = format!("the call starts before `{}`, which stands before it and has no result", call.id);
                self.report_call(Invariant::TurnOrder, place, seqs, text);
            } else if alone && self.unknown.contains(&earlier) {
                let ended = call.ending.as_ref().map(|ending| ending.seq);
                let text = format!("the call starts behind `{}`, whose effect is unknown", call.id);
                let seqs = ended.into_iter().chain([event.seq]);
                self.report_call(Invariant::UnknownEffect, place, seqs, text);
            }
        }
    }

    fn index(&self, place: usize) -> usize {
        self.calls[place].turn.map_or(usize::MAX, |(_, index)| index)
    }

    /// Nothing starts beyond a limit.
    fn check_actions_left(&mut self, place: usize, event: &Event) {
        let Some(budget) = &self.budget else { return };
        if self.executed >= budget.max_valid_actions {
            let (done, most) = (self.executed, budget.max_valid_actions);
            let text = format!("the call starts behind {done} valid actions, and the run has {most}");
            self.report_call(Invariant::Budget, place, [event.seq], text);
        }
        let Some(budget) = &self.budget else { return };
        let most = budget.max_calls_per_turn;
        if let Some((_, index)) = self.calls[place].turn
            && index as u64 >= u64::from(most)
        {
            let text = format!("the call starts as number {} of its turn, and a turn has {most}", index + 1);
            self.report_call(Invariant::Budget, place, [event.seq], text);
        }
    }
}
