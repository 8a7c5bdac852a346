//! Who may call a server: its table `[auth]`.

use std::collections::BTreeSet;
use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_sources::mock::TimeSpan;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::run_file::effect_words;

/// Who may call a server, and who may answer its questions. Paths are relative to the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthTable {
    /// Lets callers without a credential in, as `[subject]`; only where nobody but this machine can reach the server. Without: only
    /// where nothing else here says who may come in.
    pub anonymous: Option<bool>,
    /// The file with tokens, as `lockgate token create` writes it.
    pub tokens_file: Option<String>,
    /// The file with the key of run tokens, as `lockgate token run` makes it.
    pub run_key_file: Option<String>,
    /// The URL by which clients know this server, such as `https://gate.example.com/mcp`: what tokens of an issuer must be meant for.
    pub resource: Option<String>,
    /// The scopes that every caller with a credential has to have.
    #[serde(default)]
    pub required_scopes: BTreeSet<String>,
    /// How long a person stays logged in to the approvals page. Without: `8h`.
    pub session: Option<TimeSpan>,
    /// Who issues tokens that are taken here.
    #[serde(default)]
    pub issuer: Vec<IssuerTable>,
}

/// An authorization server whose access tokens (JWT) are taken.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssuerTable {
    /// Its identifier, exactly as its tokens say `iss`.
    pub issuer: String,
    /// Where its public keys are: https, or http on this machine.
    pub jwks_url: Option<String>,
    /// The file with its public keys, in place of a URL.
    pub jwks_file: Option<String>,
    /// Lets `jwks_url` be in a private network.
    #[serde(default)]
    pub allow_private: bool,
    /// Whom its tokens must be meant for, exactly as they say `aud`. Without: `auth.resource`.
    pub audience: Option<String>,
    /// The signatures that are believed.
    pub algorithms: Vec<JwtAlgorithm>,
    /// What its tokens may say that they are (`typ`). Without: `at+jwt` and `JWT`.
    pub types: Option<Vec<String>>,
    /// The tenant of all its callers.
    pub tenant: Option<String>,
    /// The claim that says the tenant, in place of that.
    pub tenant_claim: Option<String>,
    /// The claim that says the person. Without: `sub`.
    pub user_claim: Option<String>,
    /// The claim that says the agent. Without: `client_id`.
    pub agent_claim: Option<String>,
    /// The claim with the scopes: words in a text, or a list. Without: `scope`.
    pub scope_claim: Option<String>,
    /// The data domains that its callers may see.
    #[serde(default)]
    pub domains: BTreeSet<String>,
    /// The strongest effect that its callers may cause. Without: `external`.
    #[serde(default)]
    #[schemars(schema_with = "effect_words")]
    pub level: Option<Effect>,
    /// The scope that makes a token a person's who decides: such a token calls nothing. Without: none of its tokens does.
    pub approve_scope: Option<String>,
    /// The claim with the roles of a person who decides: words in a text, or a list. Without: none.
    pub roles_claim: Option<String>,
    /// How far its clock and this one may differ. Without: `30s`; at most `5m`.
    pub leeway: Option<TimeSpan>,
    /// How often an unknown key makes its keys be fetched again, at most. Without: `1m`.
    pub refresh: Option<TimeSpan>,
}

/// A signature that is believed: all are made with a key that only the issuer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
pub enum JwtAlgorithm {
    /// RSA with PKCS #1 v1.5 and SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSA with PSS and SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl JwtAlgorithm {
    /// The word in a token's header.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl AuthTable {
    /// Whether callers without a credential are let in.
    pub fn is_anonymous(&self) -> bool {
        self.anonymous.unwrap_or(!self.says_who())
    }

    /// Whether anybody with a credential may come in.
    fn says_who(&self) -> bool {
        self.tokens_file.is_some() || self.run_key_file.is_some() || !self.issuer.is_empty()
    }

    /// How long a person stays logged in.
    pub fn session(&self) -> Duration {
        self.session.map_or(Duration::from_hours(8), TimeSpan::as_duration)
    }

    /// What cannot be meant.
    pub fn wrong(&self) -> Option<String> {
        if self.anonymous == Some(false) && !self.says_who() {
            return Some("`auth.anonymous` is false, and nothing else in `auth` says who may come in".to_owned());
        }
        if self.session().is_zero() {
            return Some("`auth.session` is zero, so nobody could log in".to_owned());
        }
        if let Some(scope) = self.required_scopes.iter().find(|scope| !is_scope(scope)) {
            return Some(format!("`auth.required_scopes` has `{scope}`, which is no scope"));
        }
        if let Some(resource) = self.resource.as_deref().filter(|resource| !is_resource(resource)) {
            return Some(format!("`auth.resource` is `{resource}`: it is a URL with https or http, and no `?` or `#`"));
        }
        for issuer in &self.issuer {
            if let Some(wrong) = issuer.wrong(self.resource.is_some()) {
                return Some(format!("the issuer `{}` of `auth` {wrong}", issuer.issuer));
            }
            if self.issuer.iter().filter(|other| other.issuer == issuer.issuer).count() > 1 {
                return Some(format!("`auth` has the issuer `{}` twice", issuer.issuer));
            }
        }
        None
    }
}

impl IssuerTable {
    /// How far clocks may differ.
    pub fn leeway(&self) -> Duration {
        self.leeway.map_or(Duration::from_secs(30), TimeSpan::as_duration)
    }

    /// How often keys are fetched for an unknown one.
    pub fn refresh(&self) -> Duration {
        self.refresh.map_or(Duration::from_mins(1), TimeSpan::as_duration)
    }

    fn wrong(&self, has_resource: bool) -> Option<&'static str> {
        if self.jwks_url.is_some() == self.jwks_file.is_some() {
            return Some("needs one of `jwks_url` and `jwks_file`");
        }
        if self.tenant.is_some() == self.tenant_claim.is_some() {
            return Some("needs one of `tenant` and `tenant_claim`");
        }
        if !has_resource {
            return Some("needs `auth.resource`: its tokens are meant for a server that they name");
        }
        if self.algorithms.is_empty() {
            return Some("has no `algorithms`, so no token of it could be believed");
        }
        if self.types.as_ref().is_some_and(Vec::is_empty) {
            return Some("has no `types`, so no token of it could be taken");
        }
        if self.leeway() > Duration::from_mins(5) {
            return Some("has a `leeway` of more than `5m`");
        }
        if self.refresh() < Duration::from_secs(1) {
            return Some("has a `refresh` of less than `1s`");
        }
        if self.approve_scope.as_deref().is_some_and(|scope| !is_scope(scope)) {
            return Some("has an `approve_scope` that is no scope");
        }
        if self.roles_claim.is_some() && self.approve_scope.is_none() {
            return Some("has a `roles_claim` and no `approve_scope`: nobody of it decides");
        }
        None
    }
}

/// Whether a text is one scope (RFC 6749, appendix A.4).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

/// Whether a text can name this server: it stands in headers and in documents as it is.
fn is_resource(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'?' | b'#' | b'<' | b'>' | b'@'))
}

#[cfg(test)]
mod tests;
