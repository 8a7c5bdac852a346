//! Opens an image with the product and compares it with what was answered for.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockgate_contract::event::Event;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Journal as _, RunFilter};
use lockgate_host::clock::SystemClock;
use lockgate_journal::SqliteJournal;

use crate::Failure;
use crate::child::is_tagged;

/// What one image shows.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Acknowledged events that are not there.
    pub(crate) lost: usize,
    /// Events that are there although the journal had said that they are not.
    pub(crate) risen: usize,
    /// Runs whose numbers have a gap, or whose record does not fit their events.
    pub(crate) gaps: usize,
    /// Why the journal cannot be opened, read or written.
    pub(crate) closed: Option<String>,
}

/// What the child was told until the cut.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) acknowledged: Vec<(String, u64, String)>,
    pub(crate) refused: Vec<(String, String)>,
}

impl Told {
    /// Takes one line of the child.
    pub(crate) fn hear(&mut self, line: &str) -> Result<(), Failure> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["ack", run, seq, tag] => self.acknowledged.push((run.to_owned(), seq.parse()?, tag.to_owned())),
            ["refused", run, tag, ..] => self.refused.push((run.to_owned(), tag.to_owned())),
            _ => {}
        }
        Ok(())
    }
}

/// Judges an image.
pub(crate) async fn judge(image: &BTreeMap<&str, Vec<u8>>, told: &Told) -> Result<Verdict, Failure> {
    let folder = tempfile::tempdir()?;
    for (name, content) in image {
        std::fs::write(folder.path().join(name), content)?;
    }
    let mut verdict = Verdict::default();
    let opened = SqliteJournal::open(&folder.path().join("journal.db"), Arc::new(SystemClock));
    let read = match opened {
        Ok(journal) => read(&journal).await,
        Err(error) => Err(error.into()),
    };
    let runs = read.unwrap_or_else(|error| {
        verdict.closed = Some(error.to_string());
        BTreeMap::new()
    });
    let has = |run: &str, is_it: &dyn Fn(&Event) -> bool| runs.get(run).is_some_and(|(_, run)| run.iter().any(is_it));
    let is_lost =
        |(run, seq, tag): &&(String, u64, String)| !has(run, &|event| event.seq == *seq && is_tagged(event, tag));
    verdict.lost = told.acknowledged.iter().filter(is_lost).count();
    verdict.risen = told.refused.iter().filter(|(run, tag)| has(run, &|event| is_tagged(event, tag))).count();
    let is_whole = |last: u64, events: &[Event]| {
        last == events.len() as u64 && events.iter().zip(1..).all(|(event, seq)| event.seq == seq)
    };
    verdict.gaps = runs.values().filter(|(last, events)| !is_whole(*last, events)).count();
    Ok(verdict)
}

/// Every run with its last number and its events; then writes something into each.
async fn read(journal: &SqliteJournal) -> Result<BTreeMap<String, (u64, Vec<Event>)>, Failure> {
    let mut runs = BTreeMap::new();
    for run in journal.runs(RunFilter { limit: 1_000, ..RunFilter::default() }).await? {
        let events = journal.events(&run.run_id, 0).await?;
        runs.insert(run.run_id.to_string(), (run.last_seq, events));
    }
    for run in runs.keys() {
        journal.hold(&RunId::new(run.clone())).await?.ok_or("a run is held by nobody and cannot be taken")?;
    }
    Ok(runs)
}
