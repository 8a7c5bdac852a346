//! Who is calling: from a request's headers and path to whoever sent it, or a refusal.
//!
//! ```text
//! Authorization: Bearer lgt_ID_…   a token of the file      ─► an agent, or a person
//!                       lgt_RUN_…  a token of one run       ─► the run's subject, at /runs/<id>/mcp and nowhere else
//!                       eyJ…       an issuer's access token ─► an agent, or a person
//! nothing                          where only this machine can reach the server ─► the subject of the file
//! ```
//!
//! What may call decides nothing, and what may decide calls nothing: an agent that holds its own credential cannot say yes to
//! its own calls, whatever else it was told.

mod bind;
mod error;
mod header;
mod issuer;
mod keys;
mod metadata;
mod refusal;
mod signature;
mod standing;
mod token;
mod watched;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use http::request::Parts;
use lockgate::config::AuthTable;
use lockgate::contract::digest::Digest;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Clock, Journal};
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate::host::private_files::Kept;
use lockgate_mcp::server::Principal;
use tokio::sync::Notify;

pub use self::bind::{BindRefused, check_bind};
pub use self::error::AuthError;
pub(crate) use self::header::{has_token_in_url, is_token};
use self::issuer::Issuer;
use self::metadata::Metadata;
pub use self::refusal::{Refusal, Why};
use self::standing::Says;
pub(crate) use self::standing::Standings;
use self::watched::Watched;
use crate::runs::{NoRun, Runs};
use crate::tokens::{MOST_BYTES, PREFIX, RunKey, TokenFile};

/// Whoever sent a request.
#[derive(Debug, Clone)]
pub enum Caller {
    /// An agent: it calls, and decides nothing.
    Agent(Principal),
    /// A person: decides, and calls nothing.
    Person(Person),
}

/// Somebody who may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their name, as `[approvals] people` of a run file has it.
    pub name: String,
    /// Their tenant: of other tenants they see nothing.
    pub tenant: String,
    /// Their roles, beside those of a run's own file.
    pub roles: BTreeSet<String>,
    held: Held,
}

/// What makes somebody who they are for longer than one request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Held {
    /// A token of the file, for as long as it stands there.
    Token { id: String, sha256: Digest },
    /// An issuer's token, until its time is over.
    Until(Timestamp),
}

/// Knows who is calling.
pub struct Authenticator {
    tokens: Option<Watched<TokenFile>>,
    run_key: Option<Watched<RunKey>>,
    issuers: Vec<Issuer>,
    anonymous: Option<Arc<Subject>>,
    required: BTreeSet<String>,
    metadata: Option<Metadata>,
    runs: Runs,
    clock: Arc<dyn Clock>,
    /// Told when a file that is watched says something else than before.
    changed: Arc<Notify>,
}

