//! One file a command.

pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod journal;
pub(crate) mod mcp;
#[cfg(feature = "cedar")]
pub(crate) mod policy;
pub(crate) mod redact;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod worker;

use std::sync::Arc;
use std::time::Duration;

use crate::arguments::Command;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// How long a command that is done waits for whoever is to be told of it.
pub(crate) const TO_BE_TOLD: Duration = Duration::from_secs(5);

/// Does what was typed.
pub(crate) async fn execute(command: Command, output: &Arc<Output>) -> Result<Exit, CliError> {
    match command {
        Command::Run(arguments) => run::execute(arguments, output).await,
        // The largest two: they would make all of them so large.
        Command::Call(arguments) => Box::pin(call::execute(arguments, output)).await,
        Command::Tools(arguments) => tools::execute(arguments, output).await,
        Command::Approvals(arguments) => approvals::execute(arguments, output).await,
        Command::Serve(arguments) => Box::pin(serve::execute(arguments, output)).await,
        Command::Config(arguments) => config::execute(&arguments, output),
        Command::Runs(arguments) => Box::pin(runs::execute(arguments, output)).await,
        Command::Mcp(arguments) => Box::pin(mcp::execute(arguments, output)).await,
        Command::Token(arguments) => token::execute(arguments, output).await,
        Command::Worker(arguments) => worker::execute(arguments, output).await,
        Command::Journal(arguments) => journal::execute(arguments, output).await,
        #[cfg(feature = "cedar")]
        Command::Policy(arguments) => policy::execute(&arguments, output).await,
        Command::Redact(arguments) => redact::execute(&arguments, output),
        Command::Explain(arguments) => explain::execute(&arguments, output),
        Command::Schema(arguments) => schema::execute(&arguments, output),
        Command::Doctor(arguments) => doctor::execute(arguments, output).await,
        Command::Completions(arguments) => completions::execute(&arguments, output),
    }
}
