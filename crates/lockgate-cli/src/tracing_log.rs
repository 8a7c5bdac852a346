//! The log: on stderr, switched on by `LOCKGATE_LOG`.
//!
//! `LOCKGATE_LOG=debug`, or any list of `target=level`; `LOCKGATE_LOG_FORMAT=json` writes one JSON object a line.

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
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    // A second subscriber cannot be there: this is the only place that sets one.
    let _ = if std::env::var("LOCKGATE_LOG_FORMAT").is_ok_and(|format| format == "json") {
        log.json().try_init()
    } else {
        log.try_init()
    };
}
