//! The command `lockgate`.
//!
//! It owns what a person types and reads: arguments, tables, hints, exit codes. What a call is and how a run goes on is
//! decided below; nothing here decides about a call.

mod arguments;
mod commands;
mod deciding;
mod error;
mod exit;
mod output;
mod panics;
mod person;
mod printer;
mod render;
mod signals;
mod stored;
mod tracing_log;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::arguments::Cli;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, When};

/// A call through the gateway allocates some hundreds of times (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Where it was started to keep a child process together, it does only that.
    if let Some(ended) = lockgate::sandbox::take_over() {
        return ended;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, to stdout and with code 0.
            if !error.use_stderr() {
                // Nobody is left to hear about a broken pipe.
                let _ = error.print();
                return Exit::Ok.into();
            }
            let output = Output::new(When::Auto, When::Never);
            output.note(&error.render().ansi().to_string());
            return Exit::Usage.into();
        }
    };
    let output = Arc::new(Output::new(cli.color, cli.progress));
    tracing_log::start(&output);
    panics::keep_quiet();
    let exit = match panics::caught(|| execute(cli, &output)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => report(&output, &error),
        Err(defect) => report(&output, &CliError::Defect(defect)),
    };
    match output.finish() {
        Ok(()) => exit.into(),
        Err(error) => {
            let lost = report(&output, &CliError::Stdout(error));
            (if exit == Exit::Ok { lost } else { exit }).into()
        }
    }
}

fn execute(cli: Cli, output: &Arc<Output>) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
    let exit = runtime.block_on(commands::execute(cli.command, output));
    // A tool that blocks its thread for ever keeps nobody waiting: its call has been settled.
    runtime.shutdown_background();
    exit
}

fn report(output: &Output, error: &CliError) -> Exit {
    output.error(error, error.hint().as_deref());
    error.exit()
}
