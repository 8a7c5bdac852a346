//! Runs as lines of JSON: how they leave a journal, and how they come into another one.
//!
//! ```text
//! {"record":"export","format":1}                            once
//! {"record":"run","run_id":…,"events":N,…}                  of each run
//! {"v":1,"run_id":…,"seq":1,"at":…,"type":…,…,"data":…}     its events
//! {"record":"question",…}  {"record":"call",…}  {"record":"artifact",…}  {"record":"key",…}
//! {"record":"run_end","run_id":…,"digest":"sha256:…"}
//! {"record":"end","runs":N}                                 once
//! ```
//!
//! An event has no `record`. What was stored as a JSON text stands there byte for byte: as `data` where it fits on a line,
//! else as the string `data_text` (a model may have sent line breaks). The digest at the end of a run is over its lines, so
//! that what was altered, lost or cut off is noticed; [`Writer`] and [`Reader`] hold one run at a time.
//!
//! Format 1 is closed: a member that it does not have is refused, because it would be lost. What is added later makes
//! format 2. Several exports may stand behind each other.

mod lines;
mod reader;

use thiserror::Error;

pub(crate) use self::lines::hashed_text;
pub use self::lines::{event_from_line, event_line, is_record};
pub use self::reader::Reader;

use crate::digest::Digest;
use crate::ports::KeptRun;

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// Writes an export: the first line, the lines of each run, the last line.
#[derive(Debug, Default)]
pub struct Writer {
    runs: u64,
}

impl Writer {
    /// The first line. Lines end with a line feed.
    pub fn begin(&self) -> String {
        lines::header()
    }

    /// The lines of a run.
    pub fn run(&mut self, run: &KeptRun) -> String {
        self.runs += 1;
        lines::of_run(run)
    }

    /// The last line: without it an export is cut off.
    pub fn end(self) -> String {
        lines::end(self.runs)
    }
}

/// The digest over a run's lines so far: each one over the one before and its line.
fn digest(before: Option<Digest>, line: &str) -> Digest {
    let before = before.map(|digest| digest.to_string()).unwrap_or_default();
    Digest::of_text("lockgate.export.v1", &format!("{before}\n{line}"))
}

/// Why an export is not one that this version can take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct ExportError {
    /// Which line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: ExportFault,
}

/// What is wrong with a line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExportFault {
    /// It does not begin as one.
    #[error("this is not an export of `lockgate journal export`")]
    NotAnExport,
    /// A newer version wrote it.
    #[error("the export has format {found}, and this program knows up to {known}: use a newer lockgate")]
    TooNew {
        /// Its format.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// A line cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// A line is not one that may stand there.
    #[error("`{0}` does not belong here")]
    Misplaced(String),
    /// A line says something that would not be kept as it stands there.
    #[error("it says more than this program would keep, or in another spelling")]
    Lossy,
    /// The lines of a run are not those that were written.
    #[error("the lines of run `{0}` are not those that were written: some were altered, removed or put in between")]
    Altered(String),
    /// The end is missing.
    #[error("the export is cut off here")]
    CutOff,
}
