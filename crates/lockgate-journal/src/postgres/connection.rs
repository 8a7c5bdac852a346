//! One connection: how it is made, what it must promise, and what the server says beside its answers.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use lockgate_contract::ports::JournalError;
use tokio_postgres::error::Severity;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Error, NoTls, Row};

use super::address::Address;
use super::fault::server_words;
use super::server::Server;
use super::statements::Statement;
use super::{PostgresDurability, schema};
use crate::error::OpenError;

/// Values for a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection that keeps what the journal promises, with every statement prepared.
pub(super) struct Connection {
    client: Client,
    prepared: Vec<tokio_postgres::Statement>,
    warning: Arc<Mutex<Option<String>>>,
    pub(super) server: Server,
}

/// Why there is no connection.
pub(super) enum NoConnection {
    /// The server cannot be reached, or does not let us in.
    Server(Error),
    /// It is not one that can keep a journal.
    Refused(OpenError),
}

impl From<Error> for NoConnection {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

impl From<OpenError> for NoConnection {
    fn from(error: OpenError) -> Self {
        Self::Refused(error)
    }
}

impl Connection {
    /// Connects. Looks each time at what the server promises, and at the schema: both may have changed since. Migrates only
    /// where it is told to.
    pub(super) async fn open(
        address: &Address,
        durability: PostgresDurability,
        tenant: Option<&str>,
        migrate: bool,
    ) -> Result<Self, NoConnection> {
        let (client, connection) = address.config.connect(NoTls).await?;
        let warning = Arc::new(Mutex::new(None));
        tokio::spawn(drive(connection, Arc::clone(&warning)));
        let server = Server::ask(&client).await?;
        server.require(&address.shown, durability, tenant)?;
        if migrate {
            schema::migrate(&client, &address.shown).await?;
        } else {
            schema::check(&client, &address.shown).await?;
        }
        let prepared = try_join_all(Statement::ALL.iter().map(|statement| client.prepare(statement.sql()))).await?;
        Ok(Self { client, prepared, warning, server })
    }

    /// Whether it is known to be gone.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Does one command that has no values. It is sent when it is first polled.
    pub(super) async fn command(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    /// Runs a statement, and answers with how many rows it changed. It is sent when it is first polled: what is polled
    /// later runs later.
    pub(super) async fn execute(&self, statement: Statement, values: Values<'_>) -> Result<u64, Error> {
        self.client.execute(self.prepared(statement), values).await
    }

    /// Runs a statement, and answers with its rows; like [`Connection::execute`].
    pub(super) async fn rows(&self, statement: Statement, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.client.query(self.prepared(statement), values).await
    }

    /// What the server warned of since this was last asked.
    pub(super) fn take_warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn prepared(&self, statement: Statement) -> &tokio_postgres::Statement {
        // INVARIANT: prepared in the order of `Statement::ALL`, in which each stands at its own number.
        &self.prepared[statement as usize]
    }
}

/// Moves bytes until the connection ends. A warning is kept before the answer that follows it on the wire is handed on:
/// whoever has the answer of a commit has the warning that belongs to it too.
async fn drive<S, T>(mut connection: tokio_postgres::Connection<S, T>, warning: Arc<Mutex<Option<String>>>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notice(notice) = message
            && notice.parsed_severity() == Some(Severity::Warning)
        {
            *warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(server_words(&notice));
        }
    }
}

/// What the lack of a connection means to whoever wanted to write.
impl From<NoConnection> for JournalError {
    fn from(none: NoConnection) -> Self {
        match none {
            NoConnection::Server(error) => super::fault::before(&error),
            NoConnection::Refused(error) => schema::unfit(error),
        }
    }
}
