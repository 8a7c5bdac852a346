//! Each kind of line: from what is kept to its text, and back.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalState;
use crate::digest::Digest;
use crate::document::{Document, Limits, Node};
use crate::event::{Event, EventType};
use crate::export::{ExportFault, FORMAT, digest};
use crate::ids::{ArtifactId, CallId, RunId};
use crate::ports::{KeptCall, KeptKey, KeptQuestion, KeptRun, StoredArtifact};
use crate::run::{RunKind, RunStatus};
use crate::time::Timestamp;

/// A line that is no event.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum Record {
    Export { format: u32 },
    Run(RunLine),
    Question(QuestionLine),
    Call(KeptCall),
    Artifact(ArtifactLine),
    Key(KeptKey),
    RunEnd(RunEnd),
    End(End),
}

impl Record {
    /// The record of a line; nothing where it is an event.
    ///
    /// By hand: what picks a variant for serde copies the members first, and their texts would not stay what they are.
    pub(super) fn read(line: &Document) -> Result<Option<Self>, ExportFault> {
        let Some(word) = line.root().get("record") else { return Ok(None) };
        let read = match word.as_str().as_deref() {
            Some("run") => line.decode().map(Self::Run),
            Some("question") => line.decode().map(Self::Question),
            Some("call") => line.decode().map(Self::Call),
            Some("artifact") => line.decode().map(Self::Artifact),
            Some("key") => line.decode().map(Self::Key),
            Some("run_end") => line.decode().map(Self::RunEnd),
            Some("end") => line.decode().map(Self::End),
            _ => return Err(ExportFault::Misplaced(word.raw().to_owned())),
        };
        read.map(Some).map_err(|error| ExportFault::Unreadable(error.to_string()))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ArtifactLine {
    pub(super) artifact_id: ArtifactId,
    pub(super) text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunEnd {
    pub(super) run_id: RunId,
    pub(super) digest: Digest,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) runs: u64,
}

/// The line that a run begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunLine {
    pub(super) run_id: RunId,
    pub(super) tenant: String,
    pub(super) kind: RunKind,
    pub(super) title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<RunStatus>,
    pub(super) epoch: u64,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) events: u64,
}

/// What became of a question; `question` or `question_text` follows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct QuestionLine {
    state: ApprovalState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decided_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consumed_at: Option<Timestamp>,
    #[serde(default, skip_serializing)]
    question: Option<Document>,
    #[serde(default, skip_serializing)]
    question_text: Option<String>,
}

/// An event without its body and its hash.
#[derive(Serialize, Deserialize)]
struct Frame {
    v: u32,
    run_id: RunId,
    seq: u64,
    at: Timestamp,
    #[serde(rename = "type")]
    kind: EventType,
    step: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<CallId>,
    #[serde(default, skip_serializing)]
    data_text: Option<String>,
    #[serde(default, skip_serializing)]
    hash: Option<Digest>,
}

pub(super) fn header() -> String {
    line(&Record::Export { format: FORMAT })
}

pub(super) fn end(runs: u64) -> String {
    line(&Record::End(End { runs }))
}

pub(super) fn of_run(run: &KeptRun) -> String {
    let mut lines = Lines::default();
    lines.push(&line(&Record::Run(RunLine::of(run))));
    run.events.iter().for_each(|event| lines.push(&event_line(event)));
    run.questions.iter().for_each(|question| lines.push(&question_line(question)));
    run.calls.iter().for_each(|call| lines.push(&line(&Record::Call(call.clone()))));
    run.artifacts.iter().for_each(|artifact| lines.push(&artifact_line(artifact)));
    run.keys.iter().for_each(|key| lines.push(&line(&Record::Key(key.clone()))));
    lines.end(&run.run_id)
}

/// The lines of a run with the digest over them.
#[derive(Default)]
struct Lines {
    text: String,
    digest: Option<Digest>,
}

impl Lines {
    fn push(&mut self, line: &str) {
        self.digest = Some(digest(self.digest, line.trim_end_matches('\n')));
        self.text.push_str(line);
    }

    fn end(mut self, run: &RunId) -> String {
        if let Some(digest) = self.digest {
            self.text.push_str(&line(&Record::RunEnd(RunEnd { run_id: run.clone(), digest })));
        }
        self.text
    }
}

impl RunLine {
    fn of(run: &KeptRun) -> Self {
        Self {
            run_id: run.run_id.clone(),
            tenant: run.tenant.clone(),
            kind: run.kind,
            title: run.title.clone(),
            status: run.status,
            epoch: run.epoch,
            created_at: run.created_at,
            updated_at: run.updated_at,
            events: run.events.len() as u64,
        }
    }

