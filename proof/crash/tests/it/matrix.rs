//! Drivers die at places that a seed chooses, at every point of the product at least once.

use crash::case::Case;
use crash::matrix::{Chance, Judged, places, play, some};
use crash::report;
use crash::stage::{Stage, Store};

use crate::{stage, stage_with_postgres};

/// The same places each time.
const SEED: u64 = 4711;

const WORKERS: usize = 4;

/// So many scenarios with one death, or with two on the ways of recovery; with `twice`, as many again with a second death.
fn subset(stage: &Stage, store: Store, cases: &[Case], count: usize, twice: bool) -> Vec<Judged> {
    let mut chance = Chance::new(SEED);
    let all = places(stage, store, cases, WORKERS).unwrap();
    assert!(all.len() > count, "{} places", all.len());
    let chosen = some(all, count, &mut chance);
    play(stage, chosen, WORKERS, twice, &mut chance).unwrap()
}

#[test]
fn what_a_dead_driver_leaves_behind_is_made_good_in_sqlite() {
    let stage = stage();
    let judged = subset(&stage, Store::Sqlite, &Case::ALL, 60, false);
    assert_eq!(report::faults(&judged), "");
    // No point is on the list that no scenario comes to.
    assert_eq!(report::never_reached(&judged).into_iter().collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn what_a_dead_driver_leaves_behind_is_made_good_in_postgres() {
    let stage = stage_with_postgres();
    let cases = [Case::ExternalApproved, Case::Keyed, Case::Probed];
    let judged = subset(&stage, Store::Postgres, &cases, 20, false);
    assert_eq!(report::faults(&judged), "");
}

#[test]
fn whoever_takes_a_run_up_may_die_too() {
    let stage = stage();
    let judged = subset(&stage, Store::Sqlite, &[Case::External, Case::KeyedApproved], 10, true);
    let twice = judged.iter().filter(|one| one.played.drivers.iter().filter(|driver| driver.died).count() > 1).count();
    assert!(twice > 3, "{twice}");
    assert_eq!(report::faults(&judged), "");
}
