//! `lockgate serve`: a run file's tools for MCP clients.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lockgate_server::serve::{ServeError, ServeOptions, over_http, over_stdio};
use tokio_util::sync::CancellationToken;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::signals::on_signal;
use crate::stored::JournalArgument;

/// Offer a run file's tools to MCP clients, and the page on which people answer
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate serve
  lockgate serve --bind 127.0.0.1:9000 tools.toml
  lockgate serve --stdio

The file is watched: a changed one is checked whole, and only then takes the place of the one before.")]
pub(crate) struct Arguments {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE", default_value = "lockgate.toml")]
    run_file: PathBuf,
    /// Serve the one client at standard input and output, as the file's subject
    #[arg(long, conflicts_with = "bind")]
    stdio: bool,
    /// The address and port, in place of the file's
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<SocketAddr>,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    on_signal(output, "stopping", move || stopping.cancel());
    let told = Arc::clone(output);
    let options = ServeOptions {
        path: arguments.run_file,
        journal_url: arguments.journal.journal,
        bind: arguments.bind,
        told: Arc::new(move |words| told.warning(words)),
    };
    let served = if arguments.stdio {
        over_stdio(options, stop).await
    } else {
        let ready = Arc::clone(output);
        over_http(options, stop, move |address| ready.note(&format!("listening on http://{address}\n"))).await
    };
    served.map(|()| Exit::Ok).map_err(CliError::from)
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        Self::Serve(Box::new(error))
    }
}
