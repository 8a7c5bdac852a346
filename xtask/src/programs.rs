//! Programs of the machine that checks need: run, and installed where they are missing.

use std::process::Command;

use crate::steps::command;

/// Installs one of Debian's packages, where `apt-get` may. Elsewhere nothing is done: whoever needs it looks again, and says what
/// is missing.
pub(crate) fn install(package: &str) -> Result<(), String> {
    if !is_root() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| run(command("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    let install = ["install", "--yes", "--no-install-recommends", package];
    // A fresh machine has no lists of packages yet.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}

/// Makes sure that there is the solver which proofs about rules are made by.
pub(crate) fn ensure_solver() -> Result<(), String> {
    let named = std::env::var("CVC5").unwrap_or_else(|_| "cvc5".to_owned());
    let is_there = || said(command(&named).arg("--version")).is_some();
    if is_there() {
        return Ok(());
    }
    install("cvc5")?;
    if is_there() {
        return Ok(());
    }
    Err(format!(
        "xtask: the solver `{named}` is missing: install it (`apt-get install cvc5`), or set CVC5 to the path of its program"
    ))
}

/// Whether this is root, who may install.
pub(crate) fn is_root() -> bool {
    said(command("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

/// Runs a command to its end.
pub(crate) fn run(started: &mut Command) -> Result<(), String> {
    let output = started.output().map_err(|error| format!("xtask: {started:?} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("xtask: {started:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// What a command writes, where it succeeds.
pub(crate) fn said(started: &mut Command) -> Option<String> {
    let output = started.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
