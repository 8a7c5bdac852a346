//! One login of one person at one issuer.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate_contract::ports::BoxFuture;
use sha2::{Digest as _, Sha256};

use super::answer;
use super::authorizer::Inner;
use super::client::Client;
use super::error::OAuthError;
use super::metadata::{AuthorityMetadata, ResourceMetadata};
use super::token::Asking;
use super::web::{Web, check_form};
use super::{Owner, Secret, form, scope};

/// Brings a person to an issuer, and what they bring back to the [`Flow`].
pub trait UserAgent: Send + Sync {
    /// Where the issuer sends the person back to: one URL, for issuers compare it as a text.
    fn redirect_uri(&self) -> &str;

    /// Has a person visit [`Flow::url`], and hands what comes back to [`Flow::finish`]: now, or later, in which case the answer now is
    /// [`OAuthError::AuthorizationNeeded`]. The URL is a stranger's: it is shown, and handed to no shell.
    fn visit(&self, flow: Flow) -> BoxFuture<'_, Result<(), OAuthError>>;
}

/// One login of one person at one issuer, under way.
pub struct Flow {
    pub(super) url: String,
    pub(super) state: Secret,
    pub(super) authority: AuthorityMetadata,
    pub(super) scopes: BTreeSet<String>,
    pub(super) for_whom: Arc<Inner>,
    pub(super) web: Web,
    pub(super) client: Client,
    pub(super) resource: ResourceMetadata,
    pub(super) redirect_uri: String,
    pub(super) verifier: Secret,
}

impl Flow {
    /// The URL that the person has to visit: https, or http on this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Who the token is for.
    pub fn owner(&self) -> &Owner {
        &self.for_whom.parts.owner
    }

    /// The name of the server that it is for.
    pub fn upstream(&self) -> &str {
        &self.for_whom.parts.upstream
    }

    /// Who is asked.
    pub fn issuer(&self) -> &str {
        &self.authority.issuer
    }

    /// Whether the query of a redirect is the answer to this login, be it a good one or not.
    pub fn is_answered_by(&self, query: &str) -> bool {
        answer::state(query).is_some_and(|state| state == self.state.expose())
    }

    /// Looks at the query of a redirect, and redeems what it brought.
    ///
    /// # Errors
    ///
    /// It is no answer to this login, comes from another issuer, or says no; or the issuer gives no token for it.
    pub async fn finish(self, query: &str) -> Result<(), OAuthError> {
        let code = answer::code(query, &self.state, &self.authority)?;
        let asking = self.asking();
        match asking.redeem(&code, &self.verifier, &self.redirect_uri).await {
            Ok(token) => {
                let Self { for_whom, resource, client, authority, scopes, .. } = self;
                for_whom.keep(token, client, &authority.issuer, resource.resource, scopes).await
            }
            Err(error) => {
                self.for_whom.refused_client(&error, &self.authority.issuer).await;
                Err(error)
            }
        }
    }

    fn asking(&self) -> Asking<'_> {
        Asking {
            web: &self.web,
            authority: &self.authority,
            client: &self.client,
            settings: &self.for_whom.parts.settings,
            clock: &*self.for_whom.parts.clock,
            confidant: &*self.for_whom.parts.confidant,
            resource: &self.resource.resource,
            scopes: &self.scopes,
        }
    }
}

/// The URL at which a person lets a client in, bound to this login by `state` and `verifier`.
pub(super) fn url(
    authority: &AuthorityMetadata,
    client: &Client,
    resource: &str,
    scopes: &BTreeSet<String>,
    redirect_uri: &str,
    (state, verifier): (&Secret, &Secret),
) -> Result<String, OAuthError> {
    let lacking = |lacks: &str| OAuthError::Lacking { issuer: authority.issuer.clone(), lacks: lacks.to_owned() };
    if !authority.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(lacking(
            "does not say that it binds codes to whoever asked for them (PKCE with S256), without which they can be stolen",
        ));
    }
    let endpoint = authority.authorization_endpoint.as_deref();
    let endpoint = endpoint.ok_or_else(|| lacking("does not say where people log in"))?;
    check_form("place to log in", endpoint)?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose()));
    let mut fields = vec![
        ("response_type", "code".into()),
        ("client_id", client.id.as_str().into()),
        ("redirect_uri", redirect_uri.into()),
        ("state", state.expose().into()),
        ("code_challenge", challenge.into()),
        ("code_challenge_method", "S256".into()),
        ("resource", resource.into()),
    ];
    fields.extend(scope::written(scopes).map(|scopes| ("scope", scopes.into())));
    // An issuer that cannot ask for consent gives no lasting token (OpenID Connect Core section 11).
    if scopes.contains("offline_access") {
        fields.push(("prompt", "consent".into()));
    }
    let joint = if endpoint.contains('?') { '&' } else { '?' };
    Ok(format!("{endpoint}{joint}{}", form::written(&fields)))
}

/// 256 bits that nobody guesses, in characters that stand for themselves in URLs.
pub(super) fn random() -> Result<Secret, OAuthError> {
    let bytes = lockgate_host::randomness::secret_bytes();
    let bytes = bytes.map_err(|error| OAuthError::Settings(format!("this machine has no random bits: {error}")))?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

impl fmt::Debug for Flow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Flow")
            .field("upstream", &self.upstream())
            .field("issuer", &self.issuer())
            .finish_non_exhaustive()
    }
}
