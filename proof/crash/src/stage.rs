//! Where scenarios are played: the program, the outside world, and a database.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::CrashError;
use crate::bench::Bench;
use crate::case::Case;
use crate::database::Database;

/// Where journals are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Store {
    /// A file, which every driver opens.
    Sqlite,
    /// A database of a server that goes on.
    Postgres,
}

/// What all scenarios share.
pub struct Stage {
    pub(crate) program: PathBuf,
    pub(crate) server: Server,
    pub(crate) database: Option<Database>,
    scopes: AtomicU64,
}

impl Stage {
    /// Starts the counting server. With a `postgres` server, scenarios can be played in a database there.
    pub fn set(program: &Path, postgres: Option<&str>) -> Result<Self, CrashError> {
        Ok(Self {
            program: program.to_owned(),
            server: Server::start(program)?,
            database: postgres.map(Database::create).transpose()?,
            scopes: AtomicU64::new(1),
        })
    }

    /// The stores in which scenarios can be played.
    pub fn stores(&self) -> Vec<Store> {
        let postgres = self.database.is_some().then_some(Store::Postgres);
        [Some(Store::Sqlite), postgres].into_iter().flatten().collect()
    }

    /// A run that does not exist yet, in a file of its own or in the database.
    pub fn bench(&self, case: Case, store: Store) -> Result<Bench<'_>, CrashError> {
        match (store, &self.database) {
            (Store::Sqlite, _) => {
                let folder = tempfile::tempdir().map_err(|error| CrashError::new("a folder", error))?;
                let journal = folder.path().join("journal.db").display().to_string();
                Bench::new(self, case, journal, Some(folder))
            }
            (Store::Postgres, Some(database)) => Bench::new(self, case, database.url().to_owned(), None),
            (Store::Postgres, None) => Err(CrashError::new("postgres", "there is no server")),
        }
    }

    /// A run that does not exist yet, in the journal of another one.
    pub fn beside(&self, case: Case, other: &Bench<'_>) -> Result<Bench<'_>, CrashError> {
        Bench::new(self, case, other.journal().to_owned(), None)
    }

    /// The URL of the database.
    pub fn database(&self) -> Option<&str> {
        self.database.as_ref().map(Database::url)
    }

    /// The number of one more run.
    pub(crate) fn next_scope(&self) -> u64 {
        self.scopes.fetch_add(1, Ordering::Relaxed)
    }
}

/// The counting server's process. It ends with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    fn start(program: &Path) -> Result<Self, CrashError> {
        let failed = |error: &dyn std::fmt::Display| CrashError::new("the counting server", error);
        let child = Command::new(program).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout.take(64)).read_line(&mut line).map_err(|error| failed(&error))?;
        }
        let address = line.trim_end().parse().map_err(|error| failed(&error))?;
        Ok(Self { child, address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
