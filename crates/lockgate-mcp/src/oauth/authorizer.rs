//! Gets tokens for one owner at one server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::ports::Clock;
use reqwest::Url;

use super::challenge::Challenge;
use super::client::Client;
use super::confidant::{Confidant, Hushed};
use super::error::OAuthError;
use super::flow::{self, Flow, UserAgent};
use super::metadata::{AuthorityMetadata, ResourceMetadata};
use super::registration::{self, Wanted};
use super::token::{Asking, Token};
use super::vault::Credential;
use super::web::{Web, check_form};
use super::{Grant, Owner, Secret, Settings, Vault, discovery, grant, scope};

/// Gets tokens for one owner at one server. Cheap to clone; clones share the token.
#[derive(Clone)]
pub struct Authorizer(Arc<Inner>);

/// What an [`Authorizer`] is made of.
#[derive(Clone)]
pub struct Parts {
    /// The server's name here.
    pub upstream: String,
    /// Its URL, exactly as it is used.
    pub server: String,
    /// Whose tokens they are.
    pub owner: Owner,
    /// What the operator says.
    pub settings: Settings,
    /// Where they are kept. Those that nobody logged in for are not.
    pub vault: Arc<Vault>,
    /// Who brings a person to an issuer; without, nobody can log in.
    pub agent: Option<Arc<dyn UserAgent>>,
    /// Tells when a token ends.
    pub clock: Arc<dyn Clock>,
    /// Hears of every token before it is used.
    pub confidant: Arc<dyn Confidant>,
}

pub(super) struct Inner {
    pub(super) parts: Parts,
    url: Url,
    held: Mutex<Held>,
    /// Held by whoever gets a token: the others wait for it, and take over what came of it.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Held {
    credential: Option<Credential>,
    /// As long as it is used, it is kept out of what leaves.
    hushed: Vec<Hushed>,
    /// When it was got by a login, or by whatever grant is configured.
    since: Option<Duration>,
    attempts: u64,
    last: Option<OAuthError>,
}

/// A token that is refused so soon after a login will be refused after the next one too.
const FRESH: Duration = Duration::from_mins(1);

impl Authorizer {
    /// With the token that the owner has already, if there is one.
    ///
    /// # Errors
    ///
    /// The settings do not fit together, the URL is none, or the vault cannot be read.
    pub async fn open(parts: Parts) -> Result<Self, OAuthError> {
        parts.settings.check()?;
        // A token that travels in the clear is anybody's.
        let url = check_form("server", &parts.server)?;
        let inner = Inner { url, held: Mutex::default(), turn: tokio::sync::Mutex::default(), parts };
        if let Some(stored) = inner.stored().await? {
            inner.take_up(stored)?;
        }
        Ok(Self(Arc::new(inner)))
    }

    /// The token to show, if there is one.
    pub fn token(&self) -> Option<Secret> {
        self.0.lock().credential.as_ref().map(|credential| credential.access.clone())
    }

    /// The server refused a request, with this header `WWW-Authenticate`: afterwards there is another token, and the request may be sent
    /// again. Without a header: somebody logs in, whatever the server says.
    ///
    /// Whoever comes while another is at it waits for what comes of that. It goes on when nobody waits any more: a token that is on its
    /// way must not be lost.
    ///
    /// # Errors
    ///
    /// There is no other token. [`OAuthError::AuthorizationNeeded`] has the URL that a person has to visit first.
    pub async fn challenged(&self, header: Option<&str>) -> Result<(), OAuthError> {
        let before = self.0.lock().attempts;
        let challenge = Challenge::read(header);
        let inner = Arc::clone(&self.0);
        let work = async move {
            let _turn = inner.turn.lock().await;
            if inner.lock().attempts != before {
                return inner.lock().last.clone().map_or(Ok(()), Err);
            }
            let result = inner.settle(&challenge).await;
            let mut held = inner.lock();
            held.attempts += 1;
            held.last = result.as_ref().err().cloned();
            result
        };
        tokio::spawn(work).await.map_err(|error| OAuthError::Settings(format!("the login was broken off: {error}")))?
    }

    /// Forgets the owner's tokens for this server. Whether there were any.
    ///
    /// # Errors
    ///
    /// The vault cannot be changed.
    pub async fn forget(&self) -> Result<bool, OAuthError> {
        let Parts { vault, owner, upstream, .. } = &self.0.parts;
        let were_any = vault.forget(owner, upstream).await?;
        Ok(self.0.lock().credential.take().is_some() || were_any)
    }
}

