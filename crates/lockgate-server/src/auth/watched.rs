//! A file whose changes hold from the next request on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lockgate::host::private_files::Kept;
use tokio::sync::Notify;

use super::error::FileProblem;
use crate::content::Content;

/// A file that is read again whenever it may have changed. A broken one holds nothing: what it held before is not used.
pub(super) struct Watched<T> {
    parse: fn(&str) -> Result<T, String>,
    /// Told when it says something else than before.
    changed: Arc<Notify>,
    state: Mutex<State<T>>,
}

struct State<T> {
    content: Content,
    parsed: Option<Parsed<T>>,
    /// What the log has of it: each problem stands there once, however many come by.
    said: Option<FileProblem>,
}

/// What stood in the file the last time.
struct Parsed<T> {
    bytes: Arc<Vec<u8>>,
    meant: Result<Arc<T>, FileProblem>,
}

impl<T> Watched<T> {
    pub(super) fn new(path: PathBuf, kept: Kept, most: u64, parse: fn(&str) -> Result<T, String>) -> Self {
        let state = State { content: Content::new(path, kept, most), parsed: None, said: None };
        Self { parse, changed: Arc::default(), state: Mutex::new(state) }
    }

    /// Tells here when it says something else than before.
    pub(super) fn telling(self, changed: &Arc<Notify>) -> Self {
        Self { changed: Arc::clone(changed), ..self }
    }

    /// What the file says now.
    ///
    /// # Errors
    ///
    /// It cannot be used. The log says so once.
    pub(super) fn current(&self) -> Result<Arc<T>, FileProblem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.found(&mut state);
        let problem = found.as_ref().err();
        if problem != state.said.as_ref() {
            if let Some(problem) = problem {
                tracing::error!(%problem, "nobody comes in by this file");
            } else {
                tracing::info!(path = %state.content.path().display(), "this file lets people in again");
            }
            state.said = problem.cloned();
        }
        found
    }

    fn found(&self, state: &mut State<T>) -> Result<Arc<T>, FileProblem> {
        let bytes = state.content.now().map_err(|error| {
            if state.parsed.take().is_some() {
                self.changed.notify_one();
            }
            FileProblem::from(error)
        })?;
        if let Some(parsed) = state.parsed.as_ref().filter(|parsed| Arc::ptr_eq(&parsed.bytes, &bytes)) {
            return parsed.meant.clone();
        }
        self.changed.notify_one();
        let said = str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned()).and_then(self.parse);
        let meant = said.map(Arc::new).map_err(|detail| FileProblem::broken(state.content.path(), &detail));
        state.parsed = Some(Parsed { bytes, meant: meant.clone() });
        meant
    }
}
