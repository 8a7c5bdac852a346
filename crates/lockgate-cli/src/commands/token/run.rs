//! `lockgate token run`: a token that reaches the tools of one run.

use std::path::PathBuf;

use clap::Args;
use lockgate::contract::ports::Clock as _;
use lockgate::host::clock::SystemClock;
use lockgate::sources::mock::TimeSpan;
use lockgate_server::auth::run_path;
use lockgate_server::tokens::RunKey;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::stored::{JournalArgument, Stored};

/// Make a token that reaches exactly the tools of one run, for a while
#[derive(Debug, Args)]
#[command(after_help = "\
It is good at `/runs/RUN/mcp` of a server over the same journal whose `run_key_file` in `[auth]` is this key, and nowhere else.
Nothing is written down of it: another key in the file takes all such tokens back.

Examples:
  lockgate token run run-34c559713956 --ttl 15m")]
pub(super) struct Arguments {
    /// The run's id, or the start of it
    #[arg(value_name = "RUN")]
    run: String,
    /// How long it is good
    #[arg(long, value_name = "TIME", default_value = "1h")]
    ttl: TimeSpan,
    /// The file with the key that seals it; it is made where there is none
    #[arg(long, value_name = "FILE", default_value = ".lockgate/run-tokens.key")]
    key: PathBuf,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    if arguments.ttl.as_duration().is_zero() {
        return Err(CliError::NoTimeToLast);
    }
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let run = stored.find_run(&arguments.run).await?;
    let key = RunKey::read_or_make(&arguments.key)?;
    let (token, until) = key.seal(&run, SystemClock.now(), arguments.ttl.as_duration());
    output.text(&format!("{token}\n"));
    output.note(&format!("it is good at {} until {until}\n", run_path(&run)));
    Ok(Exit::Ok)
}
