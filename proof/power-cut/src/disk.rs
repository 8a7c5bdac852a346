//! A disk: what is on it for sure, and what may or may not be.
//!
//! A write is on the disk for sure after the sync of its file, a name after the sync of its folder. Before that, a power cut
//! leaves any part of it: all, nothing, some of the writes and not others, some sectors of a write and not others.
//!
//! After a sync that failed nothing of what it should have written is sure any more, however many later ones succeed: the
//! kernel may have taken the pages for written (Linux does).

use std::collections::BTreeMap;

use crate::recording::Step;
use crate::seed::Seed;

/// What a power cut does to what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing of it is there.
    Drop,
    /// All of it is there.
    Keep,
    /// Each write is there or not.
    Some,
    /// Each sector of so many bytes of each write is there or not.
    Torn(usize),
}

impl Cut {
    pub(crate) fn any(seed: &mut Seed) -> Self {
        [Self::Drop, Self::Keep, Self::Some, Self::Torn(512), Self::Torn(4096)][seed.below(5)]
    }
}

#[derive(Default)]
pub(crate) struct Disk {
    names: BTreeMap<String, Name>,
}

#[derive(Default)]
struct Name {
    file: Option<File>,
    /// What had the name before, for as long as its removal is not sure.
    removed: Option<File>,
}

#[derive(Default)]
struct File {
    /// On the disk.
    sure: Vec<u8>,
    /// What was done after that, with where it stands.
    later: Vec<(Change, State)>,
    /// Whether its name is on the disk.
    is_named: bool,
}

#[derive(Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Synced,
    /// A sync failed over it.
    Failed,
}

impl Disk {
    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::Write { file, at, bytes } => self.change(file, Change::Write { at: *at, bytes: bytes.clone() }),
            Step::Truncate { file, size } => self.change(file, Change::Truncate(*size)),
            Step::Sync(folder) if folder.is_empty() => {
                for name in self.names.values_mut() {
                    name.removed = None;
                    if let Some(file) = &mut name.file {
                        file.is_named = true;
                    }
                }
            }
            Step::Sync(file) => self.file(file).synced(State::Synced),
            Step::FailedSync(folder) if folder.is_empty() => {}
            Step::FailedSync(file) => self.file(file).synced(State::Failed),
            Step::Remove(file) => {
                if let Some(name) = self.names.get_mut(file)
                    && let Some(file) = name.file.take()
                {
                    name.removed = Some(file);
                }
            }
            Step::Said(_) => {}
        }
    }

    /// The files that there may be after a power cut now.
    pub(crate) fn image(&self, cut: Cut, seed: &mut Seed) -> BTreeMap<&str, Vec<u8>> {
        let there = self.names.iter().filter_map(|(name, files)| {
            let file = match (&files.file, &files.removed) {
                (Some(file), _) if file.is_named => Some(file),
                // Neither its making nor its predecessor's removal is sure.
                (Some(file), removed) => {
                    if chance(cut, seed) {
                        Some(file)
                    } else {
                        removed.as_ref()
                    }
                }
                (None, Some(removed)) => (!chance(cut, seed)).then_some(removed),
                (None, None) => None,
            };
            Some((name.as_str(), file?.image(cut, seed)))
        });
        there.collect()
    }

    fn change(&mut self, file: &str, change: Change) {
        self.file(file).later.push((change, State::Waiting));
    }

    fn file(&mut self, name: &str) -> &mut File {
        self.names.entry(name.to_owned()).or_default().file.get_or_insert_default()
    }
}

impl File {
    fn synced(&mut self, outcome: State) {
        for (_, state) in &mut self.later {
            if *state == State::Waiting {
                *state = outcome;
            }
        }
        let sure = self.later.iter().take_while(|(_, state)| *state == State::Synced).count();
        for (change, _) in self.later.drain(..sure) {
            change.apply(&mut self.sure);
        }
    }

    fn image(&self, cut: Cut, seed: &mut Seed) -> Vec<u8> {
        let mut content = self.sure.clone();
        for (change, state) in &self.later {
            match (change, cut) {
                (change, _) if *state == State::Synced => change.apply(&mut content),
                (Change::Write { at, bytes }, Cut::Torn(sector)) => tear(*at, bytes, sector, &mut content, seed),
                (change, cut) => {
                    if chance(cut, seed) {
                        change.apply(&mut content);
                    }
                }
            }
        }
        content
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => write(*at, bytes, content),
            Self::Truncate(size) => content.resize(*size, 0),
        }
    }
}

/// Whether something that is not sure happened.
fn chance(cut: Cut, seed: &mut Seed) -> bool {
    match cut {
        Cut::Drop => false,
        Cut::Keep => true,
        Cut::Some | Cut::Torn(_) => seed.coin(),
    }
}

fn write(at: usize, bytes: &[u8], content: &mut Vec<u8>) {
    let end = at + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(bytes);
}

/// Writes the sectors that a coin lets through.
fn tear(at: usize, bytes: &[u8], sector: usize, content: &mut Vec<u8>, seed: &mut Seed) {
    let mut done = 0;
    while done < bytes.len() {
        // Up to the end of the sector that this byte lies in.
        let count = (sector - (at + done) % sector).min(bytes.len() - done);
        if seed.coin() {
            write(at + done, &bytes[done..done + count], content);
        }
        done += count;
    }
}

#[cfg(test)]
mod tests;
