//! Fuzzing: `cargo fuzz` over the programs of `fuzz/`, each for a bounded time, and the corpus that is kept of it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::files::below;
use crate::steps::{cargo, command};

/// How long each target runs, in seconds, unless it is said otherwise.
const SECONDS: &str = "600";

/// What one input may be and cost: bytes, seconds, and megabytes of the whole process.
const LIMITS: [&str; 3] = ["-max_len=16384", "-timeout=5", "-rss_limit_mb=512"];

/// What is kept of each target: so many files, none of more bytes. It is replayed with every run of the tests.
const MOST_FILES: usize = 100;
const MOST_BYTES: u64 = 4096;

/// Where seeds and finds are until what is worth it is kept, below the checkout.
const WORK: &str = "fuzz/target/corpus";

/// Runs the named targets, or all; the corpus of each is then of inputs that reach what its seeds do not.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (seconds, names) = match arguments {
        [flag, seconds, names @ ..] if flag == "--seconds" => (seconds.as_str(), names),
        names => (SECONDS, names),
    };
    let targets = targets(root)?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("xtask: there is no fuzz target `{unknown}`: the targets are {}", targets.join(", ")));
    }
    let all_seeds = fresh(&root.join(WORK).join("seeds"))?;
    let replay = ["run", "--package", "lockgate", "--test", "it", "fuzz_corpus::"];
    cargo("nextest", &replay, &[("LOCKGATE_SEEDS", &all_seeds.to_string_lossy())])?;
    for target in targets.iter().filter(|target| names.is_empty() || names.contains(target)) {
        let found = fresh(&root.join(WORK).join("found").join(target))?;
        let kept = root.join("fuzz/corpus").join(target);
        let seeds = all_seeds.join(target);
        make(&kept)?;
        fuzz(root, target, &[&found, &kept, &seeds], &[&format!("-max_total_time={seconds}")])?;
        let known = names_in(&seeds)?;
        // Counters tell how often a line was reached: the kept corpus need not show every number.
        fuzz(root, target, &[&seeds, &kept, &found], &["-merge=1", "-use_counters=0"])?;
        keep(&seeds, &known, &fresh(&kept)?)?;
    }
    Ok(())
}

/// Moves files that are not known: where there are too many, some of every size.
fn keep(merged: &Path, known: &BTreeSet<OsString>, kept: &Path) -> Result<(), String> {
    let fault = |error| format!("{}: {error}", merged.display());
    let mut sizes = Vec::new();
    for name in names_in(merged)?.difference(known) {
        let size = std::fs::metadata(merged.join(name)).map_err(fault)?.len();
        if size <= MOST_BYTES {
            sizes.push((size, name.clone()));
        }
    }
    sizes.sort();
    let count = sizes.len().min(MOST_FILES);
    for index in 0..count {
        let (_, name) = &sizes[index * sizes.len() / count];
        std::fs::rename(merged.join(name), kept.join(name)).map_err(fault)?;
    }
    Ok(())
}

/// The names of the programs.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let programs = below(&root.join("fuzz/fuzz_targets"), "rs")?;
    Ok(programs.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}

/// One run of a target's program. No sanitizer: those want a nightly compiler, and look for what safe code cannot do.
fn fuzz(root: &Path, target: &str, corpora: &[&Path], flags: &[&str]) -> Result<(), String> {
    let status = command("cargo")
        .args(["fuzz", "run", "--sanitizer", "none", target])
        .args(corpora)
        .arg("--")
        .args(LIMITS)
        .args(flags)
        .current_dir(root)
        .status()
        .map_err(|error| format!("xtask: cargo fuzz cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("xtask: {target} does not hold: see fuzz/artifacts/{target}")) }
}

/// The folder, empty.
fn fresh(folder: &Path) -> Result<PathBuf, String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    make(folder)?;
    Ok(folder.to_owned())
}

#[expect(clippy::disallowed_methods, reason = "a development tool keeps its own folders")]
fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn names_in(folder: &Path) -> Result<BTreeSet<OsString>, String> {
    let fault = |error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(fault)?;
    entries.map(|entry| entry.map(|entry| entry.file_name()).map_err(fault)).collect()
}
