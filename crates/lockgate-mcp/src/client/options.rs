//! What a connection is opened with, and what is sent over it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::{BoxFuture, Caller};
use tokio_util::sync::CancellationToken;

use super::{ClientError, Patience};
use crate::wire::{Era, Mirrors};

/// Where a server is.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A program that is started, and spoken with through its pipes.
    Process(Process),
    /// A URL.
    Http(Endpoint),
}

/// A program that is a server.
#[derive(Debug, Clone)]
pub struct Process {
    /// The program and its arguments: no shell.
    pub command: Vec<String>,
    /// The variables of this process that it is given, by name.
    pub environment: Vec<String>,
    /// Variables with values of their own.
    pub variables: Vec<(String, String)>,
    /// The folder that it works in; without, that of this process.
    pub folder: Option<PathBuf>,
    /// How long it is given to end by itself.
    pub patience: lockgate_sandbox::Patience,
}

/// A server at a URL.
#[derive(Clone)]
pub struct Endpoint {
    /// The URL, as it is used: nothing is added to it.
    pub url: String,
    /// Headers that go with every request. Their values are secret.
    pub headers: Vec<(String, String)>,
    /// Who gets tokens for it; without, a server that asks for one is an error.
    pub tokens: Option<Arc<dyn Tokens>>,
}

/// Gets tokens for one server.
pub trait Tokens: Send + Sync {
    /// The token to show, if there is one.
    fn token(&self) -> Option<String>;

    /// The server refused a request that showed this token (or none) with 401 or, where it wants more, 403: with this header
    /// `WWW-Authenticate`. Whether there is another token now, and the request, which was not taken up, may be sent again with it.
    fn challenged(&self, shown: Option<String>, challenge: Option<String>) -> BoxFuture<'_, Result<bool, ClientError>>;
}

/// What is said and asked for on this side.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who we are: `name` and `version`.
    pub info: Document,
    /// What we can do: the members of `clientCapabilities`.
    pub capabilities: Document,
    /// The only era that is spoken; without, the server is asked.
    pub era: Option<Era>,
    /// How long the handshake and each page of a list may take.
    pub patience: Patience,
    /// How long a program may be silent when it is asked for its era.
    pub probe: Duration,
    /// How much is taken from the server.
    pub bounds: Bounds,
}

impl Options {
    /// With the usual bounds, for somebody with this name and version who can do nothing.
    pub fn new(name: &str, version: &str) -> Self {
        let info = serde_json::json!({ "name": name, "version": version });
        Self {
            info: Document::from_json_value(&info),
            capabilities: Document::empty_object(),
            era: None,
            patience: Patience { idle: Duration::from_secs(30), absolute: Duration::from_mins(1) },
            probe: Duration::from_secs(5),
            bounds: Bounds::default(),
        }
    }
}

/// How much is taken from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The longest message, in bytes.
    pub message: usize,
    /// The most pages of a list.
    pub pages: usize,
    /// The most entries of a list.
    pub items: usize,
    /// The most rounds of questions for one request.
    pub rounds: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { message: 16 << 20, pages: 1_000, items: 100_000, rounds: 10 }
    }
}

/// A request to send.
pub struct Outgoing<'a> {
    /// What is asked.
    pub method: &'a str,
    /// With what: without `_meta`, which belongs to each hop.
    pub params: Document,
    /// What is passed on in `_meta`. Keys of the protocol's own are left out.
    pub beside: Option<Document>,
    /// Whoever hears of progress and is asked questions.
    pub caller: Option<Arc<dyn Caller>>,
    /// Fires when nobody waits any more.
    pub cancel: CancellationToken,
    /// How long the answer is waited for.
    pub patience: Patience,
    /// What is said in headers too, over HTTP.
    pub mirror: Option<&'a Mirrors>,
    /// What we can do for this request, where that is not what the connection was opened with (modern era).
    pub capabilities: Option<Document>,
    /// From which level on log messages are wanted (modern era).
    pub log_level: Option<&'a str>,
}

impl<'a> Outgoing<'a> {
    /// A request with this patience, for nobody in particular.
    pub fn new(method: &'a str, params: Document, patience: Patience) -> Self {
        Self {
            method,
            params,
            beside: None,
            caller: None,
            cancel: CancellationToken::new(),
            patience,
            mirror: None,
            capabilities: None,
            log_level: None,
        }
    }
}

/// Without the values of its headers.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Endpoint").field("url", &self.url).field("headers", &names).finish_non_exhaustive()
    }
}
