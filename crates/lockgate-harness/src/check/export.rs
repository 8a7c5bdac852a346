//! Events as `lockgate journal export` and `lockgate runs show RUN --all --format jsonl` print them: one JSON object a line.

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::event::{Event, EventType};
use lockgate_contract::export::{Reader, event_from_line, is_record};
use lockgate_contract::ids::RunId;

use crate::check::{Defect, Invariant};

/// What an export holds.
#[derive(Debug, Default)]
pub struct Export {
    /// The runs, in the order of the lines. Several exports may stand behind each other: each run begins with its
    /// `run.started`.
    pub runs: Vec<ExportedRun>,
    /// The lines that are no events, and what a journal's export says about itself: that it was altered or cut off.
    pub unreadable: Vec<Defect>,
}

/// One run of an export.
#[derive(Debug)]
pub struct ExportedRun {
    /// The run of its first event.
    pub run_id: RunId,
    /// The events, in the order of the lines.
    pub events: Vec<Event>,
}

/// The line that stands behind the events of a run and is none.
const RESULT: &str = "run.result";

impl Export {
    /// Reads the lines. What is no event is a defect, and the lines behind it are read all the same.
    pub fn read(bytes: &[u8]) -> Self {
        let mut export = Self::default();
        let lines = bytes.split(|byte| *byte == b'\n');
        for (number, line) in (1_u64..).zip(lines).filter(|(_, line)| !line.trim_ascii().is_empty()) {
            match read(line) {
                Ok(None) => {}
                Ok(Some(event)) => export.add(event),
                Err(why) => export.unreadable.push(unreadable(format!("line {number} is no event: {why}"))),
            }
        }
        if let Err(why) = whole(bytes) {
            export.unreadable.push(unreadable(why));
        }
        export
    }

    fn add(&mut self, event: Event) {
        match self.runs.last_mut() {
            Some(run) if event.kind != EventType::RunStarted || run.run_id == event.run_id => run.events.push(event),
            _ => self.runs.push(ExportedRun { run_id: event.run_id.clone(), events: vec![event] }),
        }
    }
}

fn unreadable(text: String) -> Defect {
    Defect { invariant: Invariant::Unreadable, seqs: Vec::new(), call_id: None, text }
}

/// Whether the export of a journal is what was written. Of mere events nobody can say.
fn whole(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    let is_export = |line: &str| Document::parse(line, Limits::OWN).is_ok_and(|line| is_record(line.root()));
    if !text.lines().next().is_some_and(is_export) {
        return Ok(());
    }
    let mut reader = Reader::default();
    for line in text.split_terminator('\n') {
        reader.line(line).map_err(|error| error.to_string())?;
    }
    reader.finish().map(drop).map_err(|error| error.to_string())
}

/// The event of a line; nothing for a line that says something beside the events.
fn read(line: &[u8]) -> Result<Option<Event>, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to()))?;
    let document = Document::parse(text, Limits::OWN).map_err(|error| error.to_string())?;
    let is_result = document.root().get("type").and_then(|word| word.as_str()).as_deref() == Some(RESULT);
    if is_result || is_record(document.root()) {
        return Ok(None);
    }
    event_from_line(text).map(Some).map_err(|fault| fault.to_string())
}
