//! `lockgate policy`: the rules that decide whether a call may run.

pub(crate) mod backtest;
mod check;
pub(crate) mod explain;
mod judge;
#[cfg(feature = "prove")]
mod prove;

use clap::{Args, Subcommand};
use lockgate::assembly::{Overrides, open_journal};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Check, explain, try and prove the rules that decide whether a call may run
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Explain(explain::Arguments),
    Backtest(backtest::Arguments),
    #[cfg(feature = "prove")]
    Prove(prove::Arguments),
}

pub(crate) async fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    match &arguments.command {
        Command::Check(arguments) => check::execute(arguments, output).await,
        Command::Explain(arguments) => explain::execute(arguments, output).await,
        Command::Backtest(arguments) => backtest::execute(arguments, output).await,
        #[cfg(feature = "prove")]
        Command::Prove(arguments) => prove::execute(arguments, output).await,
    }
}

/// Looking at rules makes no journal.
fn looking() -> Result<Overrides, CliError> {
    Ok(Overrides { journal: Some(open_journal("memory:")?), ..Overrides::default() })
}
