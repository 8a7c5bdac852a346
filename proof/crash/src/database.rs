//! A database of a PostgreSQL server, for all scenarios together: their runs have ids of their own.

use std::sync::Arc;

use lockgate::prelude::Journal;
use tokio_postgres::NoTls;

use crate::{CrashError, drive};

/// The URL of a server's administrator: `cargo xtask test` and `cargo xtask crash` start a server, and set it.
pub const SERVER: &str = "LOCKGATE_TEST_POSTGRES";

/// A database that is dropped with this value.
pub struct Database {
    server: String,
    name: String,
    url: String,
    journal: Option<Arc<dyn Journal>>,
}

impl Database {
    /// Makes one with the schema of today.
    pub fn create(server: &str) -> Result<Self, CrashError> {
        let name = format!("lockgate_crash_{}", std::process::id());
        let (address, _) = server.rsplit_once('/').ok_or_else(|| CrashError::new(SERVER, "it names no database"))?;
        let mut database = Self { server: server.to_owned(), url: format!("{address}/{name}"), name, journal: None };
        database.command(&format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", database.name))?;
        database.journal = Some(drive::journal(&database.url)?);
        Ok(database)
    }

    /// For drivers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// For the judge.
    pub fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.journal.as_ref()
    }

    /// Tells the server's administrator to do something, on a runtime of its own: whoever asks may stand in one.
    fn command(&self, sql: &str) -> Result<(), CrashError> {
        let (server, sql) = (self.server.clone(), sql.to_owned());
        let work = move || -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                let (client, connection) = tokio_postgres::connect(&server, NoTls).await?;
                tokio::spawn(connection);
                Ok(client.batch_execute(&sql).await?)
            })
        };
        let done = std::thread::spawn(work).join().unwrap_or_else(|_| Err("it panicked".into()));
        done.map_err(|error| CrashError::new(SERVER, error))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.journal.take());
        // A server that is gone has dropped them all.
        let _ = self.command(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}
