//! What has become of those who were let in.

use std::sync::Arc;

use lockgate::contract::time::Timestamp;
use lockgate_mcp::server::{Principal, Standing};

use crate::tokens::{RunKey, TokenFile};

/// What the files with credentials say at one moment.
pub(crate) struct Standings {
    pub(super) now: Timestamp,
    pub(super) tokens: Says<TokenFile>,
    pub(super) run_key: Says<RunKey>,
}

/// What a file says.
pub(super) enum Says<T> {
    /// There is none.
    Nothing,
    /// It cannot be used.
    Unusable,
    /// This.
    This(Arc<T>),
}

impl<T> Says<T> {
    /// What a file says now, where there is one.
    pub(super) fn of<E>(file: Option<Result<Arc<T>, E>>) -> Self {
        match file {
            None => Self::Nothing,
            Some(Err(_)) => Self::Unusable,
            Some(Ok(said)) => Self::This(said),
        }
    }

    fn said(&self) -> Option<&Arc<T>> {
        if let Self::This(said) = self { Some(said) } else { None }
    }
}

impl Standings {
    /// Whether a file cannot be used: it may be one that is being written.
    pub(crate) fn are_unsure(&self) -> bool {
        matches!(self.tokens, Says::Unusable) || matches!(self.run_key, Says::Unusable)
    }

    /// What has become of this one. A file that cannot be used lets nobody in, and nobody stay.
    pub(crate) fn of(&self, principal: &Principal) -> Standing {
        let is_known = if RunKey::is_credential(&principal.credential) {
            principal
                .run
                .as_ref()
                .zip(self.run_key.said())
                .is_some_and(|(run, key)| key.credential(run) == principal.credential)
        } else if TokenFile::is_credential(&principal.credential) {
            let mut tokens = self.tokens.said().into_iter().flat_map(|file| &file.tokens);
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
