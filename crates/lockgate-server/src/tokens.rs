//! Tokens that stand in a local file, by what is known of them: never by themselves.
//!
//! A token is 32 random bytes. Its SHA-256 is enough to keep: there is nothing that a slow hash would slow down, for nobody can
//! try 2^256 of them.

mod file;
mod run;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::digest::Digest;
use lockgate::contract::effect::Effect;
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate::host::private_files::PrivateFileError;
use lockgate::host::randomness;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

pub use self::file::{MOST_BYTES, TokenFile};
pub(crate) use self::run::{MOST_KEY_BYTES, PREFIX as RUN_PREFIX};
pub use self::run::{RunKey, RunTokenRefused};

/// How tokens of Lockgate's own begin.
pub const PREFIX: &str = "lgt_";

/// How what is bound to a token of a file begins.
const CREDENTIAL: &str = "token:";

/// What a file says of one token. It is an agent's, which calls, or a person's, who decides: never both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// What it is called. It is no secret.
    pub id: String,
    /// The SHA-256 of the whole token.
    pub sha256: Digest,
    /// The tenant.
    pub tenant: String,
    /// The person: on whose behalf the agent works, or who decides.
    pub user: String,
    /// The agent; absent where the token is a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What an agent may reach.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<String>,
    /// The data domains that an agent may see.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub domains: BTreeSet<String>,
    /// The strongest effect that an agent may cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Effect>,
    /// The roles of a person, beside those of a run's own file.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is good no more; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why a file of tokens is not read or written.
#[derive(Debug, Error)]
pub enum TokensError {
    /// The file itself.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// It is there, and makes no sense.
    #[error("`{}` holds no tokens: {detail}", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A key that is none.
    #[error("`{}` holds no key of run tokens: it is one line of 64 lower-case hexadecimal digits", .0.display())]
    NoKey(PathBuf),
    /// It cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A token that cannot be.
    #[error("token `{id}` {wrong}")]
    Wrong {
        /// Its id.
        id: String,
        /// What is wrong.
        wrong: &'static str,
    },
    /// There is no such token.
    #[error("`{}` has no token `{id}`", .path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// There is no randomness to make one of.
    #[error("no token can be made: {0}")]
    NoRandomness(#[source] io::Error),
}

impl TokensError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint(),
            Self::Broken { .. } => Some("nobody comes in by it until it is mended".to_owned()),
            Self::NoKey(_) => Some("remove it: `lockgate token run` makes another one".to_owned()),
            Self::Unknown { .. } => Some("`lockgate token list` shows them".to_owned()),
            Self::Wrong { .. } | Self::Unwritten { .. } | Self::NoRandomness(_) => None,
        }
    }
}

/// A token that was just made. It is said once, and kept nowhere.
pub struct Issued {
    /// What whoever comes in by it sends.
    pub secret: String,
    /// What is kept of it.
    pub token: Token,
}

impl Token {
    /// Makes a token: `described` says everything but its digest.
    ///
    /// # Errors
    ///
    /// It cannot be, or there is no randomness.
    pub fn issue(described: Self) -> Result<Issued, TokensError> {
        let bytes = randomness::secret_bytes().map_err(TokensError::NoRandomness)?;
        let secret = format!("{PREFIX}{}_{}", described.id, URL_SAFE_NO_PAD.encode(bytes));
        let token = Self { sha256: sha256(&secret), ..described };
        match token.wrong() {
            None => Ok(Issued { secret, token }),
            Some(wrong) => Err(TokensError::Wrong { id: token.id, wrong }),
        }
    }

    /// Whether this is what was sent. It takes the same time whether it is or not.
    pub(crate) fn is(&self, sent: &str) -> bool {
        self.sha256.as_bytes().ct_eq(sha256(sent).as_bytes()).into()
    }

    /// What whoever comes in by it is bound to: another one of the same id, made after this one was revoked, goes on with nothing of its.
    pub(crate) fn credential(&self) -> String {
        format!("{CREDENTIAL}{}:{}", self.id, self.sha256.short(16))
    }

    /// Whether it is good no more.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| now >= at)
    }

    /// On whose behalf an agent with this token calls; nothing where it is a person's.
    pub fn subject(&self) -> Option<Arc<Subject>> {
        let agent = self.agent.clone()?;
        let default = Subject::default();
        Some(Arc::new(Subject {
            tenant: self.tenant.clone(),
            user: self.user.clone(),
            agent,
            scopes: self.scopes.clone(),
            domains: self.domains.clone(),
            level: self.level.unwrap_or(default.level),
            versions: default.versions,
        }))
    }

    /// What cannot be meant.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let is_name = |name: &str| !name.trim().is_empty() && name.len() <= 256 && !name.chars().any(char::is_control);
        if !is_id(&self.id) {
            return Some("has an id that is none: 1 to 64 lower-case letters, digits and hyphens");
        }
        if !is_name(&self.tenant) || !is_name(&self.user) || !self.agent.as_deref().is_none_or(is_name) {
            return Some("has a tenant, user or agent that is no name");
        }
        if self.agent.is_some() && !self.roles.is_empty() {
            return Some("has an agent and roles: an agent decides nothing");
        }
        let of_agents = !self.scopes.is_empty() || !self.domains.is_empty() || self.level.is_some();
        if self.agent.is_none() && of_agents {
            return Some("has no agent, and scopes, domains or a level: a person's token calls nothing");
        }
        None
    }
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&id.len()) && id.bytes().all(is_plain)
}

fn sha256(text: &str) -> Digest {
    Digest::from_bytes(Sha256::digest(text).into())
}
