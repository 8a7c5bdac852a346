//! Python environments below `target`, of pinned packages.

use std::path::Path;

use crate::files::{read, write};
use crate::programs::run;
use crate::steps::command;

/// Says that an installation came to its end, and of what.
const STAMP: &str = "installed.txt";

/// Makes an environment with what a list of requirements pins, where it is not there yet.
pub(crate) fn environment(folder: &Path, requirements: &Path) -> Result<(), String> {
    let pinned = read(requirements)?;
    if read(&folder.join(STAMP)).is_ok_and(|installed| installed == pinned) {
        return Ok(());
    }
    run(command("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"];
    run(command(&python(folder)).args(pip).arg(requirements))?;
    write(&folder.join(STAMP), pinned)
}

/// The interpreter of an environment.
pub(crate) fn python(folder: &Path) -> String {
    folder.join("bin/python").display().to_string()
}
