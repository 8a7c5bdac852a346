//! From lines to runs, one line at a time, without ever holding more than one run.

use crate::digest::Digest;
use crate::export::lines::{self, ArtifactLine, End, Record, RunEnd, event_from_line, event_line};
use crate::export::{ExportError, ExportFault, FORMAT, digest};
use crate::ports::{KeptRun, StoredArtifact};

/// Reads an export. It takes exactly what [`Writer`](crate::export::Writer) writes: a run that it hands out, written again,
/// is the same bytes.
#[derive(Debug, Default)]
pub struct Reader {
    line: u64,
    inside: Option<Inside>,
    runs: u64,
    begun: bool,
}

/// Inside of an export.
#[derive(Debug, Default)]
struct Inside {
    runs: u64,
    run: Option<Open>,
}

/// A run whose end has not come yet.
#[derive(Debug)]
struct Open {
    run: KeptRun,
    events: u64,
    digest: Option<Digest>,
}

impl Reader {
    /// Takes the next line, without its line feed; answers with a run when the line is its end.
    ///
    /// # Errors
    ///
    /// What is wrong with the line. Nothing behind it can be trusted.
    pub fn line(&mut self, line: &str) -> Result<Option<KeptRun>, ExportError> {
        self.line += 1;
        self.take(line).map_err(|fault| ExportError { line: self.line, fault })
    }

    /// How many runs there were, when there are no more lines.
    ///
    /// # Errors
    ///
    /// The end is missing.
    pub fn finish(self) -> Result<u64, ExportError> {
        let fault = if self.begun { ExportFault::CutOff } else { ExportFault::NotAnExport };
        if self.begun && self.inside.is_none() {
            Ok(self.runs)
        } else {
            Err(ExportError { line: self.line + 1, fault })
        }
    }

    fn take(&mut self, line: &str) -> Result<Option<KeptRun>, ExportFault> {
        let Some(inside) = &mut self.inside else {
            self.begin(line)?;
            return Ok(None);
        };
        let document = lines::parse(line)?;
        match (Record::read(&document)?, inside.run.take()) {
            (Some(Record::End(End { runs })), None) if runs == inside.runs => {
                same(line, &lines::end(runs))?;
                self.runs += runs;
                self.inside = None;
                Ok(None)
            }
            (Some(Record::Run(run)), None) => {
                same(line, &lines::line(&Record::Run(run.clone())))?;
                let events = run.events;
                inside.run = Some(Open { run: run.into_run(), events, digest: Some(digest(None, line)) });
                Ok(None)
            }
            (Some(Record::RunEnd(RunEnd { run_id, digest })), Some(open)) => {
                let is_whole = run_id == open.run.run_id
                    && open.digest == Some(digest)
                    && open.events == open.run.events.len() as u64;
                if !is_whole {
                    return Err(ExportFault::Altered(open.run.run_id.to_string()));
                }
                inside.runs += 1;
                Ok(Some(open.run))
            }
            (record, Some(mut open)) => {
                open.add(record, line)?;
                open.digest = Some(digest(open.digest, line));
                inside.run = Some(open);
                Ok(None)
            }
            (_, None) => Err(ExportFault::Misplaced(shown(line))),
        }
    }

    fn begin(&mut self, line: &str) -> Result<(), ExportFault> {
        let not_one = if self.begun { ExportFault::Misplaced(shown(line)) } else { ExportFault::NotAnExport };
        // Only the format is looked at: a newer one may say more on this line.
        let document = lines::parse(line).map_err(|_| not_one.clone())?;
        let root = document.root();
        let is_header = root.get("record").and_then(|word| word.as_str()).as_deref() == Some("export");
        match root.get("format").and_then(|format| format.decode::<u32>().ok()) {
            Some(found) if is_header && found > FORMAT => Err(ExportFault::TooNew { found, known: FORMAT }),
            Some(FORMAT) if is_header => {
                same(line, &lines::header())?;
                (self.begun, self.inside) = (true, Some(Inside::default()));
                Ok(())
            }
            _ => Err(not_one),
        }
    }
}

impl Open {
    /// Adds what a line says. What stands in another order than it is written in would come back in another order.
    fn add(&mut self, record: Option<Record>, line: &str) -> Result<(), ExportFault> {
        let Self { run, .. } = self;
        let has_keys = !run.keys.is_empty();
        let has_artifacts = has_keys || !run.artifacts.is_empty();
        let has_calls = has_artifacts || !run.calls.is_empty();
        let has_questions = has_calls || !run.questions.is_empty();
        let misplaced = || ExportFault::Misplaced(shown(line));
        match record {
            None if !has_questions => {
                let event = event_from_line(line)?;
                same(line, &event_line(&event))?;
                run.events.push(event);
            }
            Some(Record::Question(question)) if !has_calls => {
                let question = question.into_question()?;
                same(line, &lines::question_line(&question))?;
                run.questions.push(question);
            }
            Some(Record::Call(call)) if !has_artifacts => {
                same(line, &lines::line(&Record::Call(call.clone())))?;
                run.calls.push(call);
            }
            Some(Record::Artifact(ArtifactLine { artifact_id, text })) if !has_keys => {
                let artifact = StoredArtifact { artifact_id, text };
                same(line, &lines::artifact_line(&artifact))?;
                run.artifacts.push(artifact);
            }
            Some(Record::Key(key)) => {
                same(line, &lines::line(&Record::Key(key.clone())))?;
                run.keys.push(key);
            }
            _ => return Err(misplaced()),
        }
        Ok(())
    }
}

/// What is read must be all that stands there.
fn same(line: &str, written: &str) -> Result<(), ExportFault> {
    if written.strip_suffix('\n') == Some(line) { Ok(()) } else { Err(ExportFault::Lossy) }
}

/// The beginning of a line, for people.
fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}
