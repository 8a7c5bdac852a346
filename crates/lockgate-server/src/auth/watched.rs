//! A file whose changes hold from the next request on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate::contract::ports::Clock as _;
use lockgate::contract::time::Timestamp;
use lockgate::host::clock::SystemClock;
use lockgate::host::private_files::{self, Kept, Stamp};

use super::error::FileProblem;

/// How old a file's last change has to be before its stamp is believed: two changes in one tick of the file system's clock have
/// the same one.
const TICK: Duration = Duration::from_secs(2);

/// A file that is read again whenever it may have changed. A broken one holds nothing: what it held before is not used.
pub(super) struct Watched<T> {
    path: PathBuf,
    kept: Kept,
    most: u64,
    parse: fn(&str) -> Result<T, String>,
    state: Mutex<State<T>>,
}

struct State<T> {
    seen: Option<Seen<T>>,
    /// What the log has of it: each problem stands there once, however many come by.
    said: Option<FileProblem>,
}

/// What was found the last time.
struct Seen<T> {
    stamp: Stamp,
    bytes: Vec<u8>,
    /// Whether the stamp tells of every later change.
    is_settled: bool,
    content: Result<Arc<T>, FileProblem>,
}

impl<T> Watched<T> {
    pub(super) fn new(path: PathBuf, kept: Kept, most: u64, parse: fn(&str) -> Result<T, String>) -> Self {
        Self { path, kept, most, parse, state: Mutex::new(State { seen: None, said: None }) }
    }

    /// What the file says now.
    ///
    /// # Errors
    ///
    /// It cannot be used. The log says so once.
    pub(super) fn current(&self) -> Result<Arc<T>, FileProblem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.found(&mut state.seen);
        let problem = found.as_ref().err();
        if problem != state.said.as_ref() {
            if let Some(problem) = problem {
                tracing::error!(%problem, "nobody comes in by this file");
            } else {
                tracing::info!(path = %self.path.display(), "this file lets people in again");
            }
            state.said = problem.cloned();
        }
        found
    }

    fn found(&self, seen: &mut Option<Seen<T>>) -> Result<Arc<T>, FileProblem> {
        if let Some(before) = &*seen
            && before.is_settled
            && private_files::stamp(&self.path).is_ok_and(|stamp| stamp == before.stamp)
        {
            return before.content.clone();
        }
        let read_at = SystemClock.now();
        let file = private_files::read(&self.path, self.kept, self.most).map_err(|error| {
            // It is looked for again at the next request: it may be about to be replaced.
            *seen = None;
            FileProblem::from(error)
        })?;
        let is_settled = file.stamp.modified.is_some_and(|at| {
            let at = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let at = Timestamp::from_millis(i64::try_from(at.as_millis()).unwrap_or(i64::MAX));
            read_at.since(at) > TICK
        });
        let content = match &*seen {
            Some(before) if before.bytes == file.bytes => before.content.clone(),
            _ => {
                let parsed = str::from_utf8(&file.bytes).map_err(|_| "it is not UTF-8".to_owned()).and_then(self.parse);
                parsed.map(Arc::new).map_err(|detail| FileProblem::broken(&self.path, &detail))
            }
        };
        *seen = Some(Seen { stamp: file.stamp, bytes: file.bytes, is_settled, content: content.clone() });
        content
    }
}
