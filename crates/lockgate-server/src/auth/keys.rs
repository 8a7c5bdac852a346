//! The public keys of an issuer (JWKS, RFC 7517): from a file, or fetched.

mod fetch;
mod set;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use lockgate::config::{IssuerTable, JwtAlgorithm};
use lockgate::host::private_files::Kept;
use tokio::sync::Mutex;

use self::fetch::{MOST_BYTES, Place};
pub(super) use self::set::KeySet;
use super::error::AuthError;
use super::issuer::Refused;
use super::signature::PublicKey;
use super::watched::Watched;

/// How old fetched keys are before they are fetched again, and before they are believed no more although that failed.
const FRESH: Duration = Duration::from_hours(1);
const LAST: Duration = Duration::from_hours(24);

/// Where an issuer's keys are.
pub(super) enum Keys {
    /// In a file that nobody else may write.
    File(Box<Watched<KeySet>>),
    /// At a URL.
    Url(Fetched),
}

/// Keys that are fetched, by one request at a time.
pub(super) struct Fetched(Arc<Store>);

struct Store {
    place: Place,
    /// How long an unknown key does not make them be fetched again.
    pause: Duration,
    /// The last that were fetched, and when.
    keys: RwLock<Option<(Arc<KeySet>, Duration)>>,
    /// When they were last tried to be fetched. Held by whoever fetches.
    tried: Mutex<Option<Duration>>,
}

impl Keys {
    pub(super) fn new(table: &IssuerTable, folder: &Path) -> Result<Self, AuthError> {
        if let Some(file) = &table.jwks_file {
            let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
            let keys = Watched::new(folder.join(file), Kept::Trusted, most, KeySet::parse);
            keys.current().map_err(AuthError::File)?;
            return Ok(Self::File(Box::new(keys)));
        }
        let url = table.jwks_url.as_deref().unwrap_or_default();
        let place = Place::new(url, table.allow_private).map_err(|wrong| AuthError::KeysUrl {
            issuer: table.issuer.clone(),
            url: url.to_owned(),
            wrong,
        })?;
        Ok(Self::Url(Fetched(Arc::new(Store {
            place,
            pause: table.refresh(),
            keys: RwLock::default(),
            tried: Mutex::default(),
        }))))
    }

    /// The one key that a token can be signed with.
    pub(super) async fn find(
        &self,
        kid: Option<&str>,
        algorithm: JwtAlgorithm,
        now: Duration,
    ) -> Result<PublicKey, Refused> {
        match self {
            Self::File(file) => {
                let keys = file.current().map_err(|_| Refused::KeysMissing)?;
                keys.find(kid, algorithm).cloned().ok_or(Refused::NoKey)
            }
            Self::Url(fetched) => fetched.find(kid, algorithm, now).await,
        }
    }
}

impl Fetched {
    async fn find(&self, kid: Option<&str>, algorithm: JwtAlgorithm, now: Duration) -> Result<PublicKey, Refused> {
        // Whoever comes with a key that is known waits for nobody who does not.
        if let Some(found) = self.0.fresh(kid, algorithm, now) {
            return Ok(found);
        }
        let (store, kid) = (Arc::clone(&self.0), kid.map(str::to_owned));
        // Keys that are on their way count for everybody, also where whoever made them be fetched is gone by then.
        let found = tokio::spawn(async move { store.find(kid.as_deref(), algorithm, now).await });
        found.await.unwrap_or(Err(Refused::KeysMissing))
    }
}

impl Store {
    /// A key of those that need not be fetched again.
    fn fresh(&self, kid: Option<&str>, algorithm: JwtAlgorithm, now: Duration) -> Option<PublicKey> {
        let (keys, since) = self.last()?;
        (now.saturating_sub(since) < FRESH).then(|| keys.find(kid, algorithm).cloned()).flatten()
    }

    fn last(&self) -> Option<(Arc<KeySet>, Duration)> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn find(&self, kid: Option<&str>, algorithm: JwtAlgorithm, now: Duration) -> Result<PublicKey, Refused> {
        // Whoever comes meanwhile waits for the same answer, which comes within the time of one request.
        let mut tried = self.tried.lock().await;
        if let Some(found) = self.fresh(kid, algorithm, now) {
            return Ok(found);
        }
        let age = |since: Duration| now.saturating_sub(since);
        let known = self.last().filter(|(_, since)| age(*since) < LAST).map(|(keys, _)| keys);
        let found = known.as_ref().and_then(|keys| keys.find(kid, algorithm).cloned());
        if tried.is_some_and(|since| age(since) < self.pause) {
            return found.ok_or(if known.is_some() { Refused::NoKey } else { Refused::KeysMissing });
        }
        *tried = Some(now);
        match self.place.fetch().await {
            Ok(keys) => {
                let found = keys.find(kid, algorithm).cloned();
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Some((Arc::new(keys), now));
                found.ok_or(Refused::NoKey)
            }
            Err(problem) => {
                tracing::error!(url = self.place.shown(), problem, "the keys of an issuer cannot be fetched");
                found.ok_or(Refused::KeysMissing)
            }
        }
    }
}
