//! Development tasks: `cargo xtask test` checks everything, `cargo xtask generate` writes every generated file anew.
//!
//! It depends on no crate of the project, so that starting it builds next to nothing.

mod public_api;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test        all checks: format, public API, tests, lints (installs cargo-nextest where it is missing)
cargo xtask generate    writes every generated file anew: outcome pages, event catalogue, schemas, public API";

#[expect(clippy::print_stderr, reason = "a development tool talks to people")]
fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => steps::test(),
        Some("generate") => steps::generate(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
