//! Python environments below `target`, of pinned packages.

use std::path::Path;

use crate::files::{read, write};
use crate::programs::{install, run, said};
use crate::steps::command;

/// Says that an installation came to its end, and of what.
const STAMP: &str = "installed.txt";

/// Makes an environment with what a list of requirements pins, where it is not there yet.
pub(crate) fn environment(folder: &Path, requirements: &Path) -> Result<(), String> {
    let pinned = read(requirements)?;
    if read(&folder.join(STAMP)).is_ok_and(|installed| installed == pinned) {
        return Ok(());
    }
    ensure_pip()?;
    // The machine's own pip fills it: one of its own is not everywhere to be had, and takes its time.
    run(command("python3").args(["-m", "venv", "--clear", "--without-pip"]).arg(folder))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"];
    run(command("python3").args(["-m", "pip", "--python", &python(folder)]).args(pip).arg(requirements))?;
    write(&folder.join(STAMP), pinned)
}

/// Makes sure that there is a pip that can fill environments.
pub(crate) fn ensure_pip() -> Result<(), String> {
    // Of October 2022: the first that fills one which has no pip itself.
    const OLDEST: (u32, u32) = (22, 3);
    let found = || {
        let told = said(command("python3").args(["-m", "pip", "--version"]))?;
        let mut parts = told.split_whitespace().nth(1)?.split('.');
        Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?))
    };
    if found() >= Some(OLDEST) {
        return Ok(());
    }
    install("python3-pip")?;
    if found() >= Some(OLDEST) {
        return Ok(());
    }
    let (major, minor) = OLDEST;
    Err(format!(
        "xtask: Python 3 with pip {major}.{minor} or newer is missing: install it (`apt-get install python3-pip`)"
    ))
}

/// The interpreter of an environment.
pub(crate) fn python(folder: &Path) -> String {
    folder.join("bin/python").display().to_string()
}
