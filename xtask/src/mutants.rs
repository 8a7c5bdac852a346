//! Mutants: `cargo mutants` changes the product a line at a time; what no test notices must be explained in `docs/mutants.md`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::read;
use crate::steps::command;

const PAGE: &str = "docs/mutants.md";

/// Where `cargo mutants` writes, below the folder it is given.
const OUTPUT: &str = "target";

/// Random inputs a property gets: fewer than usual, for each mutant runs them all.
const CASES: (&str, &str) = ("PROPTEST_CASES", "64");

/// Runs `cargo mutants` over what `.cargo/mutants.toml` names, and fails when a survivor is not explained.
#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let explained = explained(&read(&root.join(PAGE))?);
    // It ends with a failure when there is any survivor: its lists are what counts.
    command("cargo")
        .args(["mutants", "--colors", "never", "--output", OUTPUT])
        .args(arguments)
        .env(CASES.0, CASES.1)
        .current_dir(root)
        .status()
        .map_err(|error| format!("xtask: cargo mutants cannot be started: {error}"))?;
    let list = |name: &str| {
        let path = root.join(OUTPUT).join("mutants.out").join(name);
        read(&path).map(|text| text.lines().map(without_place).collect::<BTreeSet<_>>())
    };
    let (caught, survived) = (list("caught.txt")?, list("missed.txt")?);
    if caught.is_empty() && survived.is_empty() {
        return Err("xtask: no mutant was tested".to_owned());
    }
    let mut faults: Vec<String> =
        survived.difference(&explained).map(|mutant| format!("survived, not explained: {mutant}")).collect();
    // Two changes of one function can have the same name: one caught, one not.
    let caught_only = caught.difference(&survived).filter(|mutant| explained.contains(*mutant));
    faults.extend(caught_only.map(|mutant| format!("explained, but caught: {mutant}")));
    if faults.is_empty() {
        println!("every survivor is explained in {PAGE}");
        return Ok(());
    }
    Err(format!("xtask: {PAGE} does not say what was found:\n  {}", faults.join("\n  ")))
}

/// The mutants that a page explains: one line each, in backticks.
fn explained(page: &str) -> BTreeSet<String> {
    let mutant = |line: &str| Some(line.strip_prefix("- `")?.split_once('`')?.0.to_owned());
    page.lines().filter_map(mutant).collect()
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
