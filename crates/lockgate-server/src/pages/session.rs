//! Who is logged in: a cookie that says nothing, and what is known of it here.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use lockgate::contract::digest::Digest;
use lockgate::contract::ports::Clock;
use lockgate::contract::time::Timestamp;
use lockgate::host::randomness::secret_bytes;
use lockgate::host::seal;

use super::cookies;
use crate::auth::Person;

/// How many are logged in at once; beyond them the one that ends first is logged out.
const MOST: usize = 10_000;

/// How long the form of a login is good.
const LOGIN: Duration = Duration::from_mins(30);

/// Somebody who is logged in.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) person: Person,
    /// What its forms are sealed with.
    key: [u8; 32],
    id: Digest,
    ends_at: Timestamp,
}

/// Everybody who is logged in, by the digest of their cookies: what stands here logs nobody in.
pub(super) struct Sessions {
    clock: Arc<dyn Clock>,
    lasts: Duration,
    known: Mutex<HashMap<Digest, Session>>,
    /// What forms of logins are sealed with; made when the first one is.
    login_key: Mutex<Option<[u8; 32]>>,
}

impl Sessions {
    pub(super) fn new(clock: Arc<dyn Clock>, lasts: Duration) -> Self {
        Self { clock, lasts, known: Mutex::new(HashMap::new()), login_key: Mutex::new(None) }
    }

    /// How long one lasts.
    pub(super) fn lasts(&self) -> Duration {
        self.lasts
    }

    /// Logs somebody in: the cookie.
    pub(super) fn begin(&self, person: Person) -> io::Result<String> {
        let cookie = URL_SAFE_NO_PAD.encode(secret_bytes()?);
        let (id, now) = (id_of(&cookie), self.clock.now());
        let session = Session { person, key: secret_bytes()?, id, ends_at: now.after(self.lasts) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, session| now < session.ends_at);
        if known.len() >= MOST
            && let Some(first) = known.values().min_by_key(|session| session.ends_at).map(|session| session.id)
        {
            known.remove(&first);
        }
        known.insert(id, session);
        Ok(cookie)
    }

    /// Whose cookie this is, while it lasts.
    pub(super) fn find(&self, cookie: &str) -> Option<Session> {
        let now = self.clock.now();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&id_of(cookie)).filter(|session| now < session.ends_at).cloned()
    }

    /// Logs somebody out.
    pub(super) fn end(&self, session: &Session) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&session.id);
    }

    /// What the form of a login needs: a cookie for the browser, and the seal of the form that only this cookie's browser has.
    pub(super) fn begin_login(&self) -> io::Result<(String, String)> {
        let key = {
            let mut key = self.login_key.lock().unwrap_or_else(PoisonError::into_inner);
            match *key {
                Some(key) => key,
                None => *key.insert(secret_bytes()?),
            }
        };
        let until = self.clock.now().after(LOGIN).as_millis();
        let nonce = format!("{until}-{}", URL_SAFE_NO_PAD.encode(secret_bytes()?));
        let sealed = seal_of(&key, "login", &nonce);
        Ok((nonce, sealed))
    }

    /// Whether a form of a login and a cookie belong together, and are not too old.
    pub(super) fn is_login(&self, nonce: &str, sealed: &str) -> bool {
        let Some(key) = *self.login_key.lock().unwrap_or_else(PoisonError::into_inner) else { return false };
        let until = nonce.split('-').next().and_then(|until| until.parse().ok()).map(Timestamp::from_millis);
        is_seal(&key, "login", nonce, sealed) && until.is_some_and(|until| self.clock.now() < until)
    }
}

impl Session {
    /// The seal of a form of this session about something.
    pub(super) fn seal(&self, about: &str, shown: &str) -> String {
        seal_of(&self.key, about, shown)
    }

    /// Whether a form is of this session, about this and nothing else.
    pub(super) fn sealed(&self, about: &str, shown: &str, sealed: &str) -> bool {
        is_seal(&self.key, about, shown, sealed)
    }
}

fn id_of(cookie: &str) -> Digest {
    Digest::of_text("lockgate.session.v1", cookie)
}

fn seal_of(key: &[u8; 32], about: &str, shown: &str) -> String {
    URL_SAFE_NO_PAD.encode(seal::seal(key, &[&length(about), about.as_bytes(), shown.as_bytes()]))
}

fn is_seal(key: &[u8; 32], about: &str, shown: &str, sealed: &str) -> bool {
    let parts = [&length(about)[..], about.as_bytes(), shown.as_bytes()];
    URL_SAFE_NO_PAD.decode(sealed).is_ok_and(|sealed| seal::is_seal(key, &parts, &sealed))
}

/// Where what a form is about ends.
fn length(about: &str) -> [u8; 8] {
    (about.len() as u64).to_be_bytes()
}

/// How the cookies are named and kept. Over https their names bind them to this host: no neighbour can plant one.
pub(super) struct Cookies {
    pub(super) https: bool,
}

impl Cookies {
    /// The cookie of a session, where the browser sent one and no other of its name.
    pub(super) fn session<'r>(&self, request: &'r Parts) -> Option<&'r str> {
        self.only(request, "lockgate_session")
    }

    /// The cookie of a login.
    pub(super) fn nonce<'r>(&self, request: &'r Parts) -> Option<&'r str> {
        self.only(request, "lockgate_login")
    }

    pub(super) fn begun(&self, cookie: &str, lasts: Duration) -> String {
        self.kept("lockgate_session", cookie, lasts)
    }

    pub(super) fn over(&self) -> String {
        self.kept("lockgate_session", "", Duration::ZERO)
    }

    pub(super) fn login(&self, nonce: &str) -> String {
        self.kept("lockgate_login", nonce, LOGIN)
    }

    pub(super) fn login_over(&self) -> String {
        self.kept("lockgate_login", "", Duration::ZERO)
    }

    fn name(&self, name: &str) -> String {
        format!("{}{name}", if self.https { "__Host-" } else { "" })
    }

    fn kept(&self, name: &str, value: &str, lasts: Duration) -> String {
        let (name, secure) = (self.name(name), if self.https { "; Secure" } else { "" });
        format!("{name}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", lasts.as_secs())
    }

    fn only<'r>(&self, request: &'r Parts, name: &str) -> Option<&'r str> {
        let name = self.name(name);
        let mut found = cookies(request).filter(|(known, _)| *known == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }
}
