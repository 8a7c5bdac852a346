//! What has become of those who were let in.

use std::sync::Arc;

use lockgate::contract::time::Timestamp;
use lockgate_mcp::server::{Principal, Standing};

use crate::tokens::{RunKey, TokenFile};

/// What the files with credentials say at one moment. Nothing in place of one that cannot be used.
pub(crate) struct Standings {
    pub(super) now: Timestamp,
    pub(super) tokens: Option<Option<Arc<TokenFile>>>,
    pub(super) run_key: Option<Option<Arc<RunKey>>>,
}

impl Standings {
    /// Whether a file cannot be used: it may be one that is being written.
    pub(crate) fn are_unsure(&self) -> bool {
        matches!(self.tokens, Some(None)) || matches!(self.run_key, Some(None))
    }

    /// What has become of this one. A file that cannot be used lets nobody in, and nobody stay.
    pub(crate) fn of(&self, principal: &Principal) -> Standing {
        let is_known = if RunKey::is_credential(&principal.credential) {
            let key = self.run_key.iter().flatten().next();
            principal.run.as_ref().zip(key).is_some_and(|(run, key)| key.credential(run) == principal.credential)
        } else if TokenFile::is_credential(&principal.credential) {
            let mut tokens = self.tokens.iter().flatten().flat_map(|file| &file.tokens);
            // What was taken from it meanwhile is taken from what it began, too.
            let is_it = |subject: &Arc<_>| **subject == *principal.subject;
            tokens
                .any(|token| token.credential() == principal.credential && token.subject().is_some_and(|it| is_it(&it)))
        } else {
            true
        };
        match (is_known, principal.until) {
            (false, _) => Standing::Revoked,
            (true, Some(until)) if self.now >= until => Standing::Over,
            (true, _) => Standing::Good,
        }
    }
}
