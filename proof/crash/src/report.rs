//! The table of what was measured, in Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::case::Case;
use crate::judge::Outcome;
use crate::kill;
use crate::matrix::Judged;
use crate::path::Progress;
use crate::stage::Store;

/// The matrix of a store: what each case came to after one death, by how far its call had come, and in how many scenarios.
pub fn table(judged: &[Judged], store: Store) -> String {
    let mut cells: BTreeMap<(Progress, Case), BTreeMap<String, usize>> = BTreeMap::new();
    for one in judged.iter().filter(|one| one.store == store) {
        let Some(progress) = one.progress else { continue };
        let end = one.played.recovered.as_ref().unwrap_or(&one.played.end);
        let outcome = match end.outcome {
            Outcome::Done => "done",
            Outcome::Unknown => "unknown",
            Outcome::Cancelled => "cancelled",
            Outcome::Refused => "refused",
            Outcome::Other => "OTHER",
        };
        let cell = cells.entry((progress, one.played.case)).or_default();
        *cell.entry(format!("{outcome}, {}", end.effects)).or_default() += 1;
    }
    let mut text = String::from("| died when |");
    for case in Case::ALL {
        let _ = write!(text, " {} |", case.word());
    }
    let _ = write!(text, "\n|---|{}\n", "---|".repeat(Case::ALL.len()));
    for progress in Progress::ALL {
        let _ = write!(text, "| {} |", progress.words());
        for case in Case::ALL {
            let cell = cells.get(&(progress, case)).into_iter().flatten();
            let words: Vec<String> = cell.map(|(end, count)| format!("{end} ({count})")).collect();
            let _ = write!(text, " {} |", if words.is_empty() { "-".to_owned() } else { words.join("; ") });
        }
        text.push('\n');
    }
    text
}

/// How often somebody died at each point: once in a scenario, or twice.
pub fn points(judged: &[Judged]) -> String {
    let mut text = String::from("| point | deaths |\n|---|---|\n");
    let counts = deaths(judged);
    for point in kill::points() {
        let _ = writeln!(text, "| `{point}` | {} |", counts.get(point).copied().unwrap_or_default());
    }
    text
}

/// The points at which somebody died, and how often.
pub fn deaths(judged: &[Judged]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for driver in judged.iter().flat_map(|one| &one.played.drivers).filter(|driver| driver.died) {
        if let Some(point) = driver.passes.last() {
            *counts.entry(point.clone()).or_default() += 1;
        }
    }
    counts
}

/// The points at which nobody died.
pub fn never_reached(judged: &[Judged]) -> BTreeSet<&'static str> {
    let counts = deaths(judged);
    kill::points().filter(|point| !counts.contains_key(*point)).collect()
}

/// The scenarios in which something does not hold.
pub fn faults(judged: &[Judged]) -> String {
    let mut text = String::new();
    for one in judged.iter().filter(|one| !one.faults.is_empty()) {
        let crashes: Vec<String> =
            one.played.crashes.iter().map(|crash| format!("driver {} at {}", crash.driver, crash.at)).collect();
        let _ = writeln!(text, "{:?}, {}: {}", one.store, one.played.case.word(), crashes.join(", "));
        for fault in &one.faults {
            let _ = writeln!(text, "    {fault}");
        }
        let kinds: Vec<&str> = one.played.events.iter().map(|event| event.kind.word()).collect();
        let _ = writeln!(text, "    events: {}", kinds.join(" "));
    }
    text
}
