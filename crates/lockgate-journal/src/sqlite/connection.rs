//! Connections: how the writer's and the readers' are opened and set.

use std::ffi::{CStr, OsStr, OsString};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lockgate_contract::ports::JournalError;
use lockgate_contract::time::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::checkpoint::Log;
use super::fault::{is_busy, is_shut, storage};
use super::{file, schema};
use crate::error::OpenError;

/// Where the file is, and how long to wait for others that use it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
}

/// How long to pause between attempts where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// More than there are different statements, so that each is parsed once a connection.
const STATEMENTS: usize = 64;

impl Place {
    /// The connection that writes. The file must exist: a journal that was moved away under a running program is not
    /// silently begun anew.
    ///
    /// What the settings promise is read back, and a file of another program or of a newer version is refused before
    /// anything in it is changed.
    pub(super) fn writer(&self, now: Timestamp, log: &mut Log) -> Result<Connection, OpenError> {
        let mut connection = self.connect().map_err(|error| self.refusal(error))?;
        // SQLite opens such a file without a word, and begins a transaction that can write nothing.
        if connection.is_readonly(MAIN_DB).map_err(|error| self.refusal(error))? {
            let cause = "it is read only".to_owned();
            return Err(OpenError::Access { action: "write", path: self.path.clone(), cause });
        }
        schema::check(&connection, &self.path)?;
        self.use_wal(&connection).map_err(|error| self.refusal(error))?;
        self.settle_settings(&connection)?;
        schema::migrate(&mut connection, &self.path, now)?;
        log.watch(&mut connection).map_err(|error| self.refusal(error))?;
        Ok(connection)
    }

    /// A connection that only reads, and whether it may be kept.
    pub(super) fn reader(&self) -> Result<(Connection, bool), JournalError> {
        let opened = match self.connect().and_then(read_only) {
            // Reading needs a small file of shared memory beside the journal. Where that can be neither found nor made,
            // nobody else has the journal open.
            Err(error) if is_shut(&error) => self.lone_reader().map(|connection| (connection, false)),
            opened => opened.map(|connection| (connection, true)),
        };
        opened.map_err(storage)
    }

    /// Whether a journal that cannot be written can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.reader().is_ok_and(|(connection, _)| schema::is_newest(&connection, &self.path))
    }

    /// Reads without any other file being made: on a full disk, and on a medium that is read only.
    fn lone_reader(&self) -> rusqlite::Result<Connection> {
        let log = std::fs::metadata(file::beside(&self.path, "-wal"));
        let connection = if !file::is_on_read_only_medium(&self.path) {
            // The index of the log is kept in this process, which shuts out all others meanwhile.
            self.connect()?
        } else if log.is_ok_and(|log| log.len() > 0) {
            // Nobody can write there, so that no lock is needed; and none can be had.
            self.open(self.path.as_os_str(), OpenFlags::SQLITE_OPEN_READ_ONLY, Some(c"unix-none"))?
        } else {
            // No log, and none can be made: the file alone is everything.
            let uri = immutable(&self.path);
            return read_only(self.open(
                uri.as_ref(),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                None,
            )?);
        };
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "locking_mode", "exclusive")?;
        read_only(connection)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        self.open(self.path.as_os_str(), OpenFlags::SQLITE_OPEN_READ_WRITE, None)
    }

    fn open(&self, path: &OsStr, flags: OpenFlags, system: Option<&CStr>) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match system {
            Some(system) => Connection::open_with_flags_and_vfs(path, flags, system)?,
            None => Connection::open_with_flags(path, flags)?,
        };
        connection.busy_timeout(self.busy_timeout)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }

    /// Switching a new file to WAL needs it alone, and SQLite answers "busy" at once when two processes open it together.
    fn use_wal(&self, connection: &Connection) -> rusqlite::Result<()> {
        // Counted in pauses, so that no clock is read.
        let mut pauses = self.busy_timeout.as_millis().div_ceil(PAUSE.as_millis());
        loop {
            match connection.pragma_update(None, "journal_mode", "wal") {
                Err(error) if is_busy(&error) && pauses > 0 => {
                    pauses -= 1;
                    thread::sleep(PAUSE);
                }
                done => return done,
            }
        }
    }

    fn settle_settings(&self, connection: &Connection) -> Result<(), OpenError> {
        let set =
            |name: &str, value: &str| connection.pragma_update(None, name, value).map_err(|error| self.refusal(error));
        // FULL: an acknowledged commit survives a power cut. NORMAL lost some in 133 of 150 simulated cuts.
        set("synchronous", "FULL")?;
        // Where `fsync` does not reach the disk (macOS), this does; elsewhere it changes nothing.
        set("fullfsync", "ON")?;
        set("checkpoint_fullfsync", "ON")?;
        set("foreign_keys", "ON")?;
        let settings = settings(connection).map_err(|error| self.refusal(error))?;
        for (setting, found, wanted) in [
            ("journal_mode", settings.journal_mode, "wal"),
            ("synchronous", settings.synchronous, "full"),
            ("foreign_keys", settings.foreign_keys, "on"),
        ] {
            if found != wanted {
                return Err(OpenError::Setting { path: self.path.clone(), setting, found, wanted });
            }
        }
        Ok(())
    }

    /// What an error means while the file is being opened.
    fn refusal(&self, error: rusqlite::Error) -> OpenError {
        schema::refusal(&self.path, error)
    }
}

/// Reads something, so that a file that cannot be read is known now.
fn read_only(connection: Connection) -> rusqlite::Result<Connection> {
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
    Ok(connection)
}

/// The name under which SQLite looks for no other file and takes no lock.
fn immutable(path: &Path) -> OsString {
    let mut uri = OsString::from("file:");
    // These three would end the path, or begin an escape.
    uri.push(path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23"));
    uri.push("?immutable=1");
    uri
}

/// What a connection is set to, as it says itself.
pub(super) struct Settings {
    pub(super) journal_mode: String,
    pub(super) synchronous: String,
    pub(super) foreign_keys: String,
}

/// Reads the settings back.
pub(super) fn settings(connection: &Connection) -> rusqlite::Result<Settings> {
    let journal_mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    let foreign_keys: bool = connection.pragma_query_value(None, "foreign_keys", |row| row.get(0))?;
    let synchronous = match synchronous {
        0 => "off".to_owned(),
        1 => "normal".to_owned(),
        2 => "full".to_owned(),
        3 => "extra".to_owned(),
        other => other.to_string(),
    };
    Ok(Settings { journal_mode, synchronous, foreign_keys: if foreign_keys { "on" } else { "off" }.to_owned() })
}
