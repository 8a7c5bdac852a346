//! Which era a server speaks, and the handshake of the older one.
//!
//! ```text
//! server/discover ─► its versions                     modern, or the best that both speak
//!                 ├► -32020 … -32022                  modern; again, where it names a version of ours
//!                 ├► any other error, silence         initialize
//!                 ├► the process ends                 start it again, initialize
//!                 └► 401, 403, 407, 408, 429, 5xx     nothing is known
//! ```

use std::sync::Arc;

use lockgate_contract::document::{Document, Node};
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::exchange::Exchange;
use super::transport::{Pipes, Wire};
use super::{ClientError, Endpoint, Listener, Options, Patience, Process, ServerFacts};
use crate::wire::{Edit, Era, Message, Notification, RpcError, Version, code};

type Opened = (Arc<Core>, ServerFacts);

/// What `server/discover` brought.
enum Found {
    Modern(ServerFacts),
    /// It speaks the legacy era, or nothing that says otherwise.
    Legacy,
    /// It is gone.
    Gone(ClientError),
}

/// Starts a program and finds out. What one process was asked in is the only era that is spoken with it, but for the question itself.
pub(super) async fn of_process(
    process: &Process,
    options: Options,
    listener: Arc<dyn Listener>,
) -> Result<Opened, ClientError> {
    let start = || {
        let wire = Pipes::start(process).map_err(|error| ClientError::NotSent(error.to_string()))?;
        let core = Core::new(Wire::Pipes(Box::new(wire)), options.clone(), listener.clone());
        core.wire.begin(&core);
        Ok(core)
    };
    of_pipes(start).await
}

pub(super) async fn of_pipes(start: impl Fn() -> Result<Arc<Core>, ClientError>) -> Result<Opened, ClientError> {
    let core = Opening(start()?);
    let core = if core.0.options.era == Some(Era::Legacy) {
        core
    } else {
        match discover(&core.0, core.0.options.probe).await? {
            Found::Modern(facts) => return Ok((core.done(), facts)),
            Found::Legacy => core,
            // Some servers end over a request that they do not know.
            Found::Gone(error) if core.0.options.era.is_some() => return Err(error),
            Found::Gone(_) => Opening(start()?),
        }
    };
    let facts = initialize(&core.0).await?;
    Ok((core.done(), facts))
}

/// Reaches a URL and finds out.
pub(super) async fn of_url(
    endpoint: &Endpoint,
    options: Options,
    listener: Arc<dyn Listener>,
) -> Result<Opened, ClientError> {
    let era = options.era;
    let wire = Wire::http(endpoint, options.bounds.message)?;
    let core = Opening(Core::new(wire, options.clone(), listener.clone()));
    if era != Some(Era::Legacy) {
        let patience = core.0.options.patience.idle;
        match discover(&core.0, patience).await? {
            Found::Modern(facts) => return Ok((core.done(), facts)),
            Found::Legacy => {}
            Found::Gone(error) => return Err(error),
        }
    }
    let refused = match initialize(&core.0).await {
        Ok(facts) => return Ok((core.done(), facts)),
        Err(error) => error,
    };
    // Servers of the first version have a stream of their own, and take no messages at its address.
    if !core.0.wire.refused_the_method() {
        return Err(refused);
    }
    let Ok(wire) = Wire::events(endpoint, options.bounds.message).await else { return Err(refused) };
    let core = Opening(Core::new(wire, options, listener));
    core.0.wire.begin(&core.0);
    let facts = initialize(&core.0).await?;
    Ok((core.done(), facts))
}

/// A connection that is being opened: it ends where that fails.
struct Opening(Arc<Core>);

impl Opening {
    fn done(self) -> Arc<Core> {
        let core = self.0.clone();
        std::mem::forget(self);
        core
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.closed();
        self.0.end_tasks();
        self.0.wire.end();
    }
}

async fn ask(core: &Arc<Core>, method: &str, params: &Document, patience: Patience) -> Result<Document, ClientError> {
    let cancel = CancellationToken::new();
    core.exchange(Exchange::of_ours(method, params, patience, &cancel)).await
}