impl Authenticator {
    /// Lets in whoever `[auth]` says. Its files are relative to `folder`; `subject` is that of callers without a credential.
    ///
    /// # Errors
    ///
    /// The table cannot be meant, or a file of it cannot be used now. Later a file that cannot be used lets nobody in.
    pub fn new(
        table: &AuthTable,
        folder: &Path,
        subject: Subject,
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, AuthError> {
        if let Some(wrong) = table.wrong() {
            return Err(AuthError::Table(wrong));
        }
        let changed = Arc::<Notify>::default();
        let tokens = table
            .tokens_file
            .as_deref()
            .map(|file| Watched::new(folder.join(file), Kept::Secret, MOST_BYTES, TokenFile::parse).telling(&changed));
        let run_key = table.run_key_file.as_deref().map(|file| {
            let parse = |text: &str| RunKey::parse(text).ok_or_else(|| "it holds no key of run tokens".to_owned());
            Watched::new(folder.join(file), Kept::Secret, crate::tokens::MOST_KEY_BYTES, parse).telling(&changed)
        });
        if let Some(tokens) = &tokens {
            tokens.current().map_err(AuthError::File)?;
        }
        if let Some(key) = &run_key {
            key.current().map_err(AuthError::File)?;
        }
        let resource = table.resource.as_deref();
        let issuers: Result<Vec<Issuer>, AuthError> =
            table.issuer.iter().map(|issuer| Issuer::new(issuer, resource, folder)).collect();
        Ok(Self {
            tokens,
            run_key,
            issuers: issuers?,
            anonymous: table.is_anonymous().then(|| Arc::new(subject)),
            required: table.required_scopes.clone(),
            metadata: Metadata::of(table),
            runs: Runs::new(journal),
            clock,
            changed,
        })
    }

    /// The agent that calls.
    ///
    /// # Errors
    ///
    /// Nobody who may call at this path sent the request.
    pub async fn principal(&self, request: &Parts) -> Result<Principal, Refusal> {
        let principal = match self.caller(request).await? {
            Caller::Agent(principal) => principal,
            Caller::Person(_) => return Err(self.refusal(Why::Person)),
        };
        match (&principal.run, run_of(request.uri.path())) {
            (Some(made_for), Some(asked)) if made_for.as_str() == asked => Ok(principal),
            (None, None) => Ok(principal),
            _ => Err(self.refusal(Why::OtherRun)),
        }
    }

    /// Whoever sent the request, whatever it asks.
    ///
    /// # Errors
    ///
    /// Nobody who is known here did.
    pub async fn caller(&self, request: &Parts) -> Result<Caller, Refusal> {
        match header::token(request) {
            Ok(Some(token)) => self.known(token).await,
            Ok(None) => self.without_credential(),
            Err(why) => Err(self.refusal(why)),
        }
    }

    /// The person that a token is of.
    ///
    /// # Errors
    ///
    /// It is nobody's, or an agent's.
    pub async fn person(&self, token: &str) -> Result<Person, Refusal> {
        match self.known(token).await? {
            Caller::Person(person) => Ok(person),
            Caller::Agent(_) => Err(self.refusal(Why::Agent)),
        }
    }

    /// Whether somebody is still who they were: their token was not revoked, and its time is not over.
    pub fn still_knows(&self, person: &Person) -> bool {
        let now = self.clock.now();
        match &person.held {
            Held::Until(end) => now < *end,
            Held::Token { id, sha256 } => {
                self.tokens.as_ref().and_then(|tokens| tokens.current().ok()).is_some_and(|file| {
                    let is_it = |token: &&crate::tokens::Token| token.id == *id && token.sha256 == *sha256;
                    let token = file.tokens.iter().find(is_it);
                    // Roles that were taken away are gone at once.
                    token.is_some_and(|token| !token.has_expired(now) && person_of(token).as_ref() == Some(person))
                })
            }
        }
    }

    /// What has become of those who were let in, as the files say now.
    pub(crate) fn standings(&self) -> Standings {
        Standings {
            now: self.clock.now(),
            tokens: Says::of(self.tokens.as_ref().map(Watched::current)),
            run_key: Says::of(self.run_key.as_ref().map(Watched::current)),
        }
    }

    /// Waits until a file with credentials says something else than before.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The answer to a request for what a client needs to know to get a token (RFC 9728), where the path is one of its places.
    pub fn metadata(&self, path: &str) -> Option<http::Response<String>> {
        self.metadata.as_ref()?.answer(path)
    }

    /// A refusal, with what this server says to those that it refuses.
    pub fn refusal(&self, why: Why) -> Refusal {
        Refusal::new(why, self.metadata.as_ref(), &self.required)
    }

    fn without_credential(&self) -> Result<Caller, Refusal> {
        let subject = self.anonymous.as_ref().ok_or_else(|| self.refusal(Why::NoCredential))?;
        let (subject, credential) = (Arc::clone(subject), "anonymous".to_owned());
        Ok(Caller::Agent(Principal { subject, credential, run: None, until: None }))
    }

    async fn known(&self, token: &str) -> Result<Caller, Refusal> {
        let caller = if token.starts_with(crate::tokens::RUN_PREFIX) {
            // Its scopes are those of a run that was let begin.
            return self.of_a_run(token).await;
        } else if token.starts_with(PREFIX) {
            self.of_the_file(token)?
        } else {
            self.of_an_issuer(token).await?
        };
        match &caller {
            Caller::Agent(principal) if !self.required.is_subset(&principal.subject.scopes) => {
                Err(self.refusal(Why::Scopes))
            }
            _ => Ok(caller),
        }
    }

    fn of_the_file(&self, sent: &str) -> Result<Caller, Refusal> {
        let tokens = self.tokens.as_ref().ok_or_else(|| self.refusal(Why::Unknown))?;
        // It was said in the log what is wrong with the file.
        let file = tokens.current().map_err(|_| self.refusal(Why::Unavailable))?;
        let token = file.find(sent, self.clock.now()).ok_or_else(|| self.refusal(Why::Unknown))?;
        let (credential, until) = (token.credential(), token.expires_at);
        match token.subject() {
            Some(subject) => Ok(Caller::Agent(Principal { subject, credential, run: None, until })),
            None => person_of(token).map(Caller::Person).ok_or_else(|| self.refusal(Why::Unknown)),
        }
    }

    async fn of_a_run(&self, sent: &str) -> Result<Caller, Refusal> {
        let key = self.run_key.as_ref().ok_or_else(|| self.refusal(Why::Unknown))?;
        let key = key.current().map_err(|_| self.refusal(Why::Unavailable))?;
        let (run, until) = key.open(sent, self.clock.now()).map_err(|why| {
            tracing::info!(%why, "the token of a run is refused");
            self.refusal(Why::Unknown)
        })?;
        let start = self.runs.going_on(&run).await.map_err(|why| {
            if let NoRun::Unreadable(_) = why {
                tracing::error!(%why, %run, "the run of a token cannot be read");
                return self.refusal(Why::Unavailable);
            }
            tracing::info!(%why, %run, "the token of a run is refused");
            self.refusal(Why::Unknown)
        })?;
        let subject = Arc::new(start.subject.clone());
        let credential = key.credential(&run);
        Ok(Caller::Agent(Principal { subject, credential, run: Some(run), until: Some(until) }))
    }

    async fn of_an_issuer(&self, sent: &str) -> Result<Caller, Refusal> {
        let now = self.clock.now();
        let read = token::Jwt::read(sent).map_err(|why| {
            tracing::info!(why, "a token is refused");
            self.refusal(Why::Unknown)
        })?;
        let issuer = self.issuers.iter().find(|issuer| read.issuer() == issuer.name());
        let issuer = issuer.ok_or_else(|| self.refusal(Why::Unknown))?;
        issuer.caller(&read, now, self.clock.monotonic()).await.map_err(|refused| {
            tracing::info!(issuer = issuer.name(), why = refused.words(), "a token is refused");
            self.refusal(if refused.is_ours() { Why::Unavailable } else { Why::Unknown })
        })
    }
}

/// The person that a token of the file is of.
fn person_of(token: &crate::tokens::Token) -> Option<Person> {
    token.agent.is_none().then(|| Person {
        name: token.user.clone(),
        tenant: token.tenant.clone(),
        roles: token.roles.clone(),
        held: Held::Token { id: token.id.clone(), sha256: token.sha256 },
    })
}

/// The run that a path is about.
fn run_of(path: &str) -> Option<&str> {
    path.strip_prefix("/runs/").map(|rest| rest.split_once('/').map_or(rest, |(run, _)| run))
}

/// The path at which a run's tools are reached.
pub fn run_path(run: &RunId) -> String {
    format!("/runs/{run}/mcp")
}
