//! From a journal's URL to the journal.

use std::path::Path;
use std::sync::Arc;

use lockgate_contract::ports::{Clock, Journal};

use crate::error::OpenError;
use crate::memory::MemoryJournal;
use crate::sqlite::SqliteJournal;

/// Opens the journal that `url` names, and makes it when it does not exist yet.
///
/// - `sqlite:PATH`: one file, kept for good. `PATH` is taken as it stands, relative to the working directory. A missing
///   folder is made for the owner alone (mode 0700), and so is a missing file (0600).
/// - `memory:`: gone with the process. `memory:NUMBER` keeps so many runs that ended, and forgets older ones.
/// - `postgres://USER:PASSWORD@HOST/DATABASE` (feature `postgres`): the schema `lockgate` of a PostgreSQL database, 15 or
///   newer.
///
/// Times and expiries come from `clock`; PostgreSQL has its own, so that machines that share it agree.
pub fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn Journal>, OpenError> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(MemoryJournal::new(clock))),
        Some(("memory", most)) if most.parse::<usize>().is_ok_and(|most| most > 0) => {
            Ok(Arc::new(MemoryJournal::new(clock).keeping(most.parse().unwrap_or(usize::MAX))))
        }
        // SQLite itself would take its `:memory:` for "no file", and what was meant to be kept would be lost.
        Some(("memory", _) | ("sqlite", ":memory:")) => Err(OpenError::MemoryWithPath),
        Some(("sqlite", "")) => Err(OpenError::NoPath),
        Some(("sqlite", path)) => Ok(Arc::new(SqliteJournal::open(Path::new(path), clock)?)),
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => Ok(Arc::new(crate::postgres::PostgresJournal::open(url)?)),
        // Only the scheme is repeated: the rest of a URL may hold a password.
        Some((scheme, _)) => Err(OpenError::UnknownScheme(scheme.to_owned())),
        None => Err(OpenError::NoScheme),
    }
}
