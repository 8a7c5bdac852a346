//! A server that wants to know who calls, an issuer, and a person who lets everybody in.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::ports::{BoxFuture, Clock};
use lockgate_contract::time::Timestamp;
use serde_json::{Value, json};

use super::site::{Response, Site, port};
use crate::oauth::{Authorizer, Flow, NobodyListens, OAuthError, Owner, Parts, Settings, UserAgent, Vault};

/// How the issuer and the server's metadata behave.
#[derive(Clone)]
pub(super) struct Script {
    /// The server's origin and the issuer's.
    pub(super) server: String,
    pub(super) issuer: String,
    /// The server's metadata, by path.
    pub(super) resource: BTreeMap<String, Response>,
    /// The issuer's metadata, and where they are.
    pub(super) authority: Value,
    pub(super) place: String,
    /// What the redirect has besides the code; an empty text leaves a field out.
    pub(super) redirect: BTreeMap<String, String>,
    /// What a new client is answered.
    pub(super) registration: Response,
    /// What tokens come with, or the refusal. A token is called `token-N`.
    pub(super) token: Value,
    pub(super) token_status: u16,
    pub(super) token_after: Duration,
}

pub(super) struct World {
    pub(super) server: Site,
    pub(super) issuer: Site,
    pub(super) clock: Arc<SetClock>,
    pub(super) vault: Arc<Vault>,
    /// What the issuer does, which may change while it does it.
    pub(super) script: Arc<Mutex<Script>>,
}

pub(super) const RESOURCE: &str = "/.well-known/oauth-protected-resource";
pub(super) const AUTHORITY: &str = "/.well-known/oauth-authorization-server";

impl World {
    /// All is well, but for what the test changes.
    pub(super) async fn start(change: impl FnOnce(&mut Script)) -> Self {
        let (server, issuer) = (port().await, port().await);
        let mut script = Script {
            resource: BTreeMap::new(),
            authority: json!({
                "issuer": issuer.1,
                "authorization_endpoint": format!("{}/authorize", issuer.1),
                "token_endpoint": format!("{}/token", issuer.1),
                "registration_endpoint": format!("{}/register", issuer.1),
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": true,
            }),
            place: AUTHORITY.to_owned(),
            redirect: [("iss".to_owned(), issuer.1.clone())].into(),
            registration: Response::status(201, r#"{"client_id": "registered", "client_secret": "hush"}"#),
            token: json!({ "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again" }),
            token_status: 200,
            token_after: Duration::ZERO,
            server: server.1.clone(),
            issuer: issuer.1.clone(),
        };
        script.resource.insert(format!("{RESOURCE}/mcp"), script.metadata(&format!("{}/mcp", script.server)));
        change(&mut script);
        let script = Arc::new(Mutex::new(script));
        let shared = Arc::clone(&script);
        let server = Site::start(server, move |request| {
            let found = shared.lock().unwrap().resource.get(&request.path).cloned();
            found.unwrap_or_else(|| Response::status(404, ""))
        });
        let (shared, tokens) = (Arc::clone(&script), AtomicUsize::new(1));
        let issuer = Site::start(issuer, move |request| {
            let script = shared.lock().unwrap().clone();
            match request.path.as_str() {
                path if path == script.place => Response::json(&script.authority),
                "/authorize" => {
                    let fields = request.fields();
                    let mut answer: BTreeMap<String, String> = [("code", "test-code"), ("state", &fields["state"])]
                        .map(|(a, b)| (a.to_owned(), b.to_owned()))
                        .into();
                    answer.extend(script.redirect.clone());
                    answer.retain(|_, value| !value.is_empty());
                    let mut to = reqwest::Url::parse(&fields["redirect_uri"]).unwrap();
                    to.query_pairs_mut().extend_pairs(answer);
                    Response::elsewhere(to.as_str())
                }
                "/register" => script.registration.clone(),
                "/token" => {
                    let mut answer = script.token.clone();
                    if script.token_status == 200 && answer.get("access_token").is_none() {
                        answer["access_token"] = format!("token-{}", tokens.fetch_add(1, Ordering::SeqCst)).into();
                    }
                    Response { status: script.token_status, after: script.token_after, ..Response::json(&answer) }
                }
                _ => Response::status(404, ""),
            }
        });
        Self { server, issuer, clock: Arc::default(), vault: Arc::new(Vault::in_memory()), script }
    }

    pub(super) fn mcp(&self) -> String {
        format!("{}/mcp", self.server.url)
    }

    pub(super) fn parts(&self, user: &str, settings: Settings) -> Parts {
        Parts {
            upstream: "mail".to_owned(),
            server: self.mcp(),
            owner: owner(user),
            settings,
            vault: Arc::clone(&self.vault),
            agent: Some(Arc::new(Headless)),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            confidant: Arc::new(NobodyListens),
        }
    }

    pub(super) async fn authorizer(&self, settings: Settings) -> Authorizer {
        Authorizer::open(self.parts("ann", settings)).await.unwrap()
    }

    /// What comes of a first refusal with this challenge.
    pub(super) async fn refuse(&self, challenge: &str) -> Result<String, OAuthError> {
        let authorizer = self.authorizer(Settings::default()).await;
        authorizer.challenged(Some(challenge)).await?;
        Ok(token(&authorizer).unwrap())
    }

    /// What was asked of the issuer, but for its metadata.
    pub(super) fn steps(&self) -> Vec<String> {
        self.issuer.paths().into_iter().filter(|path| !path.contains(".well-known")).collect()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.lock().unwrap());
    }
}