impl Inner {
    /// Gets another token.
    async fn settle(self: &Arc<Self>, challenge: &Challenge) -> Result<(), OAuthError> {
        let refused = self.lock().credential.clone();
        if self.adopt(refused.as_ref(), challenge).await? {
            return Ok(());
        }
        let Parts { settings, server, .. } = &self.parts;
        let web = Web::around(&self.url, settings).await;
        let resource = discovery::resource(&web, server, challenge, settings).await?;
        let before = refused.as_ref().map(|credential| credential.issuer.as_str());
        let issuer = discovery::issuer(&resource, settings, before)?;
        let authority = discovery::authority(&web, issuer).await?;
        let refused = refused.filter(|credential| credential.issuer == authority.issuer);
        let is_interactive = settings.grant == Grant::AuthorizationCode;
        let earlier = refused.as_ref().map(|credential| credential.scopes.clone()).unwrap_or_default();
        let scopes = scope::wanted(challenge, &resource, &authority, &earlier, is_interactive)?;
        if let Some(refused) = &refused {
            let wants_nothing_new = scopes == earlier;
            if wants_nothing_new && (challenge.wants_more() || self.is_fresh(refused)) {
                return Err(OAuthError::StillRefused { wanted: challenge.scopes.clone().unwrap_or_default() });
            }
            if is_interactive
                && !challenge.wants_more()
                && wants_nothing_new
                && self.refresh(&web, &authority, refused, challenge).await?
            {
                return Ok(());
            }
        }
        self.obtain(web, resource, authority, scopes).await
    }

    /// By whatever grant is configured.
    async fn obtain(
        self: &Arc<Self>,
        web: Web,
        resource: ResourceMetadata,
        authority: AuthorityMetadata,
        scopes: BTreeSet<String>,
    ) -> Result<(), OAuthError> {
        let Parts { settings, vault, upstream, clock, agent, .. } = &self.parts;
        if settings.grant != Grant::AuthorizationCode {
            let client = Client::registered(settings, &authority)?;
            let client = client
                .ok_or_else(|| OAuthError::Settings("without a person there has to be a `client_id`".to_owned()))?;
            let asking = self.asking(&web, &authority, &client, &resource.resource, &scopes);
            if let Some(token) = grant::without_a_person(asking).await? {
                self.keep(token, client, &authority.issuer, resource.resource, scopes).await?;
            }
            return Ok(());
        }
        let Some(agent) = agent else { return Err(OAuthError::LoginNeeded { upstream: upstream.clone() }) };
        let redirect_uri = agent.redirect_uri().to_owned();
        let wanted = Wanted { upstream, redirect_uri: &redirect_uri, now: clock.now() };
        let client = registration::client(&web, vault, &authority, settings, wanted).await?;
        let (state, verifier) = (flow::random()?, flow::random()?);
        let url = flow::url(&authority, &client, &resource.resource, &scopes, &redirect_uri, (&state, &verifier))?;
        let for_whom = Arc::clone(self);
        agent
            .visit(Flow { url, state, authority, scopes, for_whom, web, client, resource, redirect_uri, verifier })
            .await
    }

    /// Takes over what another process got meanwhile.
    async fn adopt(&self, refused: Option<&Credential>, challenge: &Challenge) -> Result<bool, OAuthError> {
        let Some(stored) = self.stored().await? else { return Ok(false) };
        let is_refused = refused.is_some_and(|refused| refused.access == stored.access);
        let is_older = refused.is_some_and(|refused| stored.got_at < refused.got_at);
        let reaches =
            !challenge.wants_more() || challenge.scopes.as_ref().is_some_and(|scopes| scopes.is_subset(&stored.scopes));
        if is_refused || is_older || !reaches {
            return Ok(false);
        }
        self.take_up(stored)?;
        Ok(true)
    }

    /// From now on this one is shown, and kept out of what leaves.
    fn take_up(&self, credential: Credential) -> Result<(), OAuthError> {
        let Parts { confidant, upstream, .. } = &self.parts;
        let told = confidant.told(&credential.access);
        let unkeepable = |why| OAuthError::Unkeepable { issuer: credential.issuer.clone(), why };
        let mut hushed = vec![told.map_err(unkeepable)?];
        // The server is not shown these, and its issuer knows them: one that is too short to be looked for may be used there.
        for secret in credential.refresh.iter().chain(&credential.client.secret) {
            match confidant.told(secret) {
                Ok(held) => hushed.push(held),
                Err(why) => tracing::debug!(upstream, why, "a credential for an issuer is not kept out of texts"),
            }
        }
        let mut held = self.lock();
        held.hushed = hushed;
        held.credential = Some(credential);
        Ok(())
    }

