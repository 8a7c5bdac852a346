//! From SQLite's errors to the journal's.

use lockgate_contract::ports::JournalError;
use rusqlite::{Error, ErrorCode};

/// What an error means that came before a commit, or while reading: nothing was written.
pub(super) fn storage(error: Error) -> JournalError {
    let unreadable = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || matches!(
            error,
            Error::FromSqlConversionFailure(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::InvalidColumnType(..)
                | Error::Utf8Error(..)
        );
    if unreadable { JournalError::Corrupt(error.to_string()) } else { JournalError::unavailable(error) }
}

/// Whether another connection holds the lock that was wanted.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
