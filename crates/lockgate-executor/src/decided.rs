//! What people decide, on its way into the journal: scrubbed like everything else, and an edit looked at first.

use lockgate_contract::approval::{Approval, holds_placeholder};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{Decision, DecisionRefused, JournalError};

use crate::exit::Refusal;
use crate::gate::Gate;

impl Gate {
    /// Takes a person's decision into the journal, without secrets. An edit is looked at first: one that could not run is
    /// not taken, and leaves no trace. What it says is decided again when the call goes on.
    ///
    /// # Errors
    ///
    /// Why the decision is not taken.
    pub async fn decide(&self, mut decision: Decision) -> Result<Approval, DecisionRefused> {
        if self.scrub(&decision.by) != decision.by {
            // Scrubbed it would be another's, who might be entitled.
            return Err(JournalError::unavailable("the name of whoever decides holds a secret").into());
        }
        decision.reason = decision.reason.map(|reason| self.scrub(&reason).into_owned());
        let id = &decision.approval_id;
        let stored = self.journal.approval(id).await?;
        let approval = stored.ok_or_else(|| DecisionRefused::NotFound(id.clone()))?;
        if !approval.shows_what_is_bound() {
            let text = format!("approval `{id}` shows something else than what it is bound to");
            return Err(JournalError::Corrupt(text).into());
        }
        if let Some(arguments) = &decision.edit {
            self.check_edit(&approval, arguments)
                .map_err(|detail| DecisionRefused::Edit { approval: id.clone(), detail })?;
        }
        self.journal.decide(decision).await
    }

    /// Whether these arguments could run in place of others.
    fn check_edit(&self, approval: &Approval, arguments: &Arguments) -> Result<(), String> {
        if self.scrub_read_arguments(arguments.text(), Some(arguments.document())) != arguments.text() {
            // What is stored is scrubbed, and what is scrubbed is not what would run.
            return Err("it holds a secret".to_owned());
        }
        if holds_placeholder(arguments.text()) {
            return Err("it holds a placeholder where a secret was taken out".to_owned());
        }
        if arguments.text().len() > self.options.max_argument_bytes {
            return Err(format!("it is longer than {} bytes", self.options.max_argument_bytes));
        }
        let name = &approval.tool_name;
        let tool = self.registry.get(name).ok_or_else(|| format!("there is no tool `{name}` here"))?;
        if tool.spec().definition() != approval.definition {
            return Err(format!("tool `{name}` is not what it was when the question was asked"));
        }
        if tool.spec().binds_files().is_some() {
            return Err(format!(
                "what `{name}` would do with it depends on files that nobody was shown: deny it instead"
            ));
        }
        tool.input().validate(arguments.document()).map_err(|violations| violations.to_string())
    }

    /// A person's no, with what they said where the model is told it.
    pub(crate) fn with_reason(&self, refusal: Refusal, said: Option<&str>) -> Refusal {
        let by_a_person =
            [Code::ApprovalDenied, Code::ApprovalWithdrawn].into_iter().find(|code| refusal.outcome.is(*code));
        match (said, by_a_person) {
            (Some(said), Some(code)) if self.options.tell_reasons => {
                refusal.sentence(format!("{} The reason given: {said}", self.observations.sentence(code)))
            }
            _ => refusal,
        }
    }
}
