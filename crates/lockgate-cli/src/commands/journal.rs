//! `lockgate journal`: whether it keeps what Lockgate promises, and what is done with whole runs.

mod export;
mod heads;
mod import;
mod keygen;
mod prune;
mod signatures;
mod stats;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lockgate::contract::digest::Digest;
use lockgate::contract::event::Event;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Journal, JournalError};
use lockgate::harness::check::{self, Defect, Export, Invariant};
use lockgate::host::files;
use lockgate::journal::PublicKey;
use lockgate::journal::holds_together;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::defect::{CheckView, CheckedRun, defect_lines, run_line, summary};
use crate::stored::{JournalArgument, Stored};

/// Check, move, prune and count what a journal holds
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
    Export(export::Arguments),
    Import(import::Arguments),
    Prune(prune::Arguments),
    Stats(stats::Arguments),
    Heads(heads::Arguments),
    Keygen(keygen::Arguments),
}

/// Name the invariants that events break, and the events that break them
#[derive(Debug, Args)]
#[command(after_help = "\
docs/journal.md says what each invariant means, and what it looks like when it is broken.

Examples:
  lockgate journal check
  lockgate journal check 34c5 --format json
  lockgate journal export 34c5 --file run.jsonl
  lockgate journal check --file run.jsonl
  lockgate journal check --public-key sign.key.pub

Exit codes:
  0  every invariant holds
  1  an invariant is broken
  2  usage, or the journal cannot be read")]
struct Check {
    /// Only these runs: their ids, or the starts of them
    #[arg(value_name = "RUN", conflicts_with = "file")]
    runs: Vec<String>,
    /// An export in place of a journal, as `lockgate journal export` writes it or `lockgate runs show RUN --all
    /// --format jsonl` prints it
    #[arg(long, value_name = "FILE", conflicts_with = "journal")]
    file: Option<PathBuf>,
    /// The hash that the last event of a run must have, as `lockgate journal heads` printed it
    #[arg(long, value_name = "RUN=HASH", value_parser = heads::expected)]
    head: Vec<(RunId, Digest)>,
    /// The public key that every decision must be signed with, as `lockgate journal keygen` wrote it; of several, that of the
    /// run's beginning
    #[arg(long = "public-key", value_name = "FILE")]
    public_keys: Vec<PathBuf>,
    /// How the defects are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// What somebody kept elsewhere, and the journal must agree with.
struct Expected<'e> {
    heads: &'e [(RunId, Digest)],
    keys: &'e [PublicKey],
}

pub(crate) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    match arguments.command {
        Command::Check(arguments) => check(arguments, output).await,
        Command::Export(arguments) => export::execute(arguments, output).await,
        Command::Import(arguments) => import::execute(arguments, output).await,
        Command::Prune(arguments) => prune::execute(arguments, output).await,
        Command::Stats(arguments) => stats::execute(arguments, output).await,
        Command::Heads(arguments) => heads::execute(arguments, output).await,
        Command::Keygen(arguments) => keygen::execute(&arguments, output),
    }
}

async fn check(arguments: Check, output: &Output) -> Result<Exit, CliError> {
    let heads = arguments.head;
    let keys = arguments.public_keys.iter().map(|path| signatures::public_key(path)).collect::<Result<Vec<_>, _>>()?;
    let expected = Expected { heads: &heads, keys: &keys };
    let (mut runs, unreadable) = match arguments.file {
        Some(path) => {
            let bytes = files::read(&path).map_err(|cause| CliError::File { path, cause })?;
            let Export { runs, unreadable } = Export::read(&bytes);
            let checked = runs.iter().map(|run| checked(run.run_id.clone(), &run.events, &expected)).collect();
            (checked, unreadable)
        }
        None => (
            stored(&Stored::open(arguments.journal.journal.as_deref())?, &arguments.runs, &expected).await?,
            Vec::new(),
        ),
    };
    runs.extend(heads::missing(&heads, &runs));
    print(&runs, &unreadable, arguments.format, output);
    let clean = unreadable.is_empty() && runs.iter().all(|run| run.defects.is_empty());
    Ok(if clean { Exit::Ok } else { Exit::Failed })
}

/// The runs of a journal, newest first, or those that were named.
async fn stored(stored: &Stored, named: &[String], expected: &Expected<'_>) -> Result<Vec<CheckedRun>, CliError> {
    let mut ids = stored.runs(named).await?;
    if named.is_empty() {
        ids.reverse();
    }
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        runs.push(checked_in(stored.journal.as_ref(), id, expected).await?);
    }
    Ok(runs)
}

async fn checked_in(journal: &dyn Journal, run_id: RunId, expected: &Expected<'_>) -> Result<CheckedRun, CliError> {
    match journal.upkeep().export_run(&run_id).await {
        Ok(kept) => {
            let mut run = checked(run_id, &kept.events, expected);
            // What is wrong with the events themselves is said of them.
            if run.defects.is_empty()
                && let Err(why) = holds_together(&kept)
            {
                let text = format!("the run {why}");
                run.defects.push(Defect { invariant: Invariant::Records, seqs: Vec::new(), call_id: None, text });
            }
            Ok(run)
        }
        // One run that cannot be read hides nothing about the others.
        Err(JournalError::Corrupt(text)) => {
            let defect = Defect { invariant: Invariant::Unreadable, seqs: Vec::new(), call_id: None, text };
            Ok(CheckedRun { run_id, events: 0, defects: vec![defect] })
        }
        Err(error) => Err(error.into()),
    }
}

fn checked(run_id: RunId, events: &[Event], expected: &Expected<'_>) -> CheckedRun {
    let mut defects = check::events(events);
    defects.extend(heads::differing(expected.heads, &run_id, events));
    if let Some(key) = signatures::key_of(events, expected.keys) {
        // With the key each decision is looked at by itself.
        defects.retain(|defect| defect.invariant != Invariant::Signatures);
        defects.extend(signatures::defects(key, events));
    }
    CheckedRun { run_id, events: events.len(), defects }
}

fn print(runs: &[CheckedRun], unreadable: &[Defect], format: Format, output: &Output) {
    let view = CheckView::of(runs, unreadable);
    match format {
        Format::Human => {
            for run in runs {
                output.text(&run_line(run));
                for defect in &run.defects {
                    output.text(&defect_lines(defect));
                }
            }
            for defect in unreadable {
                output.text(&defect_lines(defect));
            }
            output.note(&summary(runs, unreadable));
        }
        Format::Json => output.object(&view),
        Format::Jsonl => view.lines().for_each(|line| output.line(&line)),
    }
}
