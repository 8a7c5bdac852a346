//! Where credentials are kept: by owner, server and issuer, in a file for its owner alone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_contract::digest::Digest;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_host::files::create_dir_all;
use lockgate_host::locked_file::{Lock, replace};
use lockgate_host::private_files::{self, Kept};
use serde::{Deserialize, Serialize};

use super::OAuthError;
use super::client::Client;

mod contents;

use self::contents::Contents;
pub(super) use self::contents::{Credential, Registration};

/// Whose a token is. Nobody else's call runs with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The tenant.
    pub tenant: String,
    /// The person.
    pub user: String,
}

/// Where credentials are kept. Processes that share a file take turns.
#[derive(Debug)]
pub struct Vault {
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory { contents: Mutex<Contents>, turn: Arc<tokio::sync::Mutex<()>> },
    File(PathBuf),
}

/// While it is held, nobody else renews tokens for the same server.
#[derive(Debug)]
pub(super) enum Turn {
    Memory { _held: tokio::sync::OwnedMutexGuard<()> },
    File { _held: Lock },
}

/// A longer file is none of ours.
const LONGEST: u64 = 64 << 20;
/// Reading and writing a file takes no longer.
const FOR_WRITING: Duration = Duration::from_secs(10);
/// Renewing a token takes a request.
const FOR_RENEWING: Duration = Duration::from_mins(1);

impl Vault {
    /// Gone with the process.
    pub fn in_memory() -> Self {
        Self { place: Place::Memory { contents: Mutex::default(), turn: Arc::default() } }
    }

    /// In this file, which is made when there is something to keep. It is refused where others than its owner can read it.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::File(path.into()) }
    }

    /// Waits until nobody else renews tokens for this server.
    pub(super) async fn turn(&self, upstream: &str) -> Result<Turn, OAuthError> {
        match &self.place {
            Place::Memory { turn, .. } => {
                let held = tokio::time::timeout(FOR_RENEWING, Arc::clone(turn).lock_owned()).await;
                Ok(Turn::Memory { _held: held.map_err(|_| OAuthError::TimedOut(FOR_RENEWING.as_secs()))? })
            }
            Place::File(path) => {
                // A server's name may be anything; a file's may not.
                let name = Digest::of_text("lockgate.mcp.upstream", upstream).short(16);
                let path = path.clone();
                let held = blocking(move || Lock::wait(&path, &name, FOR_RENEWING)).await?;
                Ok(Turn::File { _held: held })
            }
        }
    }

    /// The last credential of this owner for the server at this URL.
    pub(super) async fn credential(
        &self,
        owner: &Owner,
        upstream: &str,
        server: &str,
    ) -> Result<Option<Credential>, OAuthError> {
        let (owner, upstream, server) = (owner.clone(), upstream.to_owned(), server.to_owned());
        self.look(move |contents| contents.credential(&owner, &upstream, &server).cloned()).await
    }

    pub(super) async fn keep(&self, credential: Credential) -> Result<(), OAuthError> {
        self.change(move |contents| contents.keep(credential)).await
    }

    /// Forgets an owner's credentials for a server, and what we are registered as for it. Whether there were any.
    pub(super) async fn forget(&self, owner: &Owner, upstream: &str) -> Result<bool, OAuthError> {
        let (owner, upstream) = (owner.clone(), upstream.to_owned());
        self.change(move |contents| contents.forget(&owner, &upstream)).await
    }

    /// What an issuer knows us by, where it still does.
    pub(super) async fn registration(
        &self,
        upstream: &str,
        issuer: &str,
        redirect_uri: &str,
        now: Timestamp,
    ) -> Result<Option<Client>, OAuthError> {
        let (upstream, issuer, redirect) = (upstream.to_owned(), issuer.to_owned(), redirect_uri.to_owned());
        self.look(move |contents| contents.registration(&upstream, &issuer, &redirect, now).cloned()).await
    }

    pub(super) async fn keep_registration(&self, registration: Registration) -> Result<(), OAuthError> {
        self.change(move |contents| contents.keep_registration(registration)).await
    }

    /// An issuer knows us no more.
    pub(super) async fn forget_registrations(&self, upstream: &str, issuer: &str) -> Result<(), OAuthError> {
        let (upstream, issuer) = (upstream.to_owned(), issuer.to_owned());
        self.change(move |contents| contents.forget_registrations(&upstream, &issuer)).await
    }

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Contents) -> T + Send + 'static,
    ) -> Result<T, OAuthError> {
        match &self.place {
            Place::Memory { contents, .. } => Ok(look(&contents.lock().unwrap_or_else(PoisonError::into_inner))),
            Place::File(path) => {
                let path = path.clone();
                blocking(move || Ok(look(&read(&path)?))).await
            }
        }
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Contents) -> T + Send + 'static,
    ) -> Result<T, OAuthError> {
        match &self.place {
            Place::Memory { contents, .. } => Ok(change(&mut contents.lock().unwrap_or_else(PoisonError::into_inner))),
            Place::File(path) => {
                let path = path.clone();
                blocking(move || {
                    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                        create_dir_all(folder)?;
                    }
                    let lock = Lock::wait(&path, "write", FOR_WRITING)?;
                    let mut contents = read(&path)?;
                    let result = change(&mut contents);
                    let text = serde_json::to_string_pretty(&contents)?;
                    replace(&path, &text, &lock)?;
                    Ok(result)
                })
                .await
            }
        }
    }
}

impl Owner {
    /// The one of a subject: an agent works for a person, and has no tokens of its own.
    pub fn of(subject: &Subject) -> Self {
        Self { tenant: subject.tenant.clone(), user: subject.user.clone() }
    }
}

fn read(path: &Path) -> std::io::Result<Contents> {
    let file = match private_files::read(path, Kept::Secret, LONGEST) {
        Ok(file) => file,
        Err(error) if error.is_not_there() => return Ok(Contents::default()),
        Err(error) => {
            let hint = error.hint().map_or_else(String::new, |hint| format!(": {hint}"));
            return Err(std::io::Error::other(format!("{error}{hint}")));
        }
    };
    // The error says the place, and nothing of what stands there.
    serde_json::from_slice(&file.bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let what = format!("`{}` is no file of credentials (line {line}, column {column})", path.display());
        std::io::Error::new(std::io::ErrorKind::InvalidData, what)
    })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, OAuthError> {
    let result = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other).flatten();
    result.map_err(|error| OAuthError::Vault(error.to_string()))
}
