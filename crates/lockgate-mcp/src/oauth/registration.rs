//! How an issuer comes to know us: by hand, by the document about us, by registering ourselves (RFC 7591), in this order.

use serde::Deserialize;
use serde_json::json;

use super::client::{Client, Method};
use super::error::{OAuthError, shown};
use super::metadata::AuthorityMetadata;
use super::vault::{Registration, Vault};
use super::web::Web;
use super::{Secret, Settings};
use lockgate_contract::time::Timestamp;

/// For what somebody wants to be known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) upstream: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) now: Timestamp,
}

/// Who we are to this issuer. What another issuer knows us by is never shown to it.
pub(super) async fn client(
    web: &Web,
    vault: &Vault,
    authority: &AuthorityMetadata,
    settings: &Settings,
    wanted: Wanted<'_>,
) -> Result<Client, OAuthError> {
    if let Some(client) = Client::registered(settings, authority)? {
        return Ok(client);
    }
    if let Some(url) = settings.client_metadata_url.as_ref().filter(|_| authority.client_id_metadata_document_supported)
    {
        return Ok(Client { id: url.clone(), secret: None, method: Method::Nothing });
    }
    if let Some(known) = vault.registration(wanted.upstream, &authority.issuer, wanted.redirect_uri, wanted.now).await?
    {
        return Ok(known);
    }
    let Some(endpoint) = &authority.registration_endpoint else {
        let lacks = "lets no client register itself: register one there, and configure its `client_id`".to_owned();
        return Err(OAuthError::Lacking { issuer: authority.issuer.clone(), lacks });
    };
    let (client, expires_at) = register(web, endpoint, authority, wanted).await?;
    let registration = Registration {
        upstream: wanted.upstream.to_owned(),
        issuer: authority.issuer.clone(),
        redirect_uri: wanted.redirect_uri.to_owned(),
        client: client.clone(),
        expires_at,
    };
    vault.keep_registration(registration).await?;
    Ok(client)
}

/// What an issuer answers a new client with.
#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<Secret>,
    #[serde(default)]
    client_secret_expires_at: Option<i64>,
    token_endpoint_auth_method: Option<String>,
}

async fn register(
    web: &Web,
    endpoint: &str,
    authority: &AuthorityMetadata,
    wanted: Wanted<'_>,
) -> Result<(Client, Option<Timestamp>), OAuthError> {
    // A program on somebody's machine keeps no secret from them; a server can.
    let is_native = super::web::check_form("redirect", wanted.redirect_uri)?.scheme() == "http";
    let (kind, ours) = if is_native {
        ("native", [Method::Nothing, Method::Basic, Method::Post])
    } else {
        ("web", [Method::Basic, Method::Post, Method::Nothing])
    };
    let asked = Method::choose(authority, &ours)?;
    let body = json!({
        "client_name": "Lockgate",
        "application_type": kind,
        "redirect_uris": [wanted.redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": asked.name(),
    });
    let answer = web.post("registration", endpoint, "application/json", body.to_string(), None).await?;
    if let (false, Some((code, said))) = (answer.status.is_success(), answer.error()) {
        return Err(OAuthError::Denied { issuer: authority.issuer.clone(), code, said });
    }
    let said: Answer = answer.secrets()?;
    let method = match said.token_endpoint_auth_method.as_deref() {
        None => asked,
        Some(name) => ours
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| answer.unusable(format!("it wants clients to prove themselves by `{}`", shown(name))))?,
    };
    if method != Method::Nothing && said.client_secret.is_none() {
        return Err(answer.unusable("it wants a secret, and gives none".to_owned()));
    }
    if said.client_id.is_empty() || said.client_id.len() > 4 << 10 {
        return Err(answer.unusable("it gives no id".to_owned()));
    }
    let expires_at = said.client_secret_expires_at.filter(|seconds| *seconds > 0);
    let expires_at = expires_at.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
    let secret = said.client_secret.filter(|_| method != Method::Nothing);
    Ok((Client { id: said.client_id, secret, method }, expires_at))
}
