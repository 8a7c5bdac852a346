//! Development tasks: `cargo xtask test` checks everything, `cargo xtask generate` writes every generated file anew.
//!
//! It depends on no crate of the project, so that starting it builds next to nothing.

mod conformance;
mod files;
mod fuzz;
mod injections;
mod mcp_clients;
mod mcp_servers;
mod mutants;
mod node;
mod peer;
mod postgres;
mod programs;
mod public_api;
mod python;
mod requirements;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test            all checks: format, public API, requirements, tests, conformance to MCP, three clients of MCP, lints (installs
                            cargo-nextest where it is missing, Node.js, the conformance suite and the clients below target with pip, and
                            PostgreSQL and cvc5 where they are missing and apt-get may; starts a server of its own, unless
                            LOCKGATE_TEST_POSTGRES names one; CVC5 names another solver)
cargo xtask postgres …      runs a command, such as `cargo nextest run -p lockgate-journal --features postgres`, beside such a server
cargo xtask crash           kills drivers of runs at every point of the product, beside such a server, and judges what became of their
                            calls (docs/crash-matrix.md); more words go to `crash matrix`, such as --store sqlite or --seed 2
cargo xtask conformance     runs the official conformance suite of MCP against our fixture; --through: against the gateway before it;
                            --server URL, --start COMMAND… or --client \"COMMAND\": against those (needs Python 3 with pip the first time)
cargo xtask mcp-clients     lets five clients that others wrote list, call and fail against our fixture; --through: against the gateway
                            before it, with approvals; PLAN.json --url URL --token TOKEN: against another server (needs Python 3 with pip
                            the first time); --only NAME… for some
cargo xtask mcp-servers     compares what six servers that others wrote say, twice directly; --through: directly and through the gateway, and
                            then kills each in the middle of calls, makes it noisy and changes a tool of it, behind the gateway (needs
                            Python 3 with pip the first time); --only NAME… for some
cargo xtask generate        writes every generated file anew: outcome pages, event catalogue, schemas, public API, requirements
cargo xtask requirements    writes docs/requirements.md anew, or says which requirements are not accounted for
cargo xtask injections      takes enforcement out of a copy, a place at a time, and sees whether the tests notice; NAME… for some
cargo xtask fuzz            feeds every parser with what nobody would write, 10 minutes each, and keeps the corpus (installs cargo-fuzz
                            where it is missing); --seconds N for another time, NAME… for some
cargo xtask power-cut       cuts the power of the SQLite journal's disk, fills it and breaks it, and counts what was lost (Linux, with a C
                            compiler); IMAGES SEED for other cuts than the 150 of seed 1
cargo xtask mutants         changes the gate's own lines in a copy, one at a time, and lists what no test noticed; hours (installs
                            cargo-mutants where it is missing); more words go to cargo mutants, such as --package lockgate-executor";

#[expect(clippy::print_stderr, reason = "a development tool talks to people")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("test") => steps::test(),
        Some("postgres") => steps::with_postgres(&arguments[1..]),
        Some("crash") => steps::crash(&arguments[1..]),
        Some("conformance") => steps::conformance(&arguments[1..]),
        Some("mcp-clients") => steps::mcp_clients(&arguments[1..]),
        Some("mcp-servers") => steps::mcp_servers(&arguments[1..]),
        Some("generate") => steps::generate(),
        Some("requirements") => steps::requirements(),
        Some("injections") => steps::injections(&arguments[1..]),
        Some("fuzz") => steps::fuzz(&arguments[1..]),
        Some("power-cut") => steps::power_cut(&arguments[1..]),
        Some("mutants") => steps::mutants(&arguments[1..]),
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
