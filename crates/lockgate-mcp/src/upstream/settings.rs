//! What an operator says about one server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
use lockgate_contract::subject::Subject;

use super::login::Login;
pub use crate::oauth::Secret;
use crate::wire::Era;

/// One server, as it was configured. Two that are equal need no new start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Its name here.
    pub name: String,
    /// What stands before `__` in the names of its tools.
    pub prefix: String,
    /// Where it is.
    pub place: Place,
    /// What it is told of who calls.
    pub tokens: Tokens,
    /// How such tokens are got, where nobody wrote them down.
    pub login: Option<Login>,
    /// The only era in which it is spoken with; without, it is found out.
    pub era: Option<Era>,
    /// The version that it must say that it has.
    pub version: Option<String>,
    /// Its tools that exist, by its own names; all without.
    pub allow: Option<Vec<String>>,
    /// Its tools that do not.
    pub hide: Vec<String>,
    /// What its tools may do.
    pub rules: Rules,
    /// What single tools may do, by its own names.
    pub tools: BTreeMap<String, Rules>,
    /// How long one call may take whose tool says nothing.
    pub timeout: Duration,
    /// How long one call may be without a sign of life.
    pub idle_timeout: Option<Duration>,
    /// Whether nothing starts without it.
    pub required: bool,
    /// How long its start may take.
    pub start_timeout: Duration,
    /// How often it is started again within an hour.
    pub restarts: u32,
    /// What it may ask whoever sent a call.
    pub relay: Relay,
    /// Where a call's idempotency key goes, where it recognises one.
    pub key: KeyGoes,
    /// Whether URIs of its resources are told apart from those of other servers.
    pub alone: bool,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A program of this machine.
    Program {
        /// The program, with its arguments.
        command: Vec<String>,
        /// Its whole environment.
        environment: BTreeMap<String, Secret>,
        /// Its folder.
        folder: PathBuf,
    },
    /// An address.
    Address {
        /// The URL.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, Secret>,
    },
}

/// What a server is told of who calls: tokens that were made for it. What a client showed here never goes to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The token for everybody; where users have their own, for asking what the server offers.
    pub shared: Option<Secret>,
    /// The tokens of users, by tenant and user.
    pub by_user: BTreeMap<(String, String), Secret>,
}

/// What a tool may do, as far as somebody says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Its side effect.
    pub effect: Option<Effect>,
    /// The permission that it declares.
    pub permission: Option<Permission>,
    /// Whether recovery may run it again.
    pub replay: Option<ReplayPolicy>,
    /// The scopes that a subject needs, all of them.
    pub scopes: Option<BTreeSet<String>>,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// Its version.
    pub version: Option<String>,
}

/// What a server may ask whoever sent a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relay {
    /// Questions to the person.
    pub elicitation: bool,
    /// Text from the client's model.
    pub sampling: bool,
    /// The folders that the client works in.
    pub roots: bool,
}

/// Where a call's idempotency key goes, beside `_meta`, which always has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyGoes {
    /// Nowhere else: nobody says that the server recognises one.
    Nowhere,
    /// Into this argument.
    Argument(String),
}

/// Whose connection it is: credentials are kept apart by subject, server and whoever issued them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// Everybody's.
    Shared,
    /// One user's.
    User {
        /// The tenant.
        tenant: String,
        /// The user.
        user: String,
        /// Who issued the token: the server's origin.
        issuer: String,
    },
}

impl Settings {
    /// What a server says of itself, without what it was given: a program that ends tells its credentials as readily as its reasons.
    pub(super) fn without_secrets(&self, mut text: String) -> String {
        /// Shorter values are words, and would be found everywhere.
        const SHORTEST: usize = 8;
        let given = match &self.place {
            Place::Program { environment, .. } => environment,
            Place::Address { headers, .. } => headers,
        };
        // Where programs are, and whose they are, is no secret.
        let given = given.iter().filter(|(name, _)| !matches!(name.as_str(), "PATH" | "HOME")).map(|(_, value)| value);
        for value in given.chain(&self.tokens.shared).chain(self.tokens.by_user.values()) {
            let value = value.expose();
            if value.len() >= SHORTEST && text.contains(value) {
                text = text.replace(value, "[redacted]");
            }
        }
        text
    }

    /// Whose connection a call of this subject goes through; nothing where the subject has no token and needs one.
    pub fn identity(&self, subject: &Subject) -> Option<Identity> {
        if self.login.as_ref().is_some_and(Login::is_personal) {
            let Subject { tenant, user, .. } = subject;
            return Some(Identity::User { tenant: tenant.clone(), user: user.clone(), issuer: self.place.origin() });
        }
        if self.tokens.by_user.is_empty() {
            return Some(Identity::Shared);
        }
        let key = (subject.tenant.clone(), subject.user.clone());
        let (tenant, user) = self.tokens.by_user.contains_key(&key).then_some(key)?;
        Some(Identity::User { tenant, user, issuer: self.place.origin() })
    }

    /// Whether connections are opened for this identity.
    pub(super) fn is_reached_as(&self, identity: &Identity) -> bool {
        let is_personal = self.login.as_ref().is_some_and(Login::is_personal);
        match identity {
            Identity::Shared => !is_personal && self.tokens.by_user.is_empty(),
            Identity::User { issuer, .. } => {
                *issuer == self.place.origin() && (is_personal || self.token(identity).is_some())
            }
        }
    }

    /// The token of this identity. Another's is never an answer.
    pub fn token(&self, identity: &Identity) -> Option<&Secret> {
        match identity {
            Identity::Shared => self.tokens.shared.as_ref(),
            Identity::User { issuer, .. } if *issuer != self.place.origin() => None,
            Identity::User { tenant, user, .. } => self.tokens.by_user.get(&(tenant.clone(), user.clone())),
        }
    }

    /// Whether a tool of this raw name exists.
    pub(super) fn offers(&self, raw: &str, fits: impl Fn(&str, &str) -> bool) -> bool {
        let named = |rules: &[String]| rules.iter().any(|rule| fits(rule, raw));
        self.allow.as_deref().is_none_or(named) && !named(&self.hide)
    }
}

impl Place {
    /// Scheme, host and port of an address.
    fn origin(&self) -> String {
        match self {
            Self::Program { .. } => String::new(),
            Self::Address { url, .. } => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase())
            }
        }
    }
}

#[cfg(test)]
mod tests;
