//! A call reaches the gate.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::Permission;
use lockgate_contract::event::{Event, ToolRelaxed, ToolRequested};
use lockgate_contract::run::RunKind;

use crate::check::Invariant;
use crate::check::ledger::{Call, CallArguments, Ledger};

impl Ledger {
    pub(super) fn tool_requested(&mut self, event: &Event, requested: &ToolRequested) {
        if self.is_new(event) && self.call_without_turn(event, requested) {
            return;
        }
        let Some(place) = self.call_of(event) else { return };
        self.check_name(place, event, &requested.tool_name);
        match self.calls[place].requested {
            Some(before) => {
                let text = format!("the call was requested before, in event {before}");
                self.report_call(Invariant::OrderOfChecks, place, [before, event.seq], text);
            }
            None => self.calls[place].requested = Some(event.seq),
        }
    }

    pub(super) fn tool_relaxed(&mut self, event: &Event, relaxed: &ToolRelaxed) {
        let Some(place) = self.requested_call_of(event) else { return };
        self.check_name(place, event, &relaxed.tool_name);
        self.check_unsettled(place, event);
        if (relaxed.from, relaxed.to) != (Permission::Ask, Permission::Allow) {
            let text =
                format!("a permission was relaxed from {} to {}, and only ask becomes allow", relaxed.from, relaxed.to);
            self.report_call(Invariant::Authorisation, place, [event.seq], text);
        }
    }

    fn is_new(&self, event: &Event) -> bool {
        event.call_id.as_ref().is_some_and(|id| !self.places.contains_key(id))
    }

    /// Calls that no turn lists: those of direct runs, and those made inside another. Says whether it is one.
    fn call_without_turn(&mut self, event: &Event, requested: &ToolRequested) -> bool {
        let Some(call_id) = event.call_id.clone() else { return false };
        let inner = match &requested.parent_call_id {
            Some(parent) => {
                let prefix = format!("{parent}.");
                let counted = call_id.as_str().strip_prefix(&prefix).is_some_and(|index| index.parse::<u32>().is_ok());
                if !counted || !self.places.contains_key(parent) {
                    return false;
                }
                true
            }
            None if self.start.as_ref().is_some_and(|start| start.kind == RunKind::Direct) => {
                let made = self.run_id.as_ref().map(|run_id| run_id.call(event.step, 0));
                if made.as_ref() != Some(&call_id) {
                    return false;
                }
                self.step = self.step.max(event.step);
                false
            }
            None => return false,
        };
        let arguments = match requested.language {
            ActionLanguage::Code => CallArguments::Code,
            // What a caller or a program sent may have been scrubbed, and nothing says whether it was.
            ActionLanguage::Call => CallArguments::Scrubbed,
        };
        let call = Call::new(call_id, event.step, event.seq, requested.tool_name.clone(), arguments);
        self.add_call(Call { inner, requested: Some(event.seq), ..call });
        true
    }

    /// What is said of a call is said of the tool that was called.
    pub(super) fn check_name(&mut self, place: usize, event: &Event, tool_name: &str) {
        let call = &self.calls[place];
        if call.tool_name != tool_name {
            let text =
                format!("`{}` is about tool `{tool_name}`, and the call asked for `{}`", event.kind, call.tool_name);
            let seqs = [call.named_at, event.seq];
            self.report_call(Invariant::Placement, place, seqs, text);
        }
    }

    /// Nothing happens to a call behind its result.
    pub(super) fn check_unsettled(&mut self, place: usize, event: &Event) {
        if let Some(ending) = &self.calls[place].ending {
            let before = ending.seq;
            let text = format!("`{}` comes behind the call's result, which is event {before}", event.kind);
            self.report_call(Invariant::ResultOnce, place, [before, event.seq], text);
        }
    }
}
