//! Mutants: `cargo mutants` changes the product a line at a time; what no test notices must be explained in `docs/mutants.md`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::read;
use crate::steps::command;

const PAGE: &str = "docs/mutants.md";

/// Where `cargo mutants` writes, below the folder it is given.
const OUTPUT: &str = "target";

/// Random inputs a property gets: fewer than usual, for each mutant runs them all.
const CASES: (&str, &str) = ("PROPTEST_CASES", "64");

/// What `cargo mutants` ends with when it has tested all that it was asked to: all caught, some missed, some out of time.
/// Anything else (4: the tests fail without a change) says nothing about its lists, which may be those of another run.
const TESTED: [i32; 3] = [0, 2, 3];

/// Runs `cargo mutants` over what `.cargo/mutants.toml` names, and fails when a survivor is not explained.
#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let explained = explained(&read(&root.join(PAGE))?);
    let status = command("cargo")
        .args(["mutants", "--colors", "never", "--output", OUTPUT])
        .args(arguments)
        .env(CASES.0, CASES.1)
        .current_dir(root)
        .status()
        .map_err(|error| format!("xtask: cargo mutants cannot be started: {error}"))?;
    if !status.code().is_some_and(|code| TESTED.contains(&code)) {
        return Err(format!("xtask: cargo mutants failed: {status}"));
    }
    let list = |name: &str| read(&root.join(OUTPUT).join("mutants.out").join(name));
    let caught = counted((list("caught.txt")? + &list("timeout.txt")?).lines().map(without_place));
    let survived = counted(list("missed.txt")?.lines().map(without_place));
    if caught.is_empty() && survived.is_empty() {
        return Err("xtask: no mutant was tested".to_owned());
    }
    let faults = faults(&explained, &survived, &caught, arguments.is_empty());
    if faults.is_empty() {
        println!("every survivor is explained in {PAGE}");
        return Ok(());
    }
    Err(format!("xtask: {PAGE} does not say what was found:\n  {}", faults.join("\n  ")))
}

/// How many mutants there are of each name: several changes of one function can have the same.
type Counts = BTreeMap<String, usize>;

fn counted(names: impl Iterator<Item = String>) -> Counts {
    let mut counts = Counts::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// The mutants that a page explains: one line a survivor, in backticks.
fn explained(page: &str) -> Counts {
    let mutant = |line: &str| Some(line.strip_prefix("- `")?.split_once('`')?.0.to_owned());
    counted(page.lines().filter_map(mutant))
}

/// Where the page and what was found differ. Only when everything was tested does an explained mutant have to be found.
fn faults(explained: &Counts, survived: &Counts, caught: &Counts, everything: bool) -> Vec<String> {
    let of = |counts: &Counts, mutant: &String| counts.get(mutant).copied().unwrap_or(0);
    let mut faults = Vec::new();
    for (mutant, &found) in survived {
        let missing = found.saturating_sub(of(explained, mutant));
        faults.extend(vec![format!("survived, not explained: {mutant}"); missing]);
    }
    for (mutant, &lines) in explained {
        let too_many = lines.saturating_sub(of(survived, mutant));
        let caught = too_many.min(of(caught, mutant));
        faults.extend(vec![format!("explained, but caught: {mutant}"); caught]);
        if everything {
            faults.extend(vec![format!("explained, but not found: {mutant}"); too_many - caught]);
        }
    }
    faults
}

/// A mutant's name without line and column, which every edit above it moves.
fn without_place(line: &str) -> String {
    let mut parts = line.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
