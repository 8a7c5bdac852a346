//! Injections: patches that each take one enforcement out of the product, and the test that must notice (`proof/injections/`).
//!
//! A tag says that a test fails when its requirement is broken; an injection breaks it and looks.

mod patch;
mod scratch;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::files::below;
use crate::requirements::Evidence;
use crate::steps::command;
use patch::{Catcher, Patch};
use scratch::{Run, Scratch};

const FOLDER: &str = "proof/injections";

const CAUGHT: &str = "caught";

/// Fails when a patch does not apply any more, or names a test that does not carry its requirement.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let evidence = Evidence::of(root)?;
    let mut faults = Vec::new();
    for patch in patches(root)? {
        faults.extend(patch.faults(&evidence));
        let applies = command("git").args(["apply", "--check"]).arg(&patch.path).current_dir(root).output();
        match applies {
            Ok(output) if output.status.success() => {}
            Ok(output) => faults.push(format!("{}: {}", patch.name, String::from_utf8_lossy(&output.stderr).trim())),
            Err(error) => faults.push(format!("git cannot be started: {error}")),
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(format!("xtask: injections are out of order:\n  {}", faults.join("\n  ")))
    }
}

/// Applies each patch (of these names, or all) to a copy of the checkout, and fails when one is not caught.
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "the table is what was asked for, with its times")]
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    let is_wanted = |patch: &Patch| names.is_empty() || names.iter().any(|name| patch.name.starts_with(name.as_str()));
    let mut patches: Vec<Patch> = patches(root)?.into_iter().filter(is_wanted).collect();
    if patches.is_empty() {
        return Err("xtask: no injection has such a name".to_owned());
    }
    // Side by side, so that the least is built anew.
    patches
        .sort_by(|one, other| (one.tested(), &one.krate, &one.name).cmp(&(other.tested(), &other.krate, &other.name)));
    let scratch = Scratch::prepare(root)?;
    let width = patches.iter().map(|patch| patch.name.len()).max().unwrap_or_default();
    let mut caught = 0;
    for group in patches.chunk_by(|one, other| one.tested() == other.tested()) {
        let untouched = untouched(&scratch, group)?;
        for patch in group {
            let begun = Instant::now();
            let (verdict, words) = match untouched {
                Run::Passed => inject(&scratch, patch)?,
                other => ("NOT RUN", format!("without any injection, {}: {}", patch.caught_by, other.words())),
            };
            caught += usize::from(verdict == CAUGHT);
            println!("{:<width$}  {verdict:<8}  {words} ({} s)", patch.name, rounded(begun.elapsed()));
        }
    }
    println!("{} injections, {caught} caught", patches.len());
    if caught == patches.len() { Ok(()) } else { Err("xtask: not every injection was caught".to_owned()) }
}

/// A test that fails anyway shows nothing: what a crate's patches name has to pass before anything is taken out.
fn untouched(scratch: &Scratch, group: &[Patch]) -> Result<Run, String> {
    let tests: Vec<_> = group.iter().filter_map(|patch| patch.caught_by.test()).collect();
    if let Some((krate, _)) = tests.first() {
        return scratch.test(krate, &tests.iter().map(|(_, test)| *test).collect::<Vec<_>>());
    }
    for patch in group {
        let run = scratch.build(&patch.krate)?;
        if run != Run::Passed {
            return Ok(run);
        }
    }
    Ok(Run::Passed)
}

/// What became of a patch, and how.
fn inject(scratch: &Scratch, patch: &Patch) -> Result<(&'static str, String), String> {
    let undo = match scratch.apply(patch) {
        Ok(undo) => undo,
        Err(problem) => return Ok(("NOT RUN", format!("does not apply: {problem}"))),
    };
    let run = match &patch.caught_by {
        Catcher::Compiler => scratch.build(&patch.krate)?,
        Catcher::Test { krate, path } => scratch.test(krate, &[path])?,
    };
    undo.revert()?;
    // As it says, and in no other way: a test that does not compile any more shows nothing.
    let verdict = match (&patch.caught_by, run) {
        (Catcher::Compiler, Run::DoesNotCompile) | (Catcher::Test { .. }, Run::Failed) => CAUGHT,
        (_, Run::Passed) => "SURVIVED",
        _ => "NOT RUN",
    };
    Ok((verdict, format!("by {}: {}", patch.caught_by, run.words())))
}

fn patches(root: &Path) -> Result<Vec<Patch>, String> {
    below(&root.join(FOLDER), "patch")?.into_iter().map(Patch::read).collect()
}

fn rounded(time: Duration) -> u64 {
    (time + Duration::from_millis(500)).as_secs()
}

#[cfg(test)]
mod tests;
