//! `lockgate run`: an agent's run, from a run file.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lockgate::assembly::{Assembly, Overrides};
use lockgate::config::DEFAULT_JOURNAL;
use lockgate::harness::RunResult;

use crate::commands::TO_BE_TOLD;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::printer::{RunPrinter, RunView};
use crate::signals::on_signal;
use crate::stored::{JournalArgument, commands, refuse_memory};

/// Run an agent from a run file
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate run incident.toml
  lockgate run incident.toml --format jsonl --all
  lockgate run incident.toml --format json --include messages

Exit codes:
  0    completed
  2    usage or configuration: nothing was started
  3    waiting for approval
  4    a limit is reached
  5    it is not known whether a call took effect
  6    failed
  130  cancelled")]
pub(crate) struct Arguments {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// Only make the run, and print its id: a `lockgate worker` drives it
    #[arg(long)]
    enqueue: bool,
    #[command(flatten)]
    journal: JournalArgument,
    #[command(flatten)]
    view: RunView,
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    if arguments.enqueue {
        refuse_memory(arguments.journal.journal.as_deref())?;
    }
    let overrides = Overrides { journal_url: arguments.journal.journal.clone(), ..Overrides::default() };
    let assembly = Assembly::open(&arguments.run_file, overrides).await?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let printer = RunPrinter::new(output, arguments.view);
    let runner = assembly.runner(printer.options())?;
    let agent_run = assembly.agent_run()?;
    if arguments.enqueue {
        let state = runner.enqueue(agent_run).await?;
        output.text(&format!("{}\n", state.run_id()));
        return Ok(Exit::Ok);
    }
    let cancel = runner.cancel().clone();
    on_signal(output, "cancelling", move || cancel.cancel());
    let state = runner.start(agent_run).await?;
    let url = arguments.journal.journal.as_deref().or(assembly.run_file.journal.url.as_deref());
    let commands = commands(url.unwrap_or(DEFAULT_JOURNAL));
    printer.ending(&state, assembly.journal.as_ref(), &commands).await;
    assembly.notifier.flush(TO_BE_TOLD).await;
    Ok(Exit::of_run(RunResult::of(&state).status))
}
