//! `lockgate token`: credentials for those who call a server, and for those who answer its questions.

mod create;
mod list;
mod run;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lockgate_server::tokens::TokenFile;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Make, list and revoke the tokens that a server lets in
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(create::Arguments),
    List(list::Arguments),
    Revoke(Revoke),
    Run(run::Arguments),
}

/// Which file of tokens.
#[derive(Debug, Args)]
struct TokensArgument {
    /// The file that `tokens_file` in `[auth]` names
    #[arg(long, value_name = "FILE", default_value = ".lockgate/tokens.toml")]
    tokens: PathBuf,
}

/// Take a token back: whoever sends it is let in no more, from the next request on
#[derive(Debug, Args)]
struct Revoke {
    /// Its id
    id: String,
    #[command(flatten)]
    file: TokensArgument,
}

pub(crate) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    match arguments.command {
        Command::Create(arguments) => create::execute(arguments, output),
        Command::List(arguments) => list::execute(&arguments, output),
        Command::Revoke(arguments) => revoke(&arguments, output),
        Command::Run(arguments) => run::execute(arguments, output).await,
    }
}

fn revoke(arguments: &Revoke, output: &Output) -> Result<Exit, CliError> {
    let token = TokenFile::remove(&arguments.file.tokens, &arguments.id)?;
    output.text(&format!("revoked {}\n", token.id));
    Ok(Exit::Ok)
}
