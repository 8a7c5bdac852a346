//! The two channels: data on stdout, words for people on stderr.
//!
//! Everything that the command prints goes through one [`Output`], so that the progress line never stands in the middle of
//! something else, and so that a reader who went away is noticed once and not everywhere.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anstream::adapter::strip_str;
use clap::ValueEnum;
use lockgate::contract::document::Document;
use serde::Serialize;

use crate::render::json::{compact, pretty, shown};
use crate::render::style::{BAD, NAME, OPEN};
use crate::render::text::{labelled, one_line, styles_only};

/// stdout and stderr of this process.
#[derive(Debug)]
pub(crate) struct Output {
    color: [bool; 2],
    progress: bool,
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nobody reads stdout any more. What is being done goes on: an effect is not taken back by a closed pipe.
    reader_gone: bool,
    failure: Option<io::Error>,
    progress_shown: bool,
}

/// When something is done that depends on the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Columns of the progress line, one less than the narrowest terminal in use.
const PROGRESS: usize = 79;
/// To the first column, and away with what stands there.
const CLEAR: &str = "\r\u{1b}[2K";

impl Output {
    pub(crate) fn new(color: When, progress: When) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let auto = |choice| choice != anstream::ColorChoice::Never;
        let color = match color {
            When::Always => [true, true],
            When::Never => [false, false],
            When::Auto => [auto(anstream::AutoStream::choice(&stdout)), auto(anstream::AutoStream::choice(&stderr))],
        };
        let progress = match progress {
            When::Always => true,
            When::Never => false,
            When::Auto => stderr.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        };
        Self { color, progress, terminal: stdout.is_terminal(), state: Mutex::default() }
    }

    /// Text for people that is the command's answer, to stdout.
    pub(crate) fn text(&self, text: &str) {
        let mut state = self.clear_progress();
        state.write(printed(text, self.color[0]).as_bytes());
    }

    /// Bytes as they are, to stdout.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        self.clear_progress().write(bytes);
    }

    /// Whether somebody may still read stdout.
    pub(crate) fn has_reader(&self) -> bool {
        let state = self.lock();
        !state.reader_gone && state.failure.is_none()
    }

    /// One line of JSON, to stdout.
    pub(crate) fn line(&self, value: &impl Serialize) {
        self.json(value, if self.terminal { shown } else { compact });
    }

    /// JSON to stdout: over several lines where a person reads it, on one line where a program does.
    pub(crate) fn object(&self, value: &impl Serialize) {
        self.json(value, if self.terminal { pretty } else { compact });
    }

    /// JSON to stdout, over several lines.
    pub(crate) fn page(&self, value: &impl Serialize) {
        self.json(value, pretty);
    }

    fn json(&self, value: &impl Serialize, form: fn(&Document) -> String) {
        let mut state = self.clear_progress();
        match Document::from_serialize(value) {
            Ok(document) => state.write(format!("{}\n", form(&document)).as_bytes()),
            Err(error) => state.failure = Some(io::Error::other(error.to_string())),
        }
    }

    /// Words for people, to stderr.
    pub(crate) fn note(&self, text: &str) {
        let state = self.clear_progress();
        self.stderr_raw(&printed(text, self.color[1]));
        drop(state);
    }

    /// A warning, to stderr.
    pub(crate) fn warning(&self, message: impl Display) {
        self.note(&labelled(OPEN, "warning:", &message.to_string()));
    }

    /// What went wrong and what to do about it, to stderr.
    pub(crate) fn error(&self, message: impl Display, hint: Option<&str>) {
        let hint = hint.map(|hint| labelled(NAME, "  hint:", hint)).unwrap_or_default();
        self.note(&format!("{}{hint}", labelled(BAD, "error:", &message.to_string())));
    }

    /// What runs now, on one line of stderr that the next thing replaces.
    pub(crate) fn progress(&self, words: &str) {
        if self.progress {
            let mut state = self.lock();
            state.progress_shown = true;
            self.stderr_raw(&format!("{CLEAR}{}", one_line(words, PROGRESS)));
        }
    }

    /// Whether everything reached stdout. A reader who went away has what they wanted.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let mut state = self.clear_progress();
        state.failure.take().map_or(Ok(()), Err)
    }

    fn clear_progress(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        if std::mem::take(&mut state.progress_shown) {
            self.stderr_raw(CLEAR);
        }
        state
    }

    /// There is nobody to tell that stderr is broken.
    #[expect(clippy::unused_self, reason = "stderr is reached through the output only")]
    fn stderr_raw(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text for people as it reaches the screen: with or without its styles, and with nothing else that drives a terminal.
fn printed(text: &str, color: bool) -> String {
    let text = styles_only(text);
    if color { text } else { strip_str(&text).to_string() }
}

impl State {
    fn write(&mut self, bytes: &[u8]) {
        if self.reader_gone || self.failure.is_some() {
            return;
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.reader_gone = true,
            Err(error) => self.failure = Some(error),
        }
    }
}
