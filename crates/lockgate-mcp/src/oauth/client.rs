//! Who we are to an issuer, and how we prove it.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockgate_contract::ports::Clock;
use serde::{Deserialize, Serialize};

use super::error::OAuthError;
use super::form::encoded;
use super::metadata::AuthorityMetadata;
use super::secret::exposed;
use super::{Proof, Secret, Settings, jwt};

/// A client, as an issuer knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    #[serde(serialize_with = "exposed::option")]
    pub(super) secret: Option<Secret>,
    pub(super) method: Method,
}

/// How a client proves who it is when it asks for a token (RFC 7591 section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Method {
    #[serde(rename = "none")]
    Nothing,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "private_key_jwt")]
    Key,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Key => "private_key_jwt",
        }
    }

    /// The first of these that an issuer takes.
    pub(super) fn choose(authority: &AuthorityMetadata, ours: &[Self]) -> Result<Self, OAuthError> {
        let usual = [Self::Basic.name().to_owned()];
        let theirs = authority.token_endpoint_auth_methods_supported.as_deref().unwrap_or(&usual);
        let fits = |method: &&Self| theirs.iter().any(|name| name == method.name());
        ours.iter().find(fits).copied().ok_or_else(|| {
            let names: Vec<_> = ours.iter().map(|method| method.name()).collect();
            let lacks = format!("takes none of {} from clients", names.join(", "));
            OAuthError::Lacking { issuer: authority.issuer.clone(), lacks }
        })
    }
}

impl Client {
    /// The client that somebody registered by hand.
    pub(super) fn registered(settings: &Settings, authority: &AuthorityMetadata) -> Result<Option<Self>, OAuthError> {
        let Some(client) = &settings.client else { return Ok(None) };
        let (secret, method) = match &client.proof {
            // Asked for or not: there is nothing else to show.
            Proof::Nothing => (None, Method::Nothing),
            Proof::Secret(secret) => (Some(secret.clone()), Method::choose(authority, &[Method::Basic, Method::Post])?),
            Proof::Key(_) => (None, Method::choose(authority, &[Method::Key])?),
        };
        Ok(Some(Self { id: client.id.clone(), secret, method }))
    }

    /// Adds who we are to a request for a token: as fields of it, or as the header `Authorization` that is returned.
    pub(super) fn sign(
        &self,
        fields: &mut Vec<(&'static str, Cow<'_, str>)>,
        settings: &Settings,
        authority: &AuthorityMetadata,
        clock: &dyn Clock,
    ) -> Result<Option<Secret>, OAuthError> {
        let secret = || {
            let wanted = || OAuthError::Settings(format!("client `{}` has no secret", super::error::shown(&self.id)));
            self.secret.as_ref().map(Secret::expose).ok_or_else(wanted)
        };
        match self.method {
            Method::Nothing => fields.push(("client_id", self.id.clone().into())),
            Method::Basic => {
                // RFC 6749 section 2.3.1: both are encoded as in a form before they are joined.
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret()?));
                return Ok(Some(Secret::new(format!("Basic {}", STANDARD.encode(pair)))));
            }
            Method::Post => {
                fields.push(("client_id", self.id.clone().into()));
                fields.push(("client_secret", secret()?.to_owned().into()));
            }
            Method::Key => {
                let key = settings.client.as_ref().and_then(|client| match &client.proof {
                    Proof::Key(key) => Some(key),
                    Proof::Nothing | Proof::Secret(_) => None,
                });
                let key = key.ok_or_else(|| OAuthError::Settings("the client's private key is missing".to_owned()))?;
                let assertion = jwt::about(&self.id, &authority.issuer, key, clock)?;
                fields.push(("client_id", self.id.clone().into()));
                fields.push(("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".into()));
                fields.push(("client_assertion", assertion.expose().to_owned().into()));
            }
        }
        Ok(None)
    }
}
