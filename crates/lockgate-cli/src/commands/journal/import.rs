//! `lockgate journal import`: runs from lines.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use lockgate::contract::export::{Reader, Writer};
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::KeptRun;
use lockgate::harness::check;
use lockgate::host::files;

use super::export::lines_of;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::counted;
use crate::stored::{JournalArgument, Stored};

/// Put exported runs into a journal
#[derive(Debug, Args)]
#[command(after_help = "\
Before anything is written every line is checked, every run is checked as `lockgate journal check`
does, and none may be there. Then each run is written in one transaction. Any journal takes what any
other one exported.

Examples:
  lockgate journal import journal.jsonl --journal postgres://app@%2Fvar%2Frun%2Fpostgresql/lockgate

Exit codes:
  0  everything is in the journal
  1  refused: nothing was imported
  2  usage, or the file or the journal cannot be used")]
pub(super) struct Arguments {
    /// The export
    file: PathBuf,
    /// Pass over runs that are in the journal already and the same: after an import that was broken off
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let Arguments { file, resume, journal } = arguments;
    // Before a journal is made for it.
    for run in runs(&file)? {
        let run = run?;
        if let Some(defect) = check::events(&run.events).into_iter().next() {
            return Err(CliError::Broken { run: run.run_id, defect: Box::new(defect) });
        }
    }
    let stored = Stored::open_or_make(journal.journal.as_deref())?;
    let mut there: HashSet<RunId> = HashSet::new();
    let mut seen: HashSet<RunId> = HashSet::new();
    for run in runs(&file)? {
        let run = run?;
        let is_there = stored.journal.run(&run.run_id).await?.is_some();
        let is_same = is_there && resume && lines_of(&stored, &run.run_id).await? == Writer::default().run(&run);
        if is_there && !is_same || !seen.insert(run.run_id.clone()) {
            return Err(CliError::RunThere(run.run_id));
        }
        if is_same {
            there.insert(run.run_id);
        }
    }
    let mut count = 0;
    for run in runs(&file)? {
        let run = run?;
        if !there.contains(&run.run_id) {
            stored.journal.upkeep().import_run(run).await?;
            count += 1;
        }
    }
    output.note(&format!("{} imported\n", counted(count, "run")));
    if !there.is_empty() {
        output.note(&format!("{} there already, and the same\n", counted(there.len() as u64, "run")));
    }
    Ok(Exit::Ok)
}

/// The runs of an export, one after the other. What ends it early is its last item.
fn runs(path: &Path) -> Result<impl Iterator<Item = Result<KeptRun, CliError>> + '_, CliError> {
    let unreadable = |cause| CliError::File { path: path.to_owned(), cause };
    let broken = |cause| CliError::Export { path: path.to_owned(), cause };
    let mut lines = files::lines(path).map_err(unreadable)?;
    let mut reader = Some(Reader::default());
    Ok(std::iter::from_fn(move || {
        while let Some(open) = &mut reader {
            let read = match lines.next() {
                Some(Ok(line)) => open.line(&line).map_err(broken),
                Some(Err(cause)) => Err(unreadable(cause)),
                None => reader.take()?.finish().map(|_| None).map_err(broken),
            };
            match read {
                Ok(None) => {}
                Ok(Some(run)) => return Some(Ok(run)),
                Err(error) => {
                    reader = None;
                    return Some(Err(error));
                }
            }
        }
        None
    }))
}
