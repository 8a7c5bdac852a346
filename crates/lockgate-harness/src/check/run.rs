//! How a run begins and goes on.

use lockgate_contract::event::{Event, EventType, RunResumed};
use lockgate_contract::run::RunStart;

use crate::check::Invariant;
use crate::check::ledger::{Halt, Ledger};

impl Ledger {
    pub(super) fn run_started(&mut self, event: &Event, start: Box<RunStart>) {
        if self.start.is_some() || event.seq > 1 {
            self.report(Invariant::Beginning, [event.seq], None, "the run begins a second time");
            return;
        }
        self.budget = Some(start.budget.clone());
        self.messages = u64::from(start.system.is_some()) + u64::from(start.task.is_some());
        self.start = Some(start);
    }

    pub(super) fn run_resumed(&mut self, event: &Event, resumed: RunResumed) {
        if let Some(stop) = self.stop.take() {
            let text = match stop.halt {
                Halt::AtALimit if resumed.budget.is_none() => "the run goes on behind a limit, and no limit changed",
                Halt::Unknown if !self.to_find_out.is_empty() => {
                    "the run goes on, and it is not known what became of some of its calls"
                }
                _ => "",
            };
            if !text.is_empty() {
                self.report(Invariant::Ending, [stop.seq, event.seq], None, text);
            }
        }
        if let Some(budget) = resumed.budget {
            self.budget = Some(budget);
        }
        self.drive += 1;
    }

    /// Behind a stop come decisions of people, what was found out later, and a driver that takes the run up again; nothing
    /// else.
    pub(super) fn check_stop(&mut self, event: &Event) {
        let Some(stop) = self.stop else { return };
        let fits = match event.kind {
            EventType::ApprovalAgreed
            | EventType::ApprovalEdited
            | EventType::ApprovalDecided
            | EventType::RunLeaseTaken
            | EventType::ToolAnsweredLate
            | EventType::CallReconciled => true,
            EventType::RunResumed => stop.halt != Halt::Ended,
            // A direct call that is known not to have happened is not sent again.
            EventType::ToolFailed => stop.halt == Halt::Unknown,
            _ => false,
        };
        if !fits {
            let text = match stop.halt {
                Halt::Ended => format!("the run ended with event {}, and `{}` comes behind it", stop.seq, event.kind),
                Halt::AtALimit | Halt::Waiting | Halt::Unknown => {
                    format!("the run stopped with event {}, and `{}` comes without `run.resumed`", stop.seq, event.kind)
                }
            };
            self.report(Invariant::Ending, [stop.seq, event.seq], event.call_id.as_ref(), text);
            self.stop = None;
        }
    }
}
