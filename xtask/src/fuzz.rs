//! Fuzzing: `cargo fuzz` over the programs of `fuzz/`, each for a bounded time, and the corpus that is kept of it.

use std::path::{Path, PathBuf};

use crate::files::below;
use crate::steps::{cargo, command};

/// How long each target runs, in seconds, unless it is said otherwise.
const SECONDS: &str = "600";

/// What one input may be and cost: bytes, seconds, and megabytes of the whole process.
const LIMITS: [&str; 3] = ["-max_len=16384", "-timeout=5", "-rss_limit_mb=512"];

/// Where seeds and finds are until they are merged, below the checkout.
const WORK: &str = "fuzz/target/corpus";

/// Runs the named targets, or all; the corpus of each is then the smallest that reaches as much.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (seconds, names) = match arguments {
        [flag, seconds, names @ ..] if flag == "--seconds" => (seconds.as_str(), names),
        names => (SECONDS, names),
    };
    let targets = targets(root)?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("xtask: there is no fuzz target `{unknown}`: the targets are {}", targets.join(", ")));
    }
    let seeds = root.join(WORK).join("seeds");
    let replay = ["nextest", "run", "--package", "lockgate", "--test", "it", "fuzz_corpus::"];
    cargo(replay[0], &replay[1..], &[("LOCKGATE_SEEDS", &seeds.to_string_lossy())])?;
    for target in targets.iter().filter(|target| names.is_empty() || names.contains(target)) {
        let found = fresh(&root.join(WORK).join("found").join(target))?;
        let merged = fresh(&root.join(WORK).join("merged").join(target))?;
        let kept = root.join("fuzz/corpus").join(target);
        let seeds = seeds.join(target);
        make(&kept)?;
        fuzz(root, target, &[&found, &kept, &seeds], &[&format!("-max_total_time={seconds}")])?;
        // Counters tell how often a line was reached: the kept corpus need not show every number.
        fuzz(root, target, &[&merged, &kept, &seeds, &found], &["-merge=1", "-use_counters=0"])?;
        replace(&kept, &merged)?;
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

/// The kept corpus is what was merged.
fn replace(kept: &Path, merged: &Path) -> Result<(), String> {
    std::fs::remove_dir_all(kept)
        .and_then(|()| std::fs::rename(merged, kept))
        .map_err(|error| format!("{}: {error}", kept.display()))
}