    /// For the token that is refused; `false` where somebody has to log in anew.
    async fn refresh(
        &self,
        web: &Web,
        authority: &AuthorityMetadata,
        refused: &Credential,
        challenge: &Challenge,
    ) -> Result<bool, OAuthError> {
        let Some(token) = &refused.refresh else { return Ok(false) };
        let _turn = self.parts.vault.turn(&self.parts.upstream).await?;
        if self.adopt(Some(refused), challenge).await? {
            return Ok(true);
        }
        let asking = self.asking(web, authority, &refused.client, &refused.resource, &refused.scopes);
        match asking.refresh(token).await {
            Ok(new) => {
                let new = Token { refresh: new.refresh.or_else(|| Some(token.clone())), ..new };
                let Credential { client, issuer, resource, scopes, .. } = refused.clone();
                self.keep(new, client, &issuer, resource, scopes).await?;
                // It was not asked for anew: where this one is refused too, somebody has to log in.
                self.lock().since = None;
                Ok(true)
            }
            Err(error @ OAuthError::Denied { .. }) if !is_passing(&error) => {
                self.refused_client(&error, &authority.issuer).await;
                // It is of no use any more, to nobody.
                self.parts.vault.keep(Credential { refresh: None, ..refused.clone() }).await?;
                if let Some(credential) = &mut self.lock().credential {
                    credential.refresh = None;
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn asking<'a>(
        &'a self,
        web: &'a Web,
        authority: &'a AuthorityMetadata,
        client: &'a Client,
        resource: &'a str,
        scopes: &'a BTreeSet<String>,
    ) -> Asking<'a> {
        let Parts { settings, clock, confidant, .. } = &self.parts;
        Asking { web, authority, client, settings, clock: &**clock, confidant: &**confidant, resource, scopes }
    }

    /// A new token, for this owner at this server and nobody else.
    pub(super) async fn keep(
        &self,
        token: Token,
        client: Client,
        issuer: &str,
        resource: String,
        scopes: BTreeSet<String>,
    ) -> Result<(), OAuthError> {
        let Parts { owner, upstream, server, clock, vault, settings, .. } = &self.parts;
        let credential = Credential {
            owner: owner.clone(),
            upstream: upstream.clone(),
            issuer: issuer.to_owned(),
            server: server.clone(),
            resource,
            client,
            access: token.access,
            refresh: token.refresh,
            scopes,
            expires_at: token.expires_at,
            got_at: clock.now(),
        };
        self.take_up(credential.clone())?;
        self.lock().since = Some(clock.monotonic());
        if settings.grant == Grant::AuthorizationCode { vault.keep(credential).await } else { Ok(()) }
    }

    /// An issuer that does not know us any more is asked to know us anew the next time.
    pub(super) async fn refused_client(&self, error: &OAuthError, issuer: &str) {
        let Parts { vault, upstream, .. } = &self.parts;
        if matches!(error, OAuthError::Denied { code, .. } if code == "invalid_client" || code == "unauthorized_client")
            && let Err(error) = vault.forget_registrations(upstream, issuer).await
        {
            tracing::warn!(%error, upstream, "a registration that is of no use any more stays");
        }
    }

    fn is_fresh(&self, refused: &Credential) -> bool {
        let Parts { clock, .. } = &self.parts;
        let since = self.lock().since;
        let has_ended = refused.expires_at.is_some_and(|end| end <= clock.now());
        !has_ended && since.is_some_and(|since| clock.monotonic().saturating_sub(since) < FRESH)
    }

    async fn stored(&self) -> Result<Option<Credential>, OAuthError> {
        let Parts { vault, owner, upstream, server, .. } = &self.parts;
        vault.credential(owner, upstream, server).await
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an issuer says no for now, and not for good (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5).
fn is_passing(error: &OAuthError) -> bool {
    matches!(error, OAuthError::Denied { code, .. } if ["temporarily_unavailable", "server_error", "slow_down"].contains(&code.as_str()))
}
