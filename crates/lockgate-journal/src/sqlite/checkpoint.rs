//! When the write-ahead log is moved into the file, and how it stays small.
//!
//! The writer thread does it, between two groups, after their answers were sent; SQLite's own way would do it inside a
//! commit that somebody waits for.
//!
//! ```text
//!   the log has grown by PART   PASSIVE    what no reader needs is moved; waits for nobody
//!   the log is LARGE            TRUNCATE   waits a moment until no reader needs the log, and begins it anew
//!   nothing is asked for        TRUNCATE   without waiting: an idle journal is one file again
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::MAIN_DB;
use rusqlite::wal::CheckpointMode;

use super::fault::is_busy;

/// Frames (a page of 4 KiB and its header) after which the log is moved: 4 MiB.
pub(super) const PART: u32 = 1_000;

/// Frames after which readers are waited for: 16 MiB.
pub(super) const LARGE: u32 = 4 * PART;

/// How long readers are waited for. A reader that takes longer is not asked again before the log has grown by another part.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is known of the log.
pub(super) struct Log {
    /// How many frames it had after the last commit; SQLite says so.
    frames: Arc<AtomicU32>,
    /// How many it had when it was last moved.
    moved_at: u32,
}

impl Log {
    /// A log of which nothing is known: there may be something in it.
    pub(super) fn new() -> Self {
        Self { frames: Arc::new(AtomicU32::new(1)), moved_at: 0 }
    }

    /// Counts what this connection commits, and stops SQLite from moving the log by itself.
    pub(super) fn watch(&mut self, connection: &mut Connection) -> rusqlite::Result<()> {
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let frames = Arc::clone(&self.frames);
        connection.wal_hook(Some(move |_: &mut _, count| {
            frames.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Relaxed);
            Ok(())
        }))?;
        self.moved_at = 0;
        Ok(())
    }

    /// Whether there may be something in it.
    pub(super) fn is_in_use(&self) -> bool {
        self.frames() > 0
    }

    /// Keeps it within its bounds, after a commit. `wait` is how long the connection waits for others otherwise.
    pub(super) fn bound(&mut self, connection: &Connection, wait: Duration) -> rusqlite::Result<()> {
        let frames = self.frames();
        if frames < self.moved_at {
            // It was begun anew.
            self.moved_at = 0;
        }
        if frames < self.moved_at + PART {
            return Ok(());
        }
        self.moved_at = frames;
        if frames < LARGE {
            return checkpoint(connection, CheckpointMode::PASSIVE).map(drop);
        }
        connection.busy_timeout(PATIENCE)?;
        let done = self.empty(connection);
        connection.busy_timeout(wait)?;
        done.map(drop)
    }

    /// Moves all of it and shortens it to nothing, unless somebody still reads it. Answers whether it is empty.
    pub(super) fn empty(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let is_empty = checkpoint(connection, CheckpointMode::TRUNCATE)?;
        if is_empty {
            self.frames.store(0, Ordering::Relaxed);
            self.moved_at = 0;
        }
        Ok(is_empty)
    }

    fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }
}

/// Answers whether everything was done: a reader or another writer may be in the way.
fn checkpoint(connection: &Connection, mode: CheckpointMode) -> rusqlite::Result<bool> {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
        Ok((frames, moved)) => Ok(frames == moved),
        Err(error) if is_busy(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
