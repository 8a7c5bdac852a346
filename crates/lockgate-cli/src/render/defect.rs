//! What the journal checker found, for people and for programs.

use lockgate::contract::ids::{CallId, RunId};
use lockgate::harness::check::{Defect, Invariant};
use serde::Serialize;

use crate::render::style::{BAD, FAINT, GOOD, NAME, styled};
use crate::render::text::{counted, harmless, indented, one_line};

/// A run that was checked.
#[derive(Debug)]
pub(crate) struct CheckedRun {
    pub(crate) run_id: RunId,
    /// How many events it has.
    pub(crate) events: usize,
    pub(crate) defects: Vec<Defect>,
}

/// Everything that was checked, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct CheckView<'a> {
    clean: bool,
    runs: Vec<RunView<'a>>,
    /// Lines of a file that are no events.
    unreadable: Vec<DefectView<'a>>,
}

#[derive(Debug, Serialize)]
struct RunView<'a> {
    run_id: &'a RunId,
    events: usize,
    defects: Vec<DefectView<'a>>,
}

/// A defect as JSON.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DefectView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a RunId>,
    invariant: Invariant,
    requirements: &'static [&'static str],
    seqs: &'a [u64],
    call_id: Option<&'a CallId>,
    text: &'a str,
}

impl<'a> DefectView<'a> {
    fn of(defect: &'a Defect) -> Self {
        Self {
            run_id: None,
            invariant: defect.invariant,
            requirements: defect.invariant.requirements(),
            seqs: &defect.seqs,
            call_id: defect.call_id.as_ref(),
            text: &defect.text,
        }
    }
}

impl<'a> CheckView<'a> {
    pub(crate) fn of(runs: &'a [CheckedRun], unreadable: &'a [Defect]) -> Self {
        let views = |defects: &'a [Defect]| -> Vec<DefectView<'a>> { defects.iter().map(DefectView::of).collect() };
        Self {
            clean: unreadable.is_empty() && runs.iter().all(|run| run.defects.is_empty()),
            runs: runs
                .iter()
                .map(|run| RunView { run_id: &run.run_id, events: run.events, defects: views(&run.defects) })
                .collect(),
            unreadable: views(unreadable),
        }
    }

    /// One defect a line, with the run that it belongs to.
    pub(crate) fn lines(&self) -> impl Iterator<Item = DefectView<'a>> {
        let of_runs = self
            .runs
            .iter()
            .flat_map(|run| run.defects.iter().map(|defect| DefectView { run_id: Some(run.run_id), ..defect.clone() }));
        of_runs.chain(self.unreadable.iter().cloned())
    }
}

/// `run-34c559713956  20 events  ok`
pub(crate) fn run_line(run: &CheckedRun) -> String {
    let verdict = match run.defects.len() as u64 {
        0 => styled(GOOD, "ok"),
        defects => styled(BAD, counted(defects, "defect")),
    };
    let run_id = styled(NAME, one_line(run.run_id.as_str(), 60));
    format!("{run_id}  {}  {verdict}\n", counted(run.events as u64, "event"))
}

/// The invariant with its events and its call, what is wrong, and what should hold.
pub(crate) fn defect_lines(defect: &Defect) -> String {
    let mut head = styled(BAD, defect.invariant);
    if let Some(seqs) = numbers(&defect.seqs) {
        head.push_str("  ");
        head.push_str(&seqs);
    }
    if let Some(call_id) = &defect.call_id {
        head.push_str("  ");
        head.push_str(&one_line(call_id.as_str(), 60));
    }
    let text = harmless(&defect.text);
    let holds = styled(FAINT, format!("should hold: {}", defect.invariant.sentence()));
    format!("  {head}\n{}{}", indented(&text, 4), indented(&holds, 4))
}

/// `event 9`, `events 7, 9`
fn numbers(seqs: &[u64]) -> Option<String> {
    let noun = match seqs {
        [] => return None,
        [_] => "event",
        _ => "events",
    };
    let seqs: Vec<String> = seqs.iter().map(u64::to_string).collect();
    Some(format!("{noun} {}", seqs.join(", ")))
}

/// How much was checked and what came of it.
pub(crate) fn summary(runs: &[CheckedRun], unreadable: &[Defect]) -> String {
    let defects = unreadable.len() + runs.iter().map(|run| run.defects.len()).sum::<usize>();
    let found = if defects == 0 { "no defects".to_owned() } else { counted(defects as u64, "defect") };
    format!("{} checked: {found}\n", counted(runs.len() as u64, "run"))
}

#[cfg(test)]
mod tests;
