//! `lockgate serve`: a run file's tools over HTTP or standard input, until it is told to stop.
//!
//! ```text
//! /mcp, /runs/<id>/mcp ─► who is calling ─► the endpoint ─► gateway
//! /approvals, /login   ─► pages           /status ─► how the servers stand      /healthz
//! /oauth/callback      ─► a login at an upstream server
//! ```

mod callback;
mod reload;
mod routes;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lockgate::assembly::{Assembly, AssemblyError, Overrides, Servers, folder_of, open_journal};
use lockgate::config::{ConfigError, DEFAULT_JOURNAL, RunFile, ServerTable};
use lockgate::contract::ports::Journal;
use lockgate::host::clock::SystemClock;
use lockgate_mcp::oauth::Visits;
use lockgate_mcp::server::http::{Endpoint, ListenerLimits, Options, serve};
use lockgate_mcp::server::{Limits, Principal, stdio};
use lockgate_mcp::upstream::{Connections, Dial, Visiting};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::callback::CALLBACK;
use self::reload::{GLANCE, Reload, STEADY, read, watch};
use self::routes::Routes;
use crate::auth::{AuthError, Authenticator, BindRefused, check_bind};
use crate::gateway::{Gateway, GatewayOptions};
use crate::pages::{CurrentRegistry, Pages, PagesOptions};

/// Hears what an operator should know while the server runs.
pub type Told = Arc<dyn Fn(&str) + Send + Sync>;

/// What is served.
#[derive(Clone)]
pub struct ServeOptions {
    /// The run file.
    pub path: PathBuf,
    /// The journal, in place of the file's.
    pub journal_url: Option<String>,
    /// The address and port, in place of the file's.
    pub bind: Option<SocketAddr>,
    /// Hears what an operator should know.
    pub told: Told,
}

/// Why nothing is served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The run file does not become a gate.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// It cannot be known who is calling.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// Others could come in.
    #[error(transparent)]
    Bind(#[from] BindRefused),
    /// The address cannot be used.
    #[error("`{address}` cannot be listened on: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// Standard input or output, or the system's randomness.
    #[error("nothing can be served: {0}")]
    Io(#[from] std::io::Error),
}

impl ServeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Assembly(error) => error.hint(),
            Self::Auth(error) => error.hint(),
            Self::Bind(error) => Some(error.hint()),
            Self::Listen { .. } => Some("say another port with `--bind` or `server.bind`".to_owned()),
            Self::Io(_) => None,
        }
    }
}

/// How long calls that are under way may take once the server is to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long servers that are not required are waited for before clients are: what is quick is in the first list that anybody reads,
/// and what is slow or dead keeps nobody waiting.
const FOR_SERVERS: Duration = Duration::from_secs(3);
/// How long people are waited for that are being told of something.
const TO_BE_TOLD: Duration = Duration::from_secs(5);

/// Serves over HTTP until `stop` fires. `ready` is told the address once it listens.
///
/// # Errors
///
/// Nothing is served, and why.
pub async fn over_http(
    options: ServeOptions,
    stop: CancellationToken,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let (file, content, seen) = read(&options.path)?;
    let table = file.server.clone().unwrap_or_default();
    let auth_table = file.auth.clone().unwrap_or_default();
    let address = options.bind.map_or_else(|| address_of(&table, &options.path), Ok)?;
    check_bind(address, &auth_table)?;
    // Before the servers are started: a second one at this address is no reason to start them twice.
    let listener = TcpListener::bind(address).await.map_err(|cause| ServeError::Listen { address, cause })?;
    let bound = listener.local_addr()?;

    let journal = journal_of(&file, &options)?;
    let public_url = table.public_url.clone().unwrap_or_else(|| format!("http://{bound}"));
    let back = format!("{}{CALLBACK}", public_url.trim_end_matches('/'));
    let visits = Arc::new(Visits::new(back, Arc::new(SystemClock)));
    let dial: Arc<dyn Dial> = Arc::new(Visiting(Arc::clone(&visits) as _));
    let assembly = open(&options, &journal, &file, &dial).await?;
    let folder = folder_of(&options.path);
    let subject = file.subject.subject();
    let auth = Authenticator::new(&auth_table, &folder, subject, Arc::clone(&assembly.journal), Arc::new(SystemClock))?;
    let auth = Arc::new(auth);
    let gateway_options = gateway_options(&table, Some(public_url.clone()));
    let (notifier, servers) = (Arc::clone(&assembly.notifier), assembly.servers.clone());
    let (kept, signs) = (Arc::clone(&assembly.journal), is_signed(&assembly.run_file));
    let gateway = Gateway::new(assembly, gateway_options);
    let pages_options =
        PagesOptions { signs, https: public_url.starts_with("https://"), session: auth_table.session() };
    let current = Arc::clone(&gateway);
    let registry: CurrentRegistry = Arc::new(move || current.registry());
    let pages = Pages::new(Arc::clone(&auth), kept, registry, Arc::new(SystemClock), pages_options);
    let endpoint = Endpoint::new(Arc::clone(&gateway) as _, endpoint_options(&table, bound))?;
    let routes = Arc::new(Routes {
        endpoint: endpoint.clone(),
        auth: Arc::clone(&auth),
        pages,
        visits,
        gateway: Arc::clone(&gateway),
        path: table.path().to_owned(),
    });

    let looking = tokio::spawn(look_again(endpoint.clone(), Arc::clone(&auth), stop.clone()));
    let reload =
        Reload { options: options.clone(), journal, gateway, dial, public_url: Some(public_url), file, content, seen };
    let watching = tokio::spawn(watch(reload, stop.clone()));
    ready(bound);
    let closing = {
        let (endpoint, stop) = (endpoint.clone(), stop.clone());
        tokio::spawn(async move {
            stop.cancelled().await;
            endpoint.close(GRACE).await;
        })
    };
    let limits = ListenerLimits { grace: GRACE, ..ListenerLimits::default() };
    serve(listener, limits, move |request, _| Arc::clone(&routes).answer(request), stop.clone()).await;
    // All end once it stops.
    let (_, _, reloaded) = (closing.await, looking.await, watching.await);
    for servers in servers.into_iter().chain(reloaded.ok().flatten()) {
        servers.stop().await;
    }
    notifier.flush(TO_BE_TOLD).await;
    Ok(())
}