async fn discover(core: &Arc<Core>, probe: std::time::Duration) -> Result<Found, ClientError> {
    let patience = Patience { idle: probe, absolute: probe };
    let is_process = !core.wire.has_headers();
    // Once more, where the server names a version that we speak: also the one that was asked in.
    for is_last in [false, true] {
        match ask(core, "server/discover", &Document::empty_object(), patience).await {
            Ok(result) => return found(core, &result),
            Err(ClientError::Refused(error)) if error.code == code::UNSUPPORTED_VERSION => {
                let supported = error.data.as_ref().and_then(|data| data.root().get("supported"));
                match best(supported) {
                    Some(version) if version.era() == Era::Modern && !is_last => {}
                    Some(version) if version.era() == Era::Legacy => return legacy(core),
                    _ => return Err(unspoken(supported)),
                }
            }
            // It understood what it was asked in.
            Err(error)
                if error
                    .said()
                    .is_some_and(|error| (code::UNSUPPORTED_VERSION..=code::HEADER_MISMATCH).contains(&error.code)) =>
            {
                return Err(error);
            }
            Err(ClientError::Invalid(_) | ClientError::TimedOut { .. }) if is_process => return legacy(core),
            Err(error @ (ClientError::Lost(_) | ClientError::NotSent(_))) if is_process => {
                return Ok(Found::Gone(error));
            }
            Err(ClientError::Server(_) | ClientError::Refused(_)) => return legacy(core),
            Err(error) if core.wire.refused_the_form() => {
                return if core.options.era.is_some() { Err(error) } else { Ok(Found::Legacy) };
            }
            Err(error) => return Err(error),
        }
    }
    Err(ClientError::Invalid("it refuses the version that it names".to_owned()))
}

/// The answer says that it is legacy; where that is not spoken here, this is the end.
fn legacy(core: &Core) -> Result<Found, ClientError> {
    if core.options.era == Some(Era::Modern) {
        return Err(ClientError::Invalid(format!("it does not speak MCP {}", Version::NEWEST.word())));
    }
    Ok(Found::Legacy)
}

/// The versions are the proof, not that there is an answer: some servers answer this and speak the older era.
fn found(core: &Core, result: &Document) -> Result<Found, ClientError> {
    let root = result.root();
    let supported = root.get("supportedVersions");
    let Some(version) = best(supported) else {
        return if supported.is_some() { Err(unspoken(supported)) } else { legacy(core) };
    };
    if version.era() == Era::Legacy {
        return legacy(core);
    }
    // INVARIANT: nothing was agreed on before.
    let _ = core.version.set(version);
    let of_meta = || root.get("_meta").and_then(|meta| meta.get(crate::wire::key::SERVER_INFO));
    Ok(Found::Modern(ServerFacts {
        version,
        capabilities: root
            .get("capabilities")
            .map_or_else(Document::empty_object, |capabilities| capabilities.to_document()),
        info: root.get("serverInfo").or_else(of_meta).map(|info| info.to_document()),
        instructions: root.get("instructions").and_then(|text| text.as_str()).map(std::borrow::Cow::into_owned),
    }))
}

/// The newest version that both speak.
fn best(supported: Option<Node<'_>>) -> Option<Version> {
    supported?.elements().filter_map(|version| Version::read(&version.as_str()?)).max()
}

fn unspoken(supported: Option<Node<'_>>) -> ClientError {
    let named = supported.map_or("none that it names", |supported| supported.raw());
    let named = &named[..named.floor_char_boundary(200)];
    ClientError::Invalid(format!("it speaks no version of MCP that is spoken here: {named}"))
}

/// The handshake of the legacy era. The server may answer with an older version than the one named.
pub(super) async fn initialize(core: &Arc<Core>) -> Result<ServerFacts, ClientError> {
    core.wire.forget_the_session();
    // From here on it is legacy, whatever the server answers: nothing modern is said any more.
    core.begin_legacy();
    let mut capabilities = Edit::of(core.options.capabilities.root());
    // Extensions are declared in each request, which this era does not.
    capabilities.retain(|name| name != "extensions");
    let params = Edit::new()
        .with("protocolVersion", Document::string(Version::NEWEST_LEGACY.word()))
        .with("capabilities", capabilities.document())
        .with("clientInfo", core.options.info.clone())
        .document();
    let result = ask(core, "initialize", &params, core.options.patience).await.map_err(named)?;
    let root = result.root();
    let said = root.get("protocolVersion").and_then(|version| version.as_str());
    let version = said.as_deref().and_then(Version::read).filter(|version| version.era() == Era::Legacy);
    let Some(version) = version else {
        let said = said.unwrap_or_default();
        let said = &said[..said.floor_char_boundary(64)];
        return Err(ClientError::Invalid(format!(
            "it answers `initialize` with the version `{said}`, which is not spoken here"
        )));
    };
    core.agree(version);
    let notification = Notification { method: "notifications/initialized".to_owned(), params: None };
    core.wire.tell(core, &Message::Notification(notification)).await?;
    Ok(ServerFacts {
        version,
        capabilities: root
            .get("capabilities")
            .map_or_else(Document::empty_object, |capabilities| capabilities.to_document()),
        info: root.get("serverInfo").map(|info| info.to_document()),
        instructions: root.get("instructions").and_then(|text| text.as_str()).map(std::borrow::Cow::into_owned),
    })
}

/// A refused handshake says which versions there would be, if the server says it.
fn named(error: ClientError) -> ClientError {
    match error {
        ClientError::Refused(RpcError { code: code::UNSUPPORTED_VERSION, data: Some(data), .. }) => {
            unspoken(data.root().get("supported"))
        }
        error => error,
    }
}
