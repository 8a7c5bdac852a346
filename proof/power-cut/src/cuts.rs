//! Many cuts of one recording.

use crate::disk::{Cut, Disk};
use crate::judge::{Told, judge};
use crate::recording::Step;
use crate::seed::Seed;
use crate::{Failure, Recording};

/// The journal's files. Locks and the reserve hold nothing that would be missed.
const FILES: [&str; 2] = ["journal.db", "journal.db-wal"];

/// How many of the places behind a failure are cut at: the later ones stand behind commits that succeeded.
const FIRST: usize = 12;

/// What is counted as a sync of the write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Each one: `synchronous=FULL`, as recorded.
    Full,
    /// Only those around a checkpoint and behind the log's head, which are those of `synchronous=NORMAL`: the commits of
    /// the recording are not synced. It must lose events, or the proof sees nothing.
    Normal,
}

/// What many images showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there were.
    pub images: usize,
    /// Acknowledged events, over all images.
    pub acknowledged: usize,
    /// Those that were not there.
    pub lost: usize,
    /// In how many images some were not there.
    pub with_losses: usize,
    /// Events that were there although the journal had said that they are not.
    pub risen: usize,
    /// Runs with gaps.
    pub gaps: usize,
    /// Images that could not be opened, read or written.
    pub closed: usize,
    /// What the first of those said.
    pub cause: Option<String>,
}

impl Tally {
    /// Whether everything was there that was answered for, and nothing else.
    pub fn is_clean(&self) -> bool {
        self.lost + self.risen + self.gaps + self.closed == 0
    }
}

/// Cuts a recording at so many places: just before a sync, just behind it, behind a failure, and anywhere, in turn.
pub async fn cut(recording: &Recording, promise: Promise, images: usize, seed: u64) -> Result<Tally, Failure> {
    let mut seed = Seed::new(seed);
    let steps = kept(recording, promise);
    let mut places = places(&steps, images, &mut seed);
    places.sort_unstable();
    let (mut disk, mut told, mut tally, mut done) = (Disk::default(), Told::default(), Tally::default(), 0);
    for place in places {
        for step in &steps[done..place] {
            disk.apply(step);
            if let Step::Said(line) = step {
                told.hear(line)?;
            }
        }
        done = place;
        let cut = Cut::any(&mut seed);
        let verdict = judge(&disk.image(cut, &mut seed), &told).await?;
        tally.images += 1;
        tally.acknowledged += told.acknowledged.len();
        tally.lost += verdict.lost;
        tally.with_losses += usize::from(verdict.lost > 0);
        tally.risen += verdict.risen;
        tally.gaps += verdict.gaps;
        tally.closed += usize::from(verdict.closed.is_some());
        tally.cause = tally.cause.or(verdict.closed);
    }
    Ok(tally)
}

fn places(steps: &[Step], images: usize, seed: &mut Seed) -> Vec<usize> {
    let syncs: Vec<usize> =
        (0..steps.len()).filter(|place| matches!(steps[*place], Step::Sync(_) | Step::FailedSync(_))).collect();
    let faults: Vec<usize> = (0..steps.len()).filter(|place| is_fault(&steps[*place])).take(FIRST).collect();
    let at = |image: usize| match image % 4 {
        // Behind a failure, before the next commit hides what it left.
        0 if !faults.is_empty() => faults[seed.below(faults.len())] + 1,
        // Everything since the sync before it is open.
        0 | 1 => syncs[image * syncs.len() / images],
        2 => syncs[image * syncs.len() / images] + 1,
        _ => seed.below(steps.len() + 1),
    };
    if syncs.is_empty() { Vec::new() } else { (0..images).map(at).collect() }
}

/// Something that the disk or the journal refused.
fn is_fault(step: &Step) -> bool {
    match step {
        Step::FailedSync(_) => true,
        Step::Said(line) => line.starts_with("unknown") || line.starts_with("refused"),
        _ => false,
    }
}

/// The steps that count.
fn kept(recording: &Recording, promise: Promise) -> Vec<Step> {
    let ours: Vec<&Step> = recording.steps.iter().filter(|step| is_ours(step)).collect();
    let counts = |place: usize| match ours[place] {
        Step::Sync(file) if promise == Promise::Normal && file == FILES[1] => {
            // With the first sync of a log goes one of its folder.
            let is_done = |step: &&&Step| !matches!(step, Step::Said(_)) && **step != &Step::Sync(String::new());
            let before = ours[..place].iter().rev().find(is_done);
            let after = ours[place + 1..].iter().find(is_done);
            let head =
                matches!(before, Some(Step::Write { file, at: 0, bytes }) if file == FILES[1] && bytes.len() == 32);
            let moved = matches!(after, Some(Step::Write { file, .. }) if file == FILES[0]);
            head || moved
        }
        _ => true,
    };
    (0..ours.len()).filter(|place| counts(*place)).map(|place| ours[place].clone()).collect()
}

fn is_ours(step: &Step) -> bool {
    match step {
        Step::Write { file, .. } | Step::Truncate { file, .. } | Step::Remove(file) => FILES.contains(&file.as_str()),
        Step::Sync(file) | Step::FailedSync(file) => file.is_empty() || FILES.contains(&file.as_str()),
        Step::Said(_) => true,
    }
}
