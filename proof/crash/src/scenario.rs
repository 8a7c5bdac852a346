//! One scenario: drivers are started one after the other, some of them die, and the run comes to its end.

use lockgate::contract::event::Event;

use crate::CrashError;
use crate::bench::{Bench, Driven, Orders};
use crate::case::Case;
use crate::judge::End;
use crate::kill::Spot;
use crate::stage::{Stage, Store};

/// More drivers than any scenario needs: one that needs more does not end.
const MOST_DRIVERS: usize = 12;

/// What is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// What kind of call.
    pub case: Case,
    /// In which store.
    pub store: Store,
    /// Who dies where; at most one each driver.
    pub crashes: Vec<Crash>,
}

/// One death.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// Which driver: 0 is the one that starts the run.
    pub driver: usize,
    /// Where.
    pub at: Spot,
}

/// What happened.
#[derive(Debug)]
pub struct Played {
    /// What kind of call it was.
    pub case: Case,
    /// Who was to die where.
    pub crashes: Vec<Crash>,
    /// The drivers, in order.
    pub drivers: Vec<Driven>,
    /// How it stood when recovery was done, before any person looked.
    pub recovered: Option<End>,
    /// How it stood at the end.
    pub end: End,
    /// The journal at the end.
    pub events: Vec<Event>,
}

impl Scenario {
    /// Plays it to its end.
    pub fn play(&self, stage: &Stage) -> Result<Played, CrashError> {
        to_the_end(&stage.bench(self.case, self.store)?, &self.crashes, Vec::new())
    }
}

impl Played {
    /// Whether everybody died who was to die.
    pub fn all_died(&self) -> bool {
        self.crashes.iter().all(|crash| self.drivers.get(crash.driver).is_some_and(|driver| driver.died))
    }
}

/// Starts one driver after the other until the run has stopped, behind those that there were before.
pub fn to_the_end(bench: &Bench<'_>, crashes: &[Crash], before: Vec<Driven>) -> Result<Played, CrashError> {
    let (mut drivers, mut recovered) = (before, None);
    for _ in 0..MOST_DRIVERS {
        let crash = crashes.iter().find(|crash| crash.driver == drivers.len());
        let dies_at = crash.map(|crash| crash.at.clone());
        let driven = bench.drive(&Orders { dies_at, person: recovered.is_some(), ..Orders::default() })?;
        let stop = driven.stop.clone();
        drivers.push(driven);
        match stop.as_deref() {
            Some("waiting_for_approval") => bench.grant()?,
            Some("needs_reconciliation") => {
                if recovered.is_none() {
                    recovered = Some(bench.look()?.0);
                }
            }
            // It died, or gave up: the next one goes on.
            None | Some("nowhere") => {}
            Some(_) => break,
        }
    }
    let (end, events) = bench.look()?;
    Ok(Played { case: bench.case(), crashes: crashes.to_vec(), drivers, recovered, end, events })
}
