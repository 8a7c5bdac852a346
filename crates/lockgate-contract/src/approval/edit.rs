//! A yes to other arguments than those that were asked about.

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, ApprovalState, Binding, shown_text};
use crate::arguments::Arguments;
use crate::document::Document;
use crate::ids::ApprovalId;
use crate::time::Timestamp;

/// What a question stands in place of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditOf {
    /// The question about the arguments before.
    pub approval_id: ApprovalId,
    /// Who wrote the arguments that are asked about now.
    pub by: String,
}

impl Approval {
    /// The question about the same call with other arguments: under a digest, and so an id, of its own. Whoever said yes
    /// before said it to something else. It expires when this one does.
    #[must_use]
    pub fn with_arguments(&self, arguments: &Arguments, by: &str, now: Timestamp) -> Self {
        let digest = self.binding(arguments.document()).digest();
        Self {
            approval_id: ApprovalId::from_digest(digest),
            digest,
            shown_text: self.text_of(arguments.document()),
            arguments: arguments.document().clone(),
            arguments_digest: arguments.digest(),
            edited: Some(EditOf { approval_id: self.approval_id.clone(), by: by.to_owned() }),
            requested_at: now,
            state: ApprovalState::Pending,
            yeses: Vec::new(),
            decided_by: None,
            decided_at: None,
            reason: None,
            consumed_at: None,
            ..self.clone()
        }
    }

    /// Whether the record shows what it is bound to: a store that was written into may say anything. Where a secret was taken
    /// out of what is shown, it cannot be compared.
    pub fn shows_what_is_bound(&self) -> bool {
        let names = self.circumstances.files.keys().map(String::as_str);
        let compares = !names.chain([self.arguments.text()]).any(holds_placeholder);
        self.approval_id == ApprovalId::from_digest(self.digest)
            && self.shown_text == self.text_of(&self.arguments)
            && (!compares || self.binding(&self.arguments).digest() == self.digest)
    }

    fn subject(&self) -> [&str; 3] {
        [&self.tenant, &self.user, &self.agent]
    }

    fn binding<'a>(&'a self, arguments: &'a Document) -> Binding<'a> {
        Binding {
            arguments,
            attempt: Some(self.attempt).filter(|attempt| *attempt > 1),
            call_id: &self.call_id,
            circumstances: &self.circumstances,
            definition: self.definition,
            effect: self.effect,
            run_id: &self.run_id,
            subject: self.subject(),
            tool_name: &self.tool_name,
        }
    }

    fn text_of(&self, arguments: &Document) -> String {
        let (tool, version, subject) = (&self.tool_name, &self.tool_version, self.subject());
        shown_text(tool, version, self.effect, subject, &self.circumstances, arguments)
    }

    /// The question as it was asked: what never changes.
    #[must_use]
    pub fn undecided(self) -> Self {
        Self {
            state: ApprovalState::Pending,
            yeses: Vec::new(),
            decided_by: None,
            decided_at: None,
            reason: None,
            consumed_at: None,
            ..self
        }
    }
}

/// Whether a text holds what stands in place of a secret that was taken out.
pub fn holds_placeholder(text: &str) -> bool {
    text.contains("[redacted:")
}
