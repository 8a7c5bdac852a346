//! Room that is kept for the results of calls that were started.
//!
//! A call that has its intent must get its result into the journal, also when the disk is full meanwhile. So a file beside
//! the journal (`journal.db.reserve`) takes room from the start. It is given up when a result meets a full disk, and made
//! again when something new wants to begin; while it cannot be made, nothing new begins.
//!
//! One file for all the processes that share the journal: whether it is there is looked up each time.
#![expect(clippy::disallowed_methods, reason = "the journal's files are its own")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::file;

/// How much room, in bytes: some hundred results of ordinary size.
const SIZE: usize = 4 << 20;

/// Larger than what file systems compress in one piece.
const BLOCK: usize = 256 << 10;

/// The file, there or not.
pub(super) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// The reserve of a journal. Nothing is made yet: who only reads needs none.
    pub(super) fn of(journal: &Path) -> Self {
        Self { path: file::beside(journal, ".reserve") }
    }

    /// Makes it where it is missing.
    pub(super) fn make(&self) -> io::Result<()> {
        if self.is_there() {
            return Ok(());
        }
        self.fill().inspect_err(|_| {
            // A part of it would only take the room that is left.
            let _ = std::fs::remove_file(&self.path);
        })
    }

    /// Gives its room back. Answers whether there was any.
    pub(super) fn give_up(&self) -> bool {
        self.is_there() && std::fs::remove_file(&self.path).is_ok()
    }

    fn is_there(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|found| found.is_file() && found.len() >= SIZE as u64)
    }

    /// Two processes that do this at once write the same bytes.
    fn fill(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = file::for_owner_only(options.write(true).create(true).truncate(false)).open(&self.path)?;
        // Not synced: file systems that write later take the room now. After a power cut it is made again.
        match allocate(&file) {
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                let block = noise();
                (0..SIZE / BLOCK).try_for_each(|_| file.write_all(&block))
            }
            allocated => allocated,
        }
    }
}

/// Room without bytes, where the file system has that.
#[cfg(target_os = "linux")]
fn allocate(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, SIZE as u64)?)
}

#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Bytes that no file system makes smaller: holes and zeros take no room on some.
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = std::iter::repeat_with(|| {
        // Xorshift: plain, and never 0.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(BLOCK / 8).flatten().collect()
}

#[cfg(test)]
mod tests;
