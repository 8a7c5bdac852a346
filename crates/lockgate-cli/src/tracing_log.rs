//! The log: on stderr, switched on by `LOCKGATE_LOG`.
//!
//! What servers and programs wrote of themselves may stand in it, so each line is scrubbed of what looks like a secret.
//!
//! `LOCKGATE_LOG=debug`, or any list of `target=level`; `LOCKGATE_LOG_FORMAT=json` writes one JSON object a line.

use std::io::{self, Write};
use std::sync::LazyLock;

use lockgate::contract::ports::Redactor as _;
use lockgate::redact::{Scrubber, ScrubberBuilder};
use tracing_subscriber::EnvFilter;

use crate::output::Output;

/// What is logged when nobody asks. Failures of tools are not: the journal has their text, and the screen their code.
const QUIET: &str = "warn,lockgate_executor=off";

/// Starts the log.
pub(crate) fn start(output: &Output) {
    let filter = match std::env::var("LOCKGATE_LOG") {
        Err(_) => EnvFilter::new(QUIET),
        Ok(asked) => EnvFilter::try_new(&asked).unwrap_or_else(|error| {
            output.warning(format_args!("`LOCKGATE_LOG` is not understood: {error}"));
            EnvFilter::new(QUIET)
        }),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Scrubbed(io::stderr())).with_ansi(false);
    // A second subscriber cannot be there: this is the only place that sets one.
    let _ = if std::env::var("LOCKGATE_LOG_FORMAT").is_ok_and(|format| format == "json") {
        log.json().try_init()
    } else {
        log.try_init()
    };
}

/// Made when there is something to scrub: most commands log nothing.
static SCRUBBER: LazyLock<Option<Scrubber>> = LazyLock::new(|| ScrubberBuilder::new().build().ok());

/// Takes whole lines, and writes them without secrets.
struct Scrubbed<W>(W);

impl<W: Write> Write for Scrubbed<W> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(lines);
        match &*SCRUBBER {
            Some(scrubber) => self.0.write_all(scrubber.scrub(&text).as_bytes())?,
            // What cannot be scrubbed is not shown.
            None => self.0.write_all(b"(a line that cannot be shown)\n")?,
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;
