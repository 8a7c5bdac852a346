//! A person logs in at an MCP server of a run file, or out.

use std::path::Path;
use std::sync::Arc;

use lockgate_config::RunFile;
use lockgate_mcp::client::{Event, Listener};
use lockgate_mcp::oauth::{Confidant, UserAgent};
use lockgate_mcp::upstream::{Dial as _, Identity, Login, Place, Settings, Visiting};

use super::error::AssemblyError;
use super::servers::Told;
use super::{folder_of, servers};

/// The subject of a run file logs in at one of its MCP servers, with a person brought there by `agent`. Whoever is logged in already
/// stays so.
///
/// # Errors
///
/// The file cannot be read, has no such server, nobody logs in there, or it came to nothing.
pub async fn log_in(path: &Path, server: &str, agent: Arc<dyn UserAgent>) -> Result<(), AssemblyError> {
    let Found { settings, login, url, identity } = found(path, server)?;
    let confidant: Arc<dyn Confidant> = Arc::new(Told::default());
    let failed = |why: String| AssemblyError::Login { name: server.to_owned(), why: confidant.without(why) };
    let link = Visiting(Arc::clone(&agent)).dial(&settings, &identity, Arc::new(Deaf), &confidant).await;
    link.map_err(|error| failed(error.to_string()))?.close().await;
    let authorizer = login.authorizer(server, &url, &identity, Some(agent), Arc::clone(&confidant)).await;
    let authorizer = authorizer.map_err(|error| failed(error.to_string()))?;
    // Some servers let everybody in, and want to know who calls when a tool is called.
    if authorizer.token().is_none() {
        authorizer.challenged(None).await.map_err(|error| failed(error.to_string()))?;
    }
    Ok(())
}

/// Forgets the tokens of the subject of a run file for one of its MCP servers. Whether there were any.
///
/// # Errors
///
/// The file cannot be read, has no such server, or nobody logs in there; or the tokens cannot be written.
pub async fn log_out(path: &Path, server: &str) -> Result<bool, AssemblyError> {
    let Found { login, url, identity, .. } = found(path, server)?;
    let failed = |error: lockgate_mcp::oauth::OAuthError| AssemblyError::Login {
        name: server.to_owned(),
        why: error.to_string(),
    };
    let authorizer =
        login.authorizer(server, &url, &identity, None, Arc::new(Told::default())).await.map_err(failed)?;
    authorizer.forget().await.map_err(failed)
}

struct Found {
    settings: Settings,
    login: Login,
    url: String,
    identity: Identity,
}

fn found(path: &Path, server: &str) -> Result<Found, AssemblyError> {
    let file = RunFile::read(path)?;
    let failed = |why: &str| AssemblyError::Login { name: server.to_owned(), why: why.to_owned() };
    let table = file.mcp.get(server).ok_or_else(|| failed("the file has no such server"))?;
    let settings = servers::settings(server, table, &file, &folder_of(path)).map_err(|why| failed(&why))?;
    let login = settings.login.clone().filter(Login::is_personal);
    let login =
        login.ok_or_else(|| failed("nobody logs in there: that takes a table `oauth`, with the grant `login`"))?;
    let Place::Address { url, .. } = &settings.place else { return Err(failed("it is a program")) };
    let identity = settings.identity(&file.subject.subject()).ok_or_else(|| failed("its tokens are written down"))?;
    Ok(Found { url: url.clone(), settings, login, identity })
}

/// What a server says by itself is of no use here.
struct Deaf;

impl Listener for Deaf {
    fn heard(&self, _: Event) {}
}
