//! A row of the outcome table, and what everybody is shown of a call that ends in it.

use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::outcome::{Code, Outcome, Status, TABLE};
use lockgate_executor::Settlement;

use crate::bench::{Bench, EFFECTS, Setup, answering, settlement};

/// What a row must look like.
pub(super) struct Row {
    code: &'static str,
    status: Status,
    /// For read, write and external.
    effect_state: [EffectState; 3],
    retryable: [bool; 3],
    version: Option<&'static str>,
    reason: Option<&'static str>,
    audit_reason: Option<&'static str>,
}

impl Row {
    /// A row of the table, as the table has it.
    pub(super) fn of(word: &'static str) -> Self {
        let row = TABLE.iter().find(|row| row.word == word).unwrap();
        let effect_state = EFFECTS.map(|effect| row.effect.state(effect, true));
        Self {
            code: word,
            status: row.status,
            effect_state,
            retryable: effect_state.map(|state| row.retry.advises(state)),
            version: Some("2.5"),
            reason: None,
            audit_reason: None,
        }
    }

    pub(super) fn states(mut self, states: [EffectState; 3]) -> Self {
        self.effect_state = states;
        self
    }

    pub(super) fn retryable(mut self, retryable: [bool; 3]) -> Self {
        self.retryable = retryable;
        self
    }

    pub(super) fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    pub(super) fn version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    pub(super) fn no_version(mut self) -> Self {
        self.version = None;
        self
    }

    pub(super) fn reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self.audit_reason = Some(reason);
        self
    }

    pub(super) fn audit_reason(mut self, reason: &'static str) -> Self {
        self.audit_reason = Some(reason);
        self
    }

    /// Compares a settlement with the row, and what is stored with what was handed out.
    pub(super) async fn assert(&self, effect: Effect, bench: &Bench, settlement: &Settlement) {
        let at = EFFECTS.iter().position(|one| *one == effect).unwrap();
        let label = format!("{} of {effect}", self.code);
        let (result, settled) = (settlement.result(), settlement.settled());
        let error = result.error.as_ref().unwrap_or_else(|| panic!("{label}: no error in {result:?}"));
        assert_eq!(error.code.word(), self.code, "{label}: {:?}", settled.audit); // R-088
        assert_eq!(settled.status, self.status, "{label}"); // C-9
        assert_eq!(settled.effect_state, self.effect_state[at], "{label}");
        assert_eq!(error.retryable, self.retryable[at], "{label}"); // R-089
        assert_eq!(result.tool_version.as_deref(), self.version, "{label}"); // R-086, C-10
        assert_eq!(error.reason.as_deref(), self.reason, "{label}");
        assert_eq!(settled.audit.reason.as_deref(), self.audit_reason, "{label}");
        assert!(!result.ok && result.data.is_none(), "{label}"); // R-087
        let unknown = self.effect_state[at] == EffectState::Unknown;
        assert_eq!(result.meta.effect_state, unknown.then_some(EffectState::Unknown), "{label}");
        let has_id = ["tool_internal_error", "gate_internal_error"].contains(&self.code);
        assert_eq!(result.meta.error_id.is_some(), has_id, "{label}"); // R-179
        assert!(settled.audit.text.as_ref().is_some_and(|text| !text.is_empty()), "{label}"); // R-112
        // The model reads code and sentence, never a value, a path or a name that it did not write.
        let shown = settled.model_content().text().to_owned();
        for hidden in ["/srv", "hunter22", "test:scripted", "rule 7", "native", "subject:", "2.5"] {
            assert!(!shown.contains(hidden), "{label}: {shown}"); // R-180, R-181, R-182
        }
        if let Outcome::Gate(code) = error.code
            && code != Code::RejectedByTool
        {
            assert_eq!(error.message, code.row().model_text, "{label}"); // R-110
        }
        // One ending, the same in the journal (R-212), unless the journal did not take it.
        let stored = bench.endings(&result.call_id).await;
        if !["result_not_recorded", "storage_unavailable"].contains(&self.code) {
            assert_eq!(stored.len(), 1, "{label}");
            assert_eq!(stored[0].model_content().text(), shown, "{label}");
            assert_eq!(stored[0].audit, settled.audit, "{label}"); // R-216
        }
    }
}

/// Calls one tool of each effect on a bench of its own.
pub(super) async fn each(row: Row, setup: impl Fn() -> Setup, prepare: impl AsyncFn(&Bench), arguments: &str) {
    for effect in EFFECTS {
        let bench = setup().build().await;
        prepare(&bench).await;
        let request = bench.request(effect.word(), arguments);
        let settlement = settlement(bench.send(&request).await);
        row.assert(effect, &bench, &settlement).await;
    }
}

pub(super) fn fine() -> Setup {
    Setup::new(|counters| answering(counters, r#""hunter22""#))
}

/// Tools that are there, and that the run may not call.
pub(super) fn hidden() -> Setup {
    let mut setup = fine();
    setup.allowed = Some(Vec::new());
    setup
}

pub(super) async fn nothing(_: &Bench) {}
