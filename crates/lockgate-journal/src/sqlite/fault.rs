//! From SQLite's errors to the journal's.

use lockgate_contract::ports::JournalError;
use rusqlite::{Error, ErrorCode, ffi};

/// What is said when there is no room. Requests say why they failed in words; this is how the writer knows these.
const DISK_IS_FULL: &str = "the disk is full";

/// What an error means that came before a commit, or while reading: nothing was written.
pub(super) fn storage(error: Error) -> JournalError {
    if is_full(&error) {
        return full();
    }
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

/// Whether there was no room: SQLite's own "full", or that its index of the write-ahead log could not be made.
pub(super) fn is_full(error: &Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// The answer to a write for which there was no room: nothing was written.
pub(super) fn full() -> JournalError {
    JournalError::Unavailable(DISK_IS_FULL.to_owned())
}

/// Whether the disk or the connection failed, so that nothing of it may be believed until the file was opened anew.
pub(super) fn is_broken(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// Whether the file could not be used as it was wanted; perhaps it can still be read.
pub(super) fn is_shut(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
        )
    )
}
