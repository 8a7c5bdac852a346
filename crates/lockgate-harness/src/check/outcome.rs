//! Code, status and effect state, as the outcome table puts them together.

use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::event::{Event, Settled};
use lockgate_contract::outcome::{Code, EffectRule, Outcome, Status};

use crate::check::Invariant;
use crate::check::ledger::{CallArguments, Ledger};

impl Ledger {
    pub(super) fn check_row(&mut self, place: usize, event: &Event, settled: &Settled) {
        let call = &self.calls[place];
        let is_code = matches!(call.arguments, CallArguments::Code);
        let speaks_wrongly = settled.code.as_ref().is_some_and(|code| code.is(Code::WrongActionLanguage));
        let wrong = if speaks_wrongly && !is_code {
            Some(format!("`{}` settles code, and this is a tool call", Code::WrongActionLanguage))
        } else {
            // An attempt before the refused one may have taken effect.
            let unknown_before = !call.starts.is_empty()
                && settled.status == Status::NotExecuted
                && settled.effect_state == EffectState::Unknown
                && call.effect() != Some(Effect::Read);
            if unknown_before { None } else { wrong_row(settled, call.effect()) }
        };
        if let Some(wrong) = wrong {
            self.report_call(Invariant::OutcomeTable, place, [event.seq], wrong);
        }
    }
}

/// What a result says that its row does not. `effect` is the started tool's, where something was started.
fn wrong_row(settled: &Settled, effect: Option<Effect>) -> Option<String> {
    let (status, state) = (settled.status, settled.effect_state);
    let code = match &settled.code {
        None if settled.ok && state != EffectState::Done => {
            return Some(format!("a success leaves the effect `{state}`"));
        }
        None => return None,
        Some(Outcome::Tool(code)) => {
            let word = code.word();
            return (status != Status::Executed)
                .then(|| format!("`{word}` is the tool's own code, with status {status}"));
        }
        Some(Outcome::Gate(code)) => *code,
    };
    let row = code.row();
    // Answers to callers whose call stays open, or whose result could not be written: no call settles so.
    if matches!(code, Code::ApprovalRequired | Code::ResultNotRecorded) {
        return Some(format!("`{code}` settles no call"));
    }
    let by_progress = code == Code::GateInternalError && status == Status::Executed;
    if status != row.status && !by_progress {
        return Some(format!("`{code}` has status {status} in place of {}", row.status));
    }
    if !may_leave(code, status, effect, state) {
        return Some(format!("`{code}` leaves the effect `{state}`, and the table says: {}", row.effect.words()));
    }
    let advice = row.retry.advises(state);
    if settled.retryable != advice {
        return Some(format!("`{code}` has `retryable` {} in place of {advice}", settled.retryable));
    }
    if matches!(code, Code::ToolInternalError | Code::GateInternalError) && settled.meta.error_id.is_none() {
        return Some(format!("`{code}` has no error id, which would lead to the protected log"));
    }
    None
}

/// Whether a call may leave the world so.
fn may_leave(code: Code, status: Status, effect: Option<Effect>, state: EffectState) -> bool {
    // A tool that is gone by now is taken for a far-reaching one, so that a read may be unknown, too.
    let unless_read = match effect {
        Some(effect) if effect.changes_something() => state == EffectState::Unknown,
        Some(_) | None => state != EffectState::Done,
    };
    match code.row().effect {
        // This call was started under the approval, and its result is not known.
        EffectRule::None if code == Code::ApprovalUsed => state != EffectState::Done,
        EffectRule::None => state == EffectState::None,
        EffectRule::Done => state == EffectState::Done,
        EffectRule::Unknown => state == EffectState::Unknown,
        EffectRule::NoneIfTheToolSaysSo => state != EffectState::Done,
        EffectRule::ByProgress if status == Status::NotExecuted => state == EffectState::None,
        EffectRule::UnknownUnlessRead | EffectRule::ByProgress => unless_read,
    }
}
