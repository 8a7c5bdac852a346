//! `lockgate mcp login` and `lockgate mcp logout`.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use lockgate::assembly::{AssemblyError, log_in as log_in_at, log_out as log_out_at};
use lockgate::mcp::oauth::Loopback;

use super::FileArgument;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Log in at an MCP server, in a browser of your own
///
/// The URL is printed, and nothing opens it. The browser comes back to a port of this machine; the tokens are kept beside the
/// journal, in a file for its owner alone, under the user of the file's `[subject]`.
#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server's name: `[mcp.NAME]`, with a table `oauth`
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    file: FileArgument,
    /// How many seconds the browser may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    wait: u64,
}

/// Forget the tokens for an MCP server
#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server's name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    file: FileArgument,
}

pub(crate) async fn log_in(arguments: &Login, output: &Arc<Output>) -> Result<Exit, CliError> {
    let printer = Arc::clone(output);
    let show = move |url: &str| printer.text(&format!("visit {url}\n"));
    let agent = Loopback::bind(show, Duration::from_secs(arguments.wait)).await;
    let failed = |why: String| AssemblyError::Login { name: arguments.name.clone(), why };
    let agent = agent.map_err(|error| failed(error.to_string()))?;
    log_in_at(&arguments.file.file, &arguments.name, Arc::new(agent)).await?;
    output.text(&format!("logged in at {}\n", arguments.name));
    Ok(Exit::Ok)
}

pub(crate) async fn log_out(arguments: &Logout, output: &Output) -> Result<Exit, CliError> {
    let were_any = log_out_at(&arguments.file.file, &arguments.name).await?;
    let said = if were_any { "logged out of" } else { "nobody was logged in at" };
    output.text(&format!("{said} {}\n", arguments.name));
    Ok(Exit::Ok)
}
