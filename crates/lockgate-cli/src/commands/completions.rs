//! `lockgate completions`: completions for a shell, from the one definition of the arguments.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::arguments::Cli;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lockgate completions bash > ~/.local/share/bash-completion/completions/lockgate")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[expect(clippy::unnecessary_wraps, reason = "as every command")]
pub(crate) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "lockgate", &mut script);
    output.raw(&script);
    Ok(Exit::Ok)
}
