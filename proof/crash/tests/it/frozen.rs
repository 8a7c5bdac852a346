//! A driver stands still longer than its lease lasts, another one takes the run over, and the first one wakes up.

use std::time::Duration;

use crash::bench::Orders;
use crash::case::Case;
use crash::judge::broken;
use crash::kill::Spot;
use crash::scenario::to_the_end;
use crash::stage::Store;

use crate::{stage, stage_with_postgres};

fn frozen_at(point: &str) -> Orders {
    Orders { freezes_at: Some(Spot::At(point.to_owned(), 1)), ..Orders::default() }
}

#[test]
fn a_driver_that_wakes_up_starts_nothing_and_writes_only_what_became_of_its_own_attempt() {
    let stage = stage_with_postgres();
    // The case, where it stands still, how the second driver leaves the run, the effects by then, and what the first one
    // still writes.
    for (case, point, left, effects, late) in [
        (Case::External, "harness.turn.answered", "completed", 1, None),
        (Case::External, "harness.turn.stored", "completed", 1, None),
        // Its attempt was started: it is the one that may go on with it.
        (Case::External, "executor.handler.before", "needs_reconciliation", 0, Some("call.reconciled")),
        (Case::External, "executor.handler.after", "needs_reconciliation", 1, Some("call.reconciled")),
        (Case::Keyed, "executor.handler.before", "completed", 1, Some("tool.answered_late")),
        (Case::Keyed, "executor.handler.after", "completed", 1, Some("tool.answered_late")),
        // It was asked what became of its attempt, and that is the attempt's result.
        (Case::Probed, "executor.handler.after", "completed", 1, None),
        (Case::External, "executor.result.after", "completed", 1, None),
    ] {
        let bench = stage.bench(case, Store::Postgres).unwrap();
        let first = bench.start(&frozen_at(point)).unwrap();
        first.until_frozen().unwrap();
        let second = bench.drive(&Orders::default()).unwrap();
        assert_eq!(second.stop.as_deref(), Some(left), "{case:?} at {point}: {second:?}");
        let (end, before) = bench.look().unwrap();
        assert_eq!(end.effects, effects, "{case:?} at {point}");

        first.thaw().unwrap();
        let first = first.end().unwrap();
        let (end, after) = bench.look().unwrap();
        let written: Vec<&str> = after[before.len()..].iter().map(|event| event.kind.word()).collect();
        assert_eq!(written, late.into_iter().collect::<Vec<_>>(), "{case:?} at {point}");
        assert_eq!(end.effects, 1, "{case:?} at {point}");

        let played = to_the_end(&bench, &[], vec![first, second]).unwrap();
        assert_eq!(broken(&played), Vec::<String>::new(), "{case:?} at {point}");
        assert_eq!(played.end.words, "completed, ok", "{case:?} at {point}");
    }
}

/// A lock of the operating system does not run out (decision 0011).
#[test]
fn in_sqlite_nobody_takes_a_run_while_its_driver_lives() {
    let stage = stage();
    for point in ["harness.turn.stored", "executor.handler.before", "executor.handler.after"] {
        let bench = stage.bench(Case::External, Store::Sqlite).unwrap();
        let first = bench.start(&frozen_at(point)).unwrap();
        first.until_frozen().unwrap();
        let (_, before) = bench.look().unwrap();
        let impatient = Orders { patience: Some(Duration::from_millis(500)), ..Orders::default() };
        let second = bench.drive(&impatient).unwrap();
        assert!(second.error.is_some_and(|error| error.contains("is being driven by another process")), "{point}");
        assert_eq!(bench.look().unwrap().1.len(), before.len(), "{point}");

        first.thaw().unwrap();
        let first = first.end().unwrap();
        assert_eq!(first.stop.as_deref(), Some("completed"), "{point}");
        let (end, _) = bench.look().unwrap();
        assert_eq!(end.effects, 1, "{point}");
    }
}
