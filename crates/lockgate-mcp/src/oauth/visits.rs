//! People who are asked to log in by whoever serves them, and come back to it on their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::ports::{BoxFuture, Clock};

use super::{Flow, OAuthError, Owner, UserAgent, answer};

/// Logins that wait for a browser to come back to a URL of our own. Each is bound to the owner who began it, and there is one at a time
/// for each owner and server.
pub struct Visits {
    redirect_uri: String,
    clock: Arc<dyn Clock>,
    waiting: Mutex<BTreeMap<(Owner, String), (Duration, Flow)>>,
}

/// How long a login may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// More are not begun.
const MOST: usize = 10_000;

impl Visits {
    /// None yet; browsers come back to this URL.
    pub fn new(redirect_uri: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        Self { redirect_uri: redirect_uri.into(), clock, waiting: Mutex::default() }
    }

    /// A browser came back with this query. `visitor` is whoever is known to sit before it: a login that another began is not finished,
    /// or somebody could have a stranger log in for them.
    ///
    /// # Errors
    ///
    /// No login of this visitor waits for this; or it came to nothing: see [`Flow::finish`]. A login is tried once.
    pub async fn finish(&self, query: &str, visitor: &Owner) -> Result<(), OAuthError> {
        let state = answer::state(query).ok_or(OAuthError::UnknownState)?;
        let flow = {
            let mut waiting = self.lock();
            let key = waiting.iter().find(|(_, (_, flow))| flow.state.expose() == state).map(|(key, _)| key.clone());
            let key = key.filter(|(owner, _)| owner == visitor).ok_or(OAuthError::UnknownState)?;
            waiting.remove(&key).ok_or(OAuthError::UnknownState)?.1
        };
        flow.finish(query).await
    }

    /// Those that can still be finished.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Owner, String), (Duration, Flow)>> {
        let now = self.clock.monotonic();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, (began, _)| now.saturating_sub(*began) < PATIENCE);
        waiting
    }
}

impl UserAgent for Visits {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn visit(&self, flow: Flow) -> BoxFuture<'_, Result<(), OAuthError>> {
        let key = (flow.owner().clone(), flow.upstream().to_owned());
        let began = self.clock.monotonic();
        let mut waiting = self.lock();
        // Who is asked twice is shown the same page twice, and either way leads on.
        if let Some((_, earlier)) = waiting.get(&key)
            && earlier.issuer() == flow.issuer()
            && earlier.scopes == flow.scopes
        {
            let url = earlier.url().to_owned();
            return Box::pin(async { Err(OAuthError::AuthorizationNeeded { url }) });
        }
        if waiting.len() >= MOST && !waiting.contains_key(&key) {
            let why = "too many logins are under way: try again later".to_owned();
            return Box::pin(async { Err(OAuthError::Settings(why)) });
        }
        let url = flow.url().to_owned();
        waiting.insert(key, (began, flow));
        Box::pin(async { Err(OAuthError::AuthorizationNeeded { url }) })
    }
}
