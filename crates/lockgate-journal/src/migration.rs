//! Steps of a schema. They go forward only, in order, each with its checksum in the table `meta`. What is newer than this
//! program is refused; so is what was made by other steps than the ones that this program knows under those numbers.

use lockgate_contract::digest::Digest;
use lockgate_contract::ports::JournalError;

/// One step. A published one is never edited: add another.
pub(crate) struct Migration {
    pub(crate) version: u32,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

impl Migration {
    /// What `meta` holds of the step's text.
    pub(crate) fn checksum(&self) -> String {
        Digest::of_text("lockgate.migration.v1", self.sql).to_string()
    }
}

/// Why a schema is not one that this program may use.
pub(crate) enum Unfit {
    /// It was made by a newer version.
    TooNew(JournalError),
    /// The step of this number is another one.
    Other { version: u32 },
}

/// The newest version of these steps.
pub(crate) fn newest(known: &[Migration]) -> u32 {
    known.last().map_or(0, |migration| migration.version)
}

/// The version of a schema to which these steps (number and checksum, oldest first) were applied.
pub(crate) fn examine(known: &[Migration], applied: &[(u32, String)]) -> Result<u32, Unfit> {
    let found = applied.last().map_or(0, |(version, _)| *version);
    if found > newest(known) {
        return Err(Unfit::TooNew(JournalError::TooNew { found, known: newest(known) }));
    }
    let other = applied
        .iter()
        .zip(known)
        .find(|((version, checksum), migration)| *version != migration.version || *checksum != migration.checksum());
    match other {
        Some(((version, _), _)) => Err(Unfit::Other { version: *version }),
        None => Ok(found),
    }
}
