//! The steps of each task, as commands that a person could type.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{
    conformance, fuzz, injections, mcp_clients, mcp_servers, mutants, postgres, programs, public_api, requirements,
};

/// Everything that must hold before a change lands.
pub(crate) fn test() -> Result<(), String> {
    ensure("nextest")?;
    programs::ensure_solver()?;
    cargo("fmt", &["--all", "--check"], &[])?;
    public_api::check(&root())?;
    requirements::check(&root())?;
    injections::check(&root())?;
    // One build for all tests. Anything built before it would be built twice, with other features.
    let server = postgres::Server::start()?;
    let tests = ["run", "--workspace", "--locked", "--no-fail-fast"];
    cargo("nextest", &tests, &[server.environment()])?;
    drop(server);
    cargo("test", &["--workspace", "--locked", "--doc", "--quiet"], &[])?;
    cargo("run", &["--package", "embed", "--locked", "--quiet"], &[])?;
    conformance::check(&root())?;
    mcp_clients::check(&root())?;
    cargo("clippy", &["--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"], &[])?;
    let documented = ["--workspace", "--no-deps", "--locked", "--quiet"];
    cargo("doc", &documented, &[("RUSTDOCFLAGS", "--deny warnings")])?;
    cargo_if_installed("deny", &["check", "bans", "licenses", "sources"])
}

/// Runs one command beside a server.
pub(crate) fn with_postgres(words: &[String]) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("xtask: which command?")?;
    let server = postgres::Server::start()?;
    match command(program).args(arguments).envs([server.environment()]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("xtask: `{program}` failed: {status}")),
        Err(error) => Err(format!("xtask: `{program}` cannot be started: {error}")),
    }
}

/// Plays the whole crash matrix.
pub(crate) fn crash(words: &[String]) -> Result<(), String> {
    let server = postgres::Server::start()?;
    let matrix = ["run", "--package", "crash", "--locked", "--quiet", "--", "matrix"];
    let words: Vec<&str> = matrix.into_iter().chain(words.iter().map(String::as_str)).collect();
    cargo("run", &words[1..], &[server.environment()])
}

/// Runs the conformance suite of the protocol.
pub(crate) fn conformance(words: &[String]) -> Result<(), String> {
    conformance::run(&root(), words)
}

/// Plays what there is to call with clients of MCP.
pub(crate) fn mcp_clients(words: &[String]) -> Result<(), String> {
    mcp_clients::run(&root(), words)
}

/// Compares servers of MCP with themselves.
pub(crate) fn mcp_servers(words: &[String]) -> Result<(), String> {
    mcp_servers::run(&root(), words)
}

/// Writes every generated file anew. The same code checks them as a test.
pub(crate) fn generate() -> Result<(), String> {
    public_api::write(&root())?;
    // The pages show journals of the corpus.
    let corpus = ["run", "--package", "lockgate-harness", "--lib", "check::tests::corpus::"];
    cargo("nextest", &corpus, &[("LOCKGATE_GENERATE", "1")])?;
    let generators = ["run", "--package", "lockgate", "--test", "it", "generated::"];
    cargo("nextest", &generators, &[("LOCKGATE_GENERATE", "1")])?;
    requirements::write(&root())
}

/// Writes the page of the requirements alone, and looks whether the injections are in order.
pub(crate) fn requirements() -> Result<(), String> {
    requirements::write(&root())?;
    injections::check(&root())
}

/// Sees whether the tests notice that enforcement is missing.
pub(crate) fn injections(names: &[String]) -> Result<(), String> {
    ensure("nextest")?;
    injections::run(&root(), names)
}

/// Sees whether the tests notice that a line is not what it was.
pub(crate) fn mutants(arguments: &[String]) -> Result<(), String> {
    ensure("mutants")?;
    mutants::run(&root(), arguments)
}

/// Feeds the parsers with what nobody would write.
pub(crate) fn fuzz(arguments: &[String]) -> Result<(), String> {
    ensure("nextest")?;
    ensure("fuzz")?;
    fuzz::run(&root(), arguments)
}

/// Counts what a journal loses on a disk that fails.
pub(crate) fn power_cut(arguments: &[String]) -> Result<(), String> {
    let mut words = vec!["--package", "power-cut", "--locked", "--quiet", "--"];
    words.extend(arguments.iter().map(String::as_str));
    cargo("run", &words, &[])
}

/// Installs a cargo command where it is missing.
fn ensure(tool: &str) -> Result<(), String> {
    if is_installed(tool) {
        return Ok(());
    }
    cargo("install", &[&format!("cargo-{tool}"), "--locked"], &[])
}

fn is_installed(tool: &str) -> bool {
    command("cargo").args([tool, "--version"]).output().is_ok_and(|output| output.status.success())
}

fn cargo_if_installed(tool: &str, arguments: &[&str]) -> Result<(), String> {
    if is_installed(tool) { cargo(tool, arguments, &[]) } else { Ok(()) }
}

#[expect(clippy::print_stderr, reason = "a development tool talks to people")]
pub(crate) fn cargo(tool: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    eprintln!("xtask: cargo {tool} {}", arguments.join(" "));
    let mut command = command("cargo");
    command.arg(tool).args(arguments).current_dir(root()).envs(environment.iter().copied());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("xtask: cargo {tool} failed: {status}")),
        Err(error) => Err(format!("xtask: cargo {tool} cannot be started: {error}")),
    }
}

#[expect(clippy::disallowed_methods, reason = "a development tool starts development tools")]
pub(crate) fn command(program: &str) -> Command {
    Command::new(program)
}

/// Where cargo puts a program.
pub(crate) fn built(root: &Path, program: &str) -> String {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    target.join("debug").join(program).display().to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