/// Serves the one client at standard input and output, as the file's subject, until it is gone or `stop` fires.
///
/// # Errors
///
/// Nothing is served, and why.
pub async fn over_stdio(options: ServeOptions, stop: CancellationToken) -> Result<(), ServeError> {
    let (file, content, seen) = read(&options.path)?;
    let table = file.server.clone().unwrap_or_default();
    let journal = journal_of(&file, &options)?;
    let dial: Arc<dyn Dial> = Arc::new(Connections);
    let assembly = open(&options, &journal, &file, &dial).await?;
    let principal =
        Principal { subject: Arc::new(file.subject.subject()), credential: "stdio".to_owned(), run: None, until: None };
    let (notifier, servers) = (Arc::clone(&assembly.notifier), assembly.servers.clone());
    let public_url = table.public_url.clone();
    let gateway = Gateway::new(assembly, gateway_options(&table, public_url.clone()));
    let reload = Reload { options, journal, gateway: Arc::clone(&gateway), dial, public_url, file, content, seen };
    let watching_stops = stop.child_token();
    let watching = tokio::spawn(watch(reload, watching_stops.clone()));
    let input = tokio::io::BufReader::new(tokio::io::stdin());
    let served = tokio::select! {
        served = stdio::serve(gateway, principal, input, tokio::io::stdout()) => served,
        () = stop.cancelled() => Ok(()),
    };
    watching_stops.cancel();
    for servers in servers.into_iter().chain(watching.await.ok().flatten()) {
        servers.stop().await;
    }
    notifier.flush(TO_BE_TOLD).await;
    Ok(served?)
}

/// Looks at the credentials of those who were let in, each second and whenever their files change: what is taken back ends.
async fn look_again(endpoint: Endpoint, auth: Arc<Authenticator>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = auth.changed() => {}
            () = tokio::time::sleep(GLANCE) => {}
        }
        let mut standings = auth.standings();
        if standings.are_unsure() {
            tokio::time::sleep(STEADY).await;
            standings = auth.standings();
        }
        endpoint.look_again(|principal| standings.of(principal));
    }
}

fn address_of(table: &ServerTable, path: &Path) -> Result<SocketAddr, ServeError> {
    // INVARIANT: a file whose address is none is not read.
    table.bind().parse().map_err(|_| {
        let detail = "`server.bind` is no address with a port".to_owned();
        AssemblyError::from(ConfigError::Invalid { path: path.to_owned(), line: 1, detail }).into()
    })
}

fn journal_of(file: &RunFile, options: &ServeOptions) -> Result<Arc<dyn Journal>, ServeError> {
    let url = options.journal_url.as_deref().or(file.journal.url.as_deref());
    Ok(open_journal(url.unwrap_or(DEFAULT_JOURNAL))?)
}

async fn open(
    options: &ServeOptions,
    journal: &Arc<dyn Journal>,
    file: &RunFile,
    dial: &Arc<dyn Dial>,
) -> Result<Assembly, ServeError> {
    let servers = (!file.mcp.is_empty()).then(|| Servers::start(file, &folder_of(&options.path), Arc::clone(dial)));
    if let Some(servers) = &servers {
        servers.settled_within(file, FOR_SERVERS).await?;
    }
    let overrides = Overrides { journal: Some(Arc::clone(journal)), servers, ..Overrides::default() };
    let assembly = Assembly::of(file.clone(), &options.path, overrides)?;
    for warning in &assembly.warnings {
        (options.told)(warning);
    }
    Ok(assembly)
}

fn gateway_options(table: &ServerTable, public_url: Option<String>) -> GatewayOptions {
    GatewayOptions { public_url, approve_in_client: table.approve_in_client }
}

fn endpoint_options(table: &ServerTable, bound: SocketAddr) -> Options {
    let mut options = Options {
        bound: Some(bound),
        origins: table.origins.clone(),
        hosts: table.hosts.clone(),
        ..Options::default()
    };
    if let Some((_, host)) = table.public_url.as_deref().and_then(|url| url.split_once("://")) {
        options.hosts.push(host.to_owned());
    }
    options.limits = Limits {
        message_bytes: table.max_body_bytes.unwrap_or(options.limits.message_bytes),
        requests: table.max_calls.unwrap_or(options.limits.requests),
        ..options.limits
    };
    options
}

fn is_signed(file: &RunFile) -> bool {
    file.journal.sign_key_env.is_some() || file.journal.sign_key_file.is_some()
}