impl Script {
    /// The metadata of a server called so.
    pub(super) fn metadata(&self, resource: &str) -> Response {
        Response::json(&json!({ "resource": resource, "authorization_servers": [self.issuer] }))
    }

    /// Where the server's metadata are, in place of the usual place.
    pub(super) fn move_resource(&mut self, place: &str, resource: &str) {
        self.resource = [(place.to_owned(), self.metadata(resource))].into();
    }

    /// The issuer has a path.
    pub(super) fn move_issuer(&mut self, path: &str, place: &str) {
        self.issuer = format!("{}{path}", self.issuer);
        self.authority["issuer"] = self.issuer.clone().into();
        self.redirect.insert("iss".to_owned(), self.issuer.clone());
        self.place = place.to_owned();
        self.move_resource(&format!("{RESOURCE}/mcp"), &format!("{}/mcp", self.server));
    }
}

pub(super) fn owner(user: &str) -> Owner {
    Owner { tenant: "demo".to_owned(), user: user.to_owned() }
}

pub(super) fn token(authorizer: &Authorizer) -> Option<String> {
    authorizer.token().map(|token| token.expose().to_owned())
}

/// A person who lets everybody in, without a browser.
pub(super) struct Headless;

impl UserAgent for Headless {
    fn redirect_uri(&self) -> &'static str {
        "http://127.0.0.1:9/callback"
    }

    fn visit(&self, flow: Flow) -> BoxFuture<'_, Result<(), OAuthError>> {
        Box::pin(async move {
            let query = visited(flow.url()).await;
            flow.finish(&query).await
        })
    }
}

/// The query that a visit brings back.
pub(super) async fn visited(url: &str) -> String {
    let url = reqwest::Url::parse(url).unwrap();
    let client = lockgate_host::http::client(&url, Duration::from_secs(5)).unwrap();
    let answer = client.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 302);
    let to = answer.headers()["location"].to_str().unwrap();
    to.split_once('?').unwrap().1.to_owned()
}

/// A clock that goes when it is told to.
#[derive(Default)]
pub(super) struct SetClock(AtomicI64);

impl SetClock {
    pub(super) fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst).unsigned_abs())
    }
}
