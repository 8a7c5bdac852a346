//! An issuer whose access tokens are believed, and what they make of a caller.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate::config::{IssuerTable, JwtAlgorithm};
use lockgate::contract::digest::Digest;
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate_mcp::server::Principal;

use super::error::AuthError;
use super::keys::Keys;
use super::token::Jwt;
use super::{Caller, Held, Person};

/// One issuer.
pub(super) struct Issuer {
    table: IssuerTable,
    audience: String,
    keys: Keys,
}

/// Why a token of an issuer is not believed: for the log, and for nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Algorithm,
    Type,
    NoKey,
    KeysMissing,
    Signature,
    Audience,
    Time,
    Expired,
    NotYet,
    Claims(&'static str),
}

impl Refused {
    /// Whether it is no fault of the token's.
    pub(super) fn is_ours(self) -> bool {
        self == Self::KeysMissing
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Algorithm => "it is signed in a way that is not believed here",
            Self::Type => "it is no access token",
            Self::NoKey => "no key of the issuer fits it",
            Self::KeysMissing => "the issuer's keys cannot be had",
            Self::Signature => "its signature is not the issuer's",
            Self::Audience => "it is meant for somebody else",
            Self::Time => "a time in it is none",
            Self::Expired => "it has expired",
            Self::NotYet => "its time has not come",
            Self::Claims(wrong) => wrong,
        }
    }
}

impl Issuer {
    pub(super) fn new(table: &IssuerTable, resource: Option<&str>, folder: &Path) -> Result<Self, AuthError> {
        let audience = table.audience.as_deref().or(resource).unwrap_or_default().to_owned();
        Ok(Self { keys: Keys::new(table, folder)?, table: table.clone(), audience })
    }

    pub(super) fn name(&self) -> &str {
        &self.table.issuer
    }

    /// Whoever has a token of this issuer. `monotonic` is the clock that the age of keys is measured by.
    pub(super) async fn caller(&self, token: &Jwt<'_>, now: Timestamp, monotonic: Duration) -> Result<Caller, Refused> {
        let algorithm = self.algorithm(token)?;
        self.check_type(token)?;
        let kid = token.header("kid");
        if kid.is_none() && token.header_has("kid") {
            return Err(Refused::NoKey);
        }
        let key = self.keys.find(kid.as_deref(), algorithm, monotonic).await?;
        // Nothing that it claims is looked at before.
        if !key.signed(algorithm, token.signed.as_bytes(), &token.signature) {
            return Err(Refused::Signature);
        }
        let end = self.check_times(token, now)?;
        if !token.is_for(&self.audience) {
            return Err(Refused::Audience);
        }
        self.mapped(token, end)
    }

    /// The algorithm that the token names, if it is one of those that are believed: its own word decides nothing beyond that.
    fn algorithm(&self, token: &Jwt<'_>) -> Result<JwtAlgorithm, Refused> {
        let said = token.header("alg").ok_or(Refused::Algorithm)?;
        self.table.algorithms.iter().copied().find(|known| known.word() == said).ok_or(Refused::Algorithm)
    }

    fn check_type(&self, token: &Jwt<'_>) -> Result<(), Refused> {
        let said = token.header("typ").ok_or(Refused::Type)?;
        let said = said.strip_prefix("application/").unwrap_or(&said);
        let is = |known: &str| known.eq_ignore_ascii_case(said);
        let known = match &self.table.types {
            Some(types) => types.iter().any(|known| is(known)),
            None => is("at+jwt") || is("JWT"),
        };
        if known { Ok(()) } else { Err(Refused::Type) }
    }

    /// When its time is over.
    fn check_times(&self, token: &Jwt<'_>, now: Timestamp) -> Result<Timestamp, Refused> {
        let time = |claim| token.time(claim).map_err(|()| Refused::Time);
        let leeway = self.table.leeway();
        let end = time("exp")?.ok_or(Refused::Time)?.after(leeway);
        if now >= end {
            return Err(Refused::Expired);
        }
        let is_later = |at: Option<Timestamp>| at.is_some_and(|at| at > now.after(leeway));
        if is_later(time("nbf")?) || is_later(time("iat")?) {
            return Err(Refused::NotYet);
        }
        Ok(end)
    }

    /// What its claims make of whoever has it.
    fn mapped(&self, token: &Jwt<'_>, end: Timestamp) -> Result<Caller, Refused> {
        let table = &self.table;
        let named = |claim: Option<&str>, otherwise: &str, wrong| {
            token.name(claim.unwrap_or(otherwise)).ok_or(Refused::Claims(wrong))
        };
        let words = |claim: Option<&str>, wrong| match claim {
            Some(claim) => token.words(claim).ok_or(Refused::Claims(wrong)),
            None => Ok(BTreeSet::new()),
        };
        let tenant = match &table.tenant {
            Some(tenant) => tenant.clone(),
            None => named(table.tenant_claim.as_deref(), "", "it names no tenant")?,
        };
        let user = named(table.user_claim.as_deref(), "sub", "it names no user")?;
        let scopes = words(Some(table.scope_claim.as_deref().unwrap_or("scope")), "its scopes are no words")?;
        if table.approve_scope.as_ref().is_some_and(|scope| scopes.contains(scope)) {
            let roles = words(table.roles_claim.as_deref(), "its roles are no words")?;
            return Ok(Caller::Person(Person { name: user, tenant, roles, held: Held::Until(end) }));
        }
        let agent = named(table.agent_claim.as_deref(), "client_id", "it names no agent")?;
        // The next token of the same agent for the same person goes on with what this one began.
        let same = serde_json::json!([table.issuer, tenant, user, agent]).to_string();
        let credential = format!("jwt:{}", Digest::of_text("lockgate.jwt.v1", &same).short(32));
        let default = Subject::default();
        let subject = Subject {
            tenant,
            user,
            agent,
            scopes,
            domains: table.domains.clone(),
            level: table.level.unwrap_or(default.level),
            versions: default.versions,
        };
        Ok(Caller::Agent(Principal { subject: Arc::new(subject), credential, run: None, until: Some(end) }))
    }
}
