//! Chance: several drivers at once take up whatever can be taken up, and die whenever it comes. Then everything is brought to
//! its end, and judged.

use std::sync::Mutex;
use std::time::Duration;

use crash::bench::{Bench, Driven, Orders};
use crash::case::Case;
use crash::judge::broken;
use crash::matrix::Chance;
use crash::scenario::to_the_end;
use crash::stage::{Stage, Store};

use crate::{stage, stage_with_postgres};

/// How many runs there are.
const RUNS: usize = 32;

/// How many drivers there are at a time.
const DRIVERS: u64 = 3;

/// How many are started, all together.
const STARTS: usize = 90;

/// No driver that is killed lives longer, in milliseconds.
const LONGEST_LIFE: usize = 80;

struct Run<'s> {
    bench: Bench<'s>,
    drivers: Mutex<Vec<Driven>>,
}

fn history(stage: &Stage, store: Store) {
    let cases = Case::ALL.into_iter().cycle().take(RUNS);
    let mut runs: Vec<Run<'_>> = Vec::new();
    for case in cases {
        // All in one journal.
        let bench = match runs.first() {
            None => stage.bench(case, store).unwrap(),
            Some(first) => stage.beside(case, &first.bench).unwrap(),
        };
        runs.push(Run { bench, drivers: Mutex::default() });
    }
    std::thread::scope(|scope| {
        for seed in 0..DRIVERS {
            let runs = &runs;
            scope.spawn(move || drive_whatever_comes(runs, &mut Chance::new(seed)));
        }
    });
    let mut died = 0;
    // The journal is gone with the first of them, so all are looked at before one goes.
    for Run { bench, drivers } in &runs {
        let before = std::mem::take(&mut *drivers.lock().unwrap());
        let played = to_the_end(bench, &[], before).unwrap();
        died += played.drivers.iter().filter(|driver| driver.died).count();
        let kinds: Vec<&str> = played.events.iter().map(|event| event.kind.word()).collect();
        //
        assert_eq!(broken(&played), Vec::<String>::new(), "{:?}: {kinds:?}", played.case);
    }
    // How many it takes is for the machine to say: without any, nothing was shown.
    assert!(died > STARTS / 20, "{died} deaths");
}

fn drive_whatever_comes(runs: &[Run<'_>], chance: &mut Chance) {
    for _ in 0..STARTS / usize::try_from(DRIVERS).unwrap() {
        let run = &runs[chance.below(runs.len())];
        let impatient = Orders { patience: Some(Duration::ZERO), ..Orders::default() };
        let mut driver = run.bench.start(&impatient).unwrap();
        if chance.below(3) > 0 {
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_LIFE) as u64));
            driver.kill().unwrap();
        }
        let said = driver.end().unwrap();
        if said.stop.as_deref() == Some("waiting_for_approval") {
            run.bench.grant().unwrap();
        }
        run.drivers.lock().unwrap().push(said);
    }
}

#[test]
fn whatever_chance_kills_in_sqlite_happens_once_or_is_unknown() {
    history(&stage(), Store::Sqlite);
}

#[test]
fn whatever_chance_kills_in_postgres_happens_once_or_is_unknown() {
    history(&stage_with_postgres(), Store::Postgres);
}
