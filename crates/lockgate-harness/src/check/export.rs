//! Events as `lockgate runs show RUN --all --format jsonl` prints them: one JSON object a line.

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::event::{Event, EventType};
use lockgate_contract::ids::RunId;

use crate::check::{Defect, Invariant};

/// What an export holds.
#[derive(Debug, Default)]
pub struct Export {
    /// The runs, in the order of the lines. Several exports may stand behind each other: each run begins with its
    /// `run.started`.
    pub runs: Vec<ExportedRun>,
    /// The lines that are no events.
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
                Err(why) => export.unreadable.push(Defect {
                    invariant: Invariant::Unreadable,
                    seqs: Vec::new(),
                    call_id: None,
                    text: format!("line {number} is no event: {why}"),
                }),
            }
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

/// The event of a line; nothing for the line of a result.
fn read(line: &[u8]) -> Result<Option<Event>, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to()))?;
    let document = Document::parse(text, Limits::OWN).map_err(|error| error.to_string())?;
    if document.root().get("type").and_then(|word| word.as_str()).as_deref() == Some(RESULT) {
        return Ok(None);
    }
    document.decode().map(Some).map_err(|error| error.to_string())
}
