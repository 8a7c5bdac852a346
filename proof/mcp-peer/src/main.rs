//! `mcp-peer` plays the other side of the MCP client, server and gateway. `proof/mcp-peer/README.md` says what each command is for.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test program talks to people")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mcp_peer::count::Count;
use mcp_peer::echo::Echo;
use mcp_peer::error::PeerError;
use mcp_peer::fixture::{Era, Fixture};
use mcp_peer::hostile::Hostile;
use mcp_peer::listen::Listen;
use mcp_peer::load::Load;
use mcp_peer::one_tool::OneTool;

/// Peers of the MCP gateway in tests.
#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Is the server that the conformance suite asks for.
    Serve {
        #[command(flatten)]
        listen: Listen,
        /// The versions of the protocol that it offers.
        #[arg(long, value_enum, default_value_t)]
        era: Era,
    },
    /// Is a server that says back what it is told.
    Echo {
        #[command(flatten)]
        listen: Listen,
    },
    /// Is a server whose calls are counted in a file, a byte each.
    Count {
        #[command(flatten)]
        listen: Listen,
        /// The file.
        #[arg(long)]
        file: PathBuf,
    },
    /// Is a server on stdin and stdout that does one thing wrong.
    Hostile(Hostile),
    /// Calls a tool many times, and says what it cost as one line of JSON.
    Load(Load),
}

#[tokio::main]
async fn main() -> ExitCode {
    match Program::parse().command.run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Command {
    async fn run(self) -> Result<(), PeerError> {
        match self {
            Self::Serve { listen, era } => listen.serve(Fixture::new(era)).await,
            Self::Echo { listen } => listen.serve(OneTool::new(Echo)).await,
            Self::Count { listen, file } => listen.serve(OneTool::new(Count { file })).await,
            Self::Hostile(hostile) => tokio::task::block_in_place(|| hostile.serve()),
            Self::Load(load) => {
                println!("{}", load.run().await?);
                Ok(())
            }
        }
    }
}
