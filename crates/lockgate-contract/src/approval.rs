//! A question put to a person, and the answer (R-167…R-174).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::document::Document;
use crate::effect::Effect;
use crate::ids::{ApprovalId, CallId, RunId};
use crate::subject::Subject;
use crate::time::Timestamp;

/// Everything that an approval names: change any of it and the approval is void (architecture rule 6).
#[derive(Debug, Clone, Serialize)]
pub struct Binding<'a> {
    /// The arguments as they will run.
    pub arguments: &'a Document,
    /// The call.
    pub call_id: &'a CallId,
    /// The digest of the tool's definition.
    pub definition: Digest,
    /// The tool's effect.
    pub effect: Effect,
    /// The run.
    pub run_id: &'a RunId,
    /// On whose behalf: tenant, user and agent.
    pub subject: [&'a str; 3],
    /// The tool.
    pub tool_name: &'a str,
}

impl<'a> Binding<'a> {
    /// The parts of a subject that an approval is bound to.
    pub fn subject(subject: &'a Subject) -> [&'a str; 3] {
        [&subject.tenant, &subject.user, &subject.agent]
    }

    /// The bound digest: SHA-256 over a version tag and the canonical JSON of these fields.
    pub fn digest(&self) -> Digest {
        // INVARIANT: strings and parsed documents always serialise.
        Document::from_serialize(self).map_or_else(
            |error| Digest::of_text("lockgate.approval.unreadable", &error.to_string()),
            |document| Digest::of("lockgate.approval.v1", &document),
        )
    }
}

/// Where an approval stands. `expired` is judged by the store's clock whenever the record is read or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody decided yet.
    Pending,
    /// Somebody said yes; not used yet.
    Granted,
    /// Somebody said no.
    Denied,
    /// Its time ran out before it was used.
    Expired,
    /// It was used, once.
    Consumed,
    /// It was taken back.
    Withdrawn,
}

impl ApprovalState {
    /// The word in files and texts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Granted => "granted",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The record of one question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub approval_id: ApprovalId,
    /// The run that waits.
    pub run_id: RunId,
    /// The call that would run.
    pub call_id: CallId,
    /// The model turn of the call.
    pub step: u32,
    /// The tool.
    pub tool_name: String,
    /// Its version.
    pub tool_version: String,
    /// Its definition digest.
    pub definition: Digest,
    /// The arguments, scrubbed of secrets.
    pub arguments: Document,
    /// The digest of the arguments as they will run.
    pub arguments_digest: Digest,
    /// The tool's effect.
    pub effect: Effect,
    /// On whose behalf.
    pub tenant: String,
    /// On whose behalf.
    pub user: String,
    /// On whose behalf.
    pub agent: String,
    /// The exact text that a person is shown.
    pub shown_text: String,
    /// The bound digest.
    pub digest: Digest,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it becomes too late.
    pub expires_at: Timestamp,
    /// Where it stands.
    pub state: ApprovalState,
    /// Who decided.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
    /// When it was used.
    pub consumed_at: Option<Timestamp>,
}

impl Approval {
    /// The state at a point in time: what is not settled by then is too late.
    pub fn state_at(&self, now: Timestamp) -> ApprovalState {
        match self.state {
            ApprovalState::Pending | ApprovalState::Granted if now >= self.expires_at => ApprovalState::Expired,
            state => state,
        }
    }
}

/// What a person is shown: tool, effect, subject and the arguments, with every invisible character made visible.
pub fn shown_text(tool: &str, version: &str, effect: Effect, subject: [&str; 3], arguments: &Document) -> String {
    let [tenant, user, agent] = subject;
    let mut text = format!(
        "{} {} wants to run with effect {effect}\nfor {} of tenant {}, asked by agent {}\narguments:\n",
        visible(tool),
        visible(version),
        visible(user),
        visible(tenant),
        visible(agent),
    );
    write_arguments(&mut text, arguments);
    text
}

/// The arguments, one top-level member a line.
fn write_arguments(text: &mut String, arguments: &Document) {
    let mut empty = true;
    for (key, value) in arguments.root().members() {
        empty = false;
        let _ = writeln!(text, "  {}: {}", visible(&key), visible(value.raw()));
    }
    if empty {
        text.push_str("  (none)\n");
    }
}

/// Shows control, format, bidirectional and other invisible characters as `\u{…}`, so that what is read is what is there.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_invisible(character) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Characters that a terminal or a page shows as nothing, moves the cursor with, or lets reorder others.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
