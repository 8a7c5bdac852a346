//! From PostgreSQL's errors to the journal's.

use std::error::Error as _;

use lockgate_contract::ports::JournalError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// What an error means that came before a commit, or while reading: nothing was written.
pub(super) fn before(error: &Error) -> JournalError {
    let unreadable =
        error.code().is_some_and(|code| [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code));
    if unreadable { JournalError::Corrupt(words(error)) } else { JournalError::unavailable(words(error)) }
}

/// What an error means that came while a commit was on its way: nobody knows.
pub(super) fn within(error: &Error) -> JournalError {
    JournalError::CommitUnknown(words(error))
}

/// A value that is not what its column should hold.
pub(super) fn unreadable(error: &Error) -> JournalError {
    JournalError::Corrupt(words(error))
}

/// The whole of what is known about an error. The library's own text leaves the server's words out.
pub(super) fn words(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(told), _) => server_words(told),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

/// What the server said. Its detail is left out: it may hold the values of a row.
pub(super) fn server_words(told: &DbError) -> String {
    format!("{} (SQLSTATE {})", told.message(), told.code().code())
}

/// Whether the server may be there in a moment: it starts, stops, cannot be reached, or has no connection free.
pub(super) fn may_pass(error: &Error) -> bool {
    match error.code() {
        Some(code) => [
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code),
        None => error.source().is_none_or(<dyn std::error::Error>::is::<std::io::Error>),
    }
}
