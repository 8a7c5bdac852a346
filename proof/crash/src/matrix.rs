//! Which scenarios there are, and how they are played side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lockgate::contract::failpoint::Point;

use crate::CrashError;
use crate::case::Case;
use crate::judge;
use crate::kill::{self, Spot};
use crate::path::{Position, Progress, afterwards, undisturbed};
use crate::scenario::{Crash, Played, Scenario};
use crate::stage::{Stage, Store};

/// A scenario that was played and judged.
#[derive(Debug)]
pub struct Judged {
    /// Where.
    pub store: Store,
    /// What happened.
    pub played: Played,
    /// How far the call had come, where the scenario has one death.
    pub progress: Option<Progress>,
    /// What does not hold.
    pub faults: Vec<String>,
}

/// A place on a call's way, with the case whose way it is.
#[derive(Debug, Clone)]
pub struct Place {
    case: Case,
    store: Store,
    position: Position,
}

/// Every place where a driver can die in a store: on every case's undisturbed way, and on the ways that recovery goes after
/// a death just before the effect and just behind it.
pub fn places(stage: &Stage, store: Store, cases: &[Case], workers: usize) -> Result<Vec<Place>, CrashError> {
    let found = side_by_side(cases.to_vec(), workers, |case| {
        let place = |position| Place { case, store, position };
        let clean = Scenario { case, store, crashes: Vec::new() }.play(stage)?;
        let faults = judge::faults(&clean, Some(Progress::Next));
        if let Some(fault) = faults.first() {
            return Err(CrashError::new(case.word(), format_args!("without any death: {fault}")));
        }
        let mut places: Vec<Place> = undisturbed(&clean).into_iter().map(place).collect();
        for point in [Point::HandlerBefore.word(), Point::HandlerAfter.word()] {
            let driver = clean.drivers.iter().position(|driven| driven.passes.iter().any(|pass| pass == point));
            let driver = driver.ok_or_else(|| CrashError::new(case.word(), "its handler is never entered"))?;
            let crashes = vec![Crash { driver, at: Spot::At(point.to_owned(), 1) }];
            let once = Scenario { case, store, crashes }.play(stage)?;
            places.extend(afterwards(&once).into_iter().map(place));
        }
        Ok(places)
    });
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Some of the places: of every point one at least, and `count` altogether.
pub fn some(places: Vec<Place>, count: usize, chance: &mut Chance) -> Vec<Place> {
    let mut left = places;
    chance.shuffle(&mut left);
    // The first of each point come to the front.
    let mut chosen = Vec::new();
    for point in kill::points() {
        // The ways of recovery count where there is no other.
        let first = left.iter().position(|place| place.position.point == point && place.position.progress.is_some());
        let first = first.or_else(|| left.iter().position(|place| place.position.point == point));
        chosen.extend(first.map(|first| left.swap_remove(first)));
    }
    chosen.append(&mut left);
    chosen.truncate(count);
    chosen
}

/// Plays the scenario of each place; and with `twice`, where somebody died once, a second one in which whoever takes the run
/// up dies too, at a place that chance chooses.
pub fn play(
    stage: &Stage,
    places: Vec<Place>,
    workers: usize,
    twice: bool,
    chance: &mut Chance,
) -> Result<Vec<Judged>, CrashError> {
    let seeded: Vec<(Place, Chance)> = places.into_iter().map(|place| (place, chance.split())).collect();
    let played = side_by_side(seeded, workers, |(place, mut chance)| {
        let Place { case, store, position } = place;
        let first = judged(stage, &Scenario { case, store, crashes: position.crashes.clone() }, position.progress)?;
        let second = (twice && position.progress.is_some()).then(|| chance.later_place(&first.played)).flatten();
        let second = match second {
            None => None,
            Some(crash) => {
                let crashes = [position.crashes, vec![crash]].concat();
                Some(judged(stage, &Scenario { case, store, crashes }, None)?)
            }
        };
        Ok([Some(first), second])
    });
    let played: Result<Vec<_>, CrashError> = played.into_iter().collect();
    Ok(played?.into_iter().flatten().flatten().collect())
}

fn judged(stage: &Stage, scenario: &Scenario, progress: Option<Progress>) -> Result<Judged, CrashError> {
    let played = scenario.play(stage)?;
    // A call that did not come as far as it was to come is no cell of the matrix.
    let mut faults = judge::faults(&played, progress);
    if progress.is_some() && !played.all_died() {
        faults.push("nobody died: the way is not the one that was seen before".to_owned());
    }
    Ok(Judged { store: scenario.store, played, progress, faults })
}

/// Does `work` for each, several at a time, and answers in order.
fn side_by_side<T: Send, R: Send>(items: Vec<T>, workers: usize, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let slots: Vec<Mutex<(Option<T>, Option<R>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let item = slot.lock().unwrap_or_else(PoisonError::into_inner).0.take();
                    let result = item.map(&work);
                    slot.lock().unwrap_or_else(PoisonError::into_inner).1 = result;
                }
            });
        }
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
}

/// Chance that can be had again: the generator is `SplitMix64`.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The same seed, the same choices.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn split(&mut self) -> Self {
        Self(self.next())
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// A place behind the last death.
    fn later_place(&mut self, played: &Played) -> Option<Crash> {
        let first = played.crashes.iter().map(|crash| crash.driver + 1).max().unwrap_or_default();
        let later = played.drivers.iter().enumerate().skip(first);
        let mut places: Vec<(usize, u32)> =
            later.flat_map(|(driver, driven)| (1..).zip(&driven.passes).map(move |(hit, _)| (driver, hit))).collect();
        if places.is_empty() {
            return None;
        }
        let (driver, hit) = places.swap_remove(self.below(places.len()));
        Some(Crash { driver, at: Spot::Any(hit) })
    }
}
