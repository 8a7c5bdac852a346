//! A copy of the checkout to which injections are done. Its target folder is kept, so that builds are incremental.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::patch::Patch;
use crate::files::{read, write};
use crate::steps::command;

/// The copy.
pub(super) struct Scratch {
    tree: PathBuf,
    target: PathBuf,
    config: PathBuf,
}

/// What became of a build and its tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    Passed,
    Failed,
    DoesNotCompile,
    /// The filter named nothing.
    NoTests,
    Broken,
}

/// Puts back what a patch changed.
pub(super) struct Undo(Vec<(PathBuf, String)>);

/// A test that an injection sends into an endless wait has failed. The time is that of the slowest: one that builds crates.
const CONFIG: &str =
    "[profile.default]\nslow-timeout = { period = \"60s\", terminate-after = 10 }\nfail-fast = false\n";

impl Scratch {
    /// Makes the copy the same as the checkout. A file that has not changed keeps its time.
    #[expect(clippy::disallowed_methods, reason = "a development tool copies the checkout")]
    pub(super) fn prepare(root: &Path) -> Result<Self, String> {
        let folder = root.join("target/injections");
        let scratch =
            Self { tree: folder.join("tree"), target: folder.join("target"), config: folder.join("nextest.toml") };
        let problem = |path: &Path, error: &std::io::Error| format!("{}: {error}", path.display());
        let wanted = listed(root)?;
        for file in &wanted {
            let (from, to) = (root.join(file), scratch.tree.join(file));
            let bytes = std::fs::read(&from).map_err(|error| problem(&from, &error))?;
            if std::fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            write(&to, bytes)?;
        }
        for file in listed(&scratch.tree)?.difference(&wanted) {
            let path = scratch.tree.join(file);
            std::fs::remove_file(&path).map_err(|error| problem(&path, &error))?;
        }
        write(&scratch.config, CONFIG)?;
        Ok(scratch)
    }

    /// Changes the copy.
    pub(super) fn apply(&self, patch: &Patch) -> Result<Undo, String> {
        let mut before = Vec::new();
        for file in &patch.files {
            let place = self.tree.join(file);
            before.push((place.clone(), read(&place)?));
        }
        // In a folder of a repository, git would take the paths as those of the repository.
        let ceiling = self.tree.parent().unwrap_or(&self.tree);
        let applied = command("git")
            .arg("apply")
            .arg(&patch.path)
            .current_dir(&self.tree)
            .env("GIT_CEILING_DIRECTORIES", ceiling)
            .output();
        match applied {
            Ok(output) if output.status.success() => Ok(Undo(before)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("git cannot be started: {error}")),
        }
    }

    /// Builds a crate.
    pub(super) fn build(&self, krate: &str) -> Result<Run, String> {
        match self.cargo(&["check", "--package", krate])? {
            0 => Ok(Run::Passed),
            _ => Ok(Run::DoesNotCompile),
        }
    }

    /// Builds a crate's tests and runs these of them. A test that a macro makes may have further modules before its name.
    pub(super) fn test(&self, krate: &str, tests: &[&str]) -> Result<Run, String> {
        let filters = tests.iter().map(|test| match test.rsplit_once("::") {
            Some((modules, name)) => format!("test(/^{modules}::(.+::)?{name}$/)"),
            None => format!("test(={test})"),
        });
        let filter = filters.collect::<Vec<_>>().join(" | ");
        let config = self.config.display().to_string();
        let arguments =
            ["nextest", "run", "--tests", "--config-file", &config, "--package", krate, "--filterset", &filter];
        // The exit codes of nextest.
        Ok(match self.cargo(&arguments)? {
            0 => Run::Passed,
            100 => Run::Failed,
            101 => Run::DoesNotCompile,
            4 => Run::NoTests,
            _ => Run::Broken,
        })
    }

    fn cargo(&self, arguments: &[&str]) -> Result<i32, String> {
        let output = command("cargo")
            .args(arguments)
            .args(["--locked", "--offline"])
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TERM_COLOR", "never")
            .output()
            .map_err(|error| format!("xtask: cargo cannot be started: {error}"))?;
        // Kept for whoever wonders about the last result.
        let log = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        write(&self.target.with_file_name("last.log"), log)?;
        Ok(output.status.code().unwrap_or(-1))
    }
}

impl Undo {
    pub(super) fn revert(self) -> Result<(), String> {
        self.0.into_iter().try_for_each(|(path, text)| write(&path, text))
    }
}

impl Run {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::DoesNotCompile => "does not compile",
            Self::NoTests => "no such test",
            Self::Broken => "cargo broke off; see target/injections/last.log",
        }
    }
}

/// The files of a folder that belong to the project: what git tracks or would; of a copy, everything.
fn listed(folder: &Path) -> Result<BTreeSet<String>, String> {
    if !folder.join(".git").exists() {
        return everything(folder, folder);
    }
    let output = command("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(folder)
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    let files = String::from_utf8_lossy(&output.stdout).into_owned();
    // Some folder may have a target folder of its own that git is not told about.
    let belongs = |file: &&str| !file.split('/').any(|name| name == "target") && folder.join(file).is_file();
    Ok(files.lines().filter(belongs).map(str::to_owned).collect())
}

fn everything(folder: &Path, below: &Path) -> Result<BTreeSet<String>, String> {
    let mut files = BTreeSet::new();
    let Ok(entries) = std::fs::read_dir(below) else {
        return Ok(files);
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(everything(folder, &path)?);
        } else if let Ok(file) = path.strip_prefix(folder) {
            files.insert(file.display().to_string());
        }
    }
    Ok(files)
}
