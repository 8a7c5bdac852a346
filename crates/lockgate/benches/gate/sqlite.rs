//! Calls that are durable: SQLite with 1 and 32 callers, against a bare append and `fdatasync` of the same bytes.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::measurement::{Measurement as _, WallTime};
use criterion::{Criterion, Throughput};
use futures_util::future::join_all;

use crate::setup::{ARGUMENTS, Setup};

/// Calls of each caller in one go.
const CALLS: u32 = 4;

pub(crate) fn callers(criterion: &mut Criterion) {
    let setup = Setup::new();
    let folder = tempfile::tempdir().unwrap();
    let gate = setup.gate(&format!("sqlite:{}", folder.path().join("journal.db").display()));
    let numbers = AtomicU64::new(1);
    let mut group = criterion.benchmark_group("sqlite");
    group.sample_size(10);
    for (callers, tool) in [(1, "price"), (32, "price"), (1, "book"), (32, "book")] {
        group.throughput(Throughput::Elements(u64::from(callers * CALLS)));
        group.bench_function(format!("{callers} × {CALLS} calls of `{tool}`"), |bencher| {
            bencher.iter_custom(|times| {
                (0..times)
                    .map(|_| {
                        setup.runtime.block_on(async {
                            let mut runs = Vec::new();
                            for _ in 0..callers {
                                runs.push(setup.run(&gate, numbers.fetch_add(1, Ordering::Relaxed)).await);
                            }
                            let begun = WallTime.start();
                            join_all(runs.iter().map(|run| async {
                                for index in 0..CALLS {
                                    run.gate.call(run.request(index, tool, ARGUMENTS), &run.scope).await;
                                }
                            }))
                            .await;
                            WallTime.end(begun)
                        })
                    })
                    .sum::<Duration>()
            });
        });
    }
    // The same bytes: what one read leaves in the journal.
    let bytes = setup.runtime.block_on(async {
        let run = setup.run(&gate, numbers.fetch_add(1, Ordering::Relaxed)).await;
        run.gate.call(run.request(0, "price", ARGUMENTS), &run.scope).await;
        let events = gate.journal().events(run.scope.log.run_id(), 1).await.unwrap();
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect::<String>()
    });
    let mut file = tempfile::tempfile_in(folder.path()).unwrap();
    group.throughput(Throughput::Elements(1));
    group.bench_function(format!("append and fdatasync of {} bytes", bytes.len()), |bencher| {
        bencher.iter(|| {
            file.write_all(bytes.as_bytes()).unwrap();
            file.sync_data().unwrap();
        });
    });
    group.finish();
}
