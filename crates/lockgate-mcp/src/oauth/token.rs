//! How an issuer is asked for a token (RFC 6749 sections 4 to 6).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use lockgate_contract::ports::Clock;
use lockgate_contract::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::client::Client;
use super::confidant::Confidant;
use super::error::{OAuthError, shown};
use super::form;
use super::metadata::AuthorityMetadata;
use super::web::Web;
use super::{Secret, Settings, scope};

/// Whom a token is asked of, by whom, for which server.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) web: &'a Web,
    pub(super) authority: &'a AuthorityMetadata,
    pub(super) client: &'a Client,
    pub(super) settings: &'a Settings,
    pub(super) clock: &'a dyn Clock,
    pub(super) confidant: &'a dyn Confidant,
    /// The server as its metadata write it (RFC 8707): a token is good there and nowhere else.
    pub(super) resource: &'a str,
    pub(super) scopes: &'a BTreeSet<String>,
}

/// What an issuer gave.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) access: Secret,
    pub(super) refresh: Option<Secret>,
    pub(super) expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Answer {
    access_token: Secret,
    token_type: String,
    // Some issuers write it as a text.
    expires_in: Option<Value>,
    refresh_token: Option<Secret>,
}

/// One that ends later than this is looked at again by then.
const LONGEST: u64 = 10 * 365 * 24 * 3600;

impl Asking<'_> {
    /// For what a person's redirect brought.
    pub(super) async fn redeem(
        &self,
        code: &Secret,
        verifier: &Secret,
        redirect_uri: &str,
    ) -> Result<Token, OAuthError> {
        self.send(vec![
            ("grant_type", "authorization_code".into()),
            ("code", code.expose().into()),
            ("redirect_uri", redirect_uri.into()),
            ("code_verifier", verifier.expose().into()),
        ])
        .await
    }

    /// For an older token.
    pub(super) async fn refresh(&self, refresh: &Secret) -> Result<Token, OAuthError> {
        self.send(vec![("grant_type", "refresh_token".into()), ("refresh_token", refresh.expose().into())]).await
    }

    /// As whatever grant this is.
    pub(super) async fn send(&self, mut fields: Vec<(&'static str, Cow<'_, str>)>) -> Result<Token, OAuthError> {
        let issuer = &self.authority.issuer;
        let endpoint = self.authority.token_endpoint.as_deref().ok_or_else(|| OAuthError::Lacking {
            issuer: issuer.clone(),
            lacks: "does not say where tokens are had".to_owned(),
        })?;
        fields.push(("resource", self.resource.into()));
        let authorization = self.client.sign(&mut fields, self.settings, self.authority, self.clock)?;
        let body = form::written(&fields);
        let kind = "application/x-www-form-urlencoded";
        let answer = self.web.post("token", endpoint, kind, body, authorization.as_ref()).await?;
        // Some issuers say no with a status of success.
        if let Some((code, said)) = answer.error() {
            return Err(OAuthError::Denied { issuer: issuer.clone(), code, said });
        }
        let said: Answer = answer.secrets()?;
        if !said.token_type.eq_ignore_ascii_case("bearer") {
            return Err(answer.unusable(format!("it is of the type `{}`, and not `Bearer`", shown(&said.token_type))));
        }
        let access = said.access_token.expose();
        if access.is_empty() || access.len() > 64 << 10 || !access.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
            return Err(answer.unusable("it is no token that can be sent".to_owned()));
        }
        let seconds = said.expires_in.as_ref().and_then(seconds).map(|seconds| seconds.min(LONGEST));
        let expires_at = seconds.map(|seconds| self.clock.now().after(Duration::from_secs(seconds)));
        let refresh = said.refresh_token.filter(|token| !token.expose().is_empty());
        Ok(Token { access: said.access_token, refresh, expires_at })
    }

    /// The scopes as a field, where there are any.
    pub(super) fn scope(&self) -> Option<(&'static str, Cow<'static, str>)> {
        scope::written(self.scopes).map(|scopes| ("scope", scopes.into()))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, and less than zero is over")]
fn seconds(value: &Value) -> Option<u64> {
    value.as_f64().map(|seconds| seconds as u64).or_else(|| value.as_str()?.trim().parse().ok())
}
