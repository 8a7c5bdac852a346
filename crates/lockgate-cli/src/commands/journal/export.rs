//! `lockgate journal export`: runs as lines.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use lockgate::contract::export::Writer;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::JournalError;
use lockgate::host::files::NewFile;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::counted;
use crate::stored::{JournalArgument, Stored};

/// Write runs as lines of JSON, with everything that belongs to them
#[derive(Debug, Args)]
#[command(after_help = "\
Events, questions with their answers, calls, whole outputs and callers' keys, to the byte:
`lockgate journal import` puts them into another journal. Each run is as of one moment, also one
that somebody drives; stop its driver before the run goes on in another journal, or both go on.

Examples:
  lockgate journal export > journal.jsonl
  lockgate journal export 34c5 --file run.jsonl")]
pub(super) struct Arguments {
    /// Only these runs: their ids, or the starts of them
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// A new file, for its owner alone, in place of standard output
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let runs = stored.runs(&arguments.runs).await?;
    let mut target = match &arguments.file {
        Some(path) => Target::File(Archive::create(path)?),
        None => Target::Stdout(output),
    };
    let mut writer = Writer::default();
    target.write(&writer.begin())?;
    let mut count = 0;
    for run in runs {
        match stored.journal.upkeep().export_run(&run).await {
            Ok(kept) => target.write(&writer.run(&kept))?,
            // It was removed since it was listed.
            Err(JournalError::NoSuchRun(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        count += 1;
    }
    target.write(&writer.end())?;
    target.finish()?;
    output.note(&format!("{} exported\n", counted(count, "run")));
    Ok(Exit::Ok)
}

enum Target<'o> {
    Stdout(&'o Output),
    File(Archive),
}

impl Target<'_> {
    fn write(&mut self, text: &str) -> Result<(), CliError> {
        match self {
            Self::Stdout(output) => {
                output.raw(text.as_bytes());
                Ok(())
            }
            Self::File(file) => file.write(text),
        }
    }

    fn finish(self) -> Result<(), CliError> {
        match self {
            Self::Stdout(_) => Ok(()),
            Self::File(file) => file.finish(),
        }
    }
}

/// A file that takes an export.
pub(super) struct Archive {
    path: PathBuf,
    file: NewFile,
}

impl Archive {
    pub(super) fn create(path: &Path) -> Result<Self, CliError> {
        let file = NewFile::create(path).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => CliError::FileThere(path.to_owned()),
            _ => CliError::File { path: path.to_owned(), cause },
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), CliError> {
        self.file.write(text.as_bytes()).map_err(|cause| fault(&self.path, cause))
    }

    /// Waits until it is on the disk.
    pub(super) fn finish(self) -> Result<(), CliError> {
        self.file.finish().map_err(|cause| fault(&self.path, cause))
    }
}

fn fault(path: &Path, cause: io::Error) -> CliError {
    CliError::File { path: path.to_owned(), cause }
}

/// The lines of one run, as an export has them.
pub(super) async fn lines_of(stored: &Stored, run: &RunId) -> Result<String, CliError> {
    Ok(Writer::default().run(&stored.journal.upkeep().export_run(run).await?))
}