    /// The run, with nothing in it yet.
    pub(super) fn into_run(self) -> KeptRun {
        KeptRun {
            run_id: self.run_id,
            tenant: self.tenant,
            kind: self.kind,
            title: self.title,
            status: self.status,
            epoch: self.epoch,
            created_at: self.created_at,
            updated_at: self.updated_at,
            events: Vec::new(),
            questions: Vec::new(),
            calls: Vec::new(),
            artifacts: Vec::new(),
            keys: Vec::new(),
        }
    }
}

impl QuestionLine {
    pub(super) fn into_question(self) -> Result<KeptQuestion, ExportFault> {
        let question = match (self.question, self.question_text) {
            (Some(question), None) => question,
            (None, Some(text)) => parse(&text)?,
            _ => {
                return Err(ExportFault::Unreadable("a question has one of `question` and `question_text`".to_owned()));
            }
        };
        Ok(KeptQuestion {
            question,
            state: self.state,
            decided_by: self.decided_by,
            decided_at: self.decided_at,
            reason: self.reason,
            consumed_at: self.consumed_at,
        })
    }
}

/// The line of an event.
pub fn event_line(event: &Event) -> String {
    let mut line = frame(event);
    embed(&mut line, "data", &event.data);
    if let Some(hash) = &event.hash {
        let _ = write!(line, ",\"hash\":\"{hash}\"");
    }
    line.push_str("}\n");
    line
}

/// What a hash is over: the event's line without its hash, with the body as it stands, line breaks and all.
pub(crate) fn hashed_text(event: &Event) -> String {
    let mut text = frame(event);
    text.push_str(",\"data\":");
    text.push_str(event.data.text());
    text.push('}');
    text
}

/// The frame as an object that is still open.
fn frame(event: &Event) -> String {
    open(&Frame {
        v: event.v,
        run_id: event.run_id.clone(),
        seq: event.seq,
        at: event.at,
        kind: event.kind.clone(),
        step: event.step,
        call_id: event.call_id.clone(),
        data_text: None,
        hash: None,
    })
}

/// The event of a line.
///
/// # Errors
///
/// Why the line is none.
pub fn event_from_line(line: &str) -> Result<Event, ExportFault> {
    let document = parse(line)?;
    let root = document.root();
    if root.get("data").is_some() {
        return document.decode().map_err(|error| ExportFault::Unreadable(error.to_string()));
    }
    let frame: Frame = document.decode().map_err(|error| ExportFault::Unreadable(error.to_string()))?;
    let text = frame.data_text.ok_or_else(|| ExportFault::Unreadable("an event without `data`".to_owned()))?;
    Ok(Event {
        v: frame.v,
        run_id: frame.run_id,
        seq: frame.seq,
        at: frame.at,
        kind: frame.kind,
        step: frame.step,
        call_id: frame.call_id,
        data: parse(&text)?.into(),
        hash: frame.hash,
    })
}

/// Whether a line of an export is no event.
pub fn is_record(line: Node<'_>) -> bool {
    line.get("record").is_some()
}

pub(super) fn question_line(question: &KeptQuestion) -> String {
    let mut line = open(&Record::Question(QuestionLine {
        state: question.state,
        decided_by: question.decided_by.clone(),
        decided_at: question.decided_at,
        reason: question.reason.clone(),
        consumed_at: question.consumed_at,
        question: None,
        question_text: None,
    }));
    embed(&mut line, "question", &question.question);
    line.push_str("}\n");
    line
}

pub(super) fn artifact_line(artifact: &StoredArtifact) -> String {
    line(&Record::Artifact(ArtifactLine { artifact_id: artifact.artifact_id.clone(), text: artifact.text.clone() }))
}

/// A whole line.
pub(super) fn line(record: &Record) -> String {
    let mut line = open(record);
    line.push_str("}\n");
    line
}

/// A JSON text under a key: as it stands where it fits on a line and into its depth, as a string where it does not.
fn embed(line: &mut String, key: &str, document: &Document) {
    let text = document.text();
    if text.contains(['\n', '\r']) || Document::parse(format!("[{text}]"), Limits::OWN).is_err() {
        let _ = write!(line, ",\"{key}_text\":{}", Document::string(text).text());
    } else {
        let _ = write!(line, ",\"{key}\":{text}");
    }
}

/// The members of a struct as an object that is still open.
fn open(value: &impl Serialize) -> String {
    // INVARIANT: words, ids, numbers and times: nothing that cannot be written.
    let mut text =
        Document::from_serialize(value).map_or_else(|_| "{}".to_owned(), |document| document.text().to_owned());
    text.pop();
    text
}

pub(super) fn parse(text: &str) -> Result<Document, ExportFault> {
    Document::parse(text, Limits::OWN).map_err(|error| ExportFault::Unreadable(error.to_string()))
}
