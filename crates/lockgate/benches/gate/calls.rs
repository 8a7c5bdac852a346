//! Whole calls, each to its one outcome: where it ends tells what the stages before it cost.

use std::time::Duration;

use criterion::measurement::{Measurement as _, WallTime};
use criterion::{Criterion, Throughput};
use futures_util::future::join_all;

use crate::setup::{ARGUMENTS, Setup};

/// Calls of one run: as many as a long turn has. A run that went on for ever would measure how quickly the kernel hands out
/// memory.
const TURN: u32 = 128;

/// One after another.
pub(crate) fn each(criterion: &mut Criterion) {
    let setup = Setup::new();
    let wrong = ARGUMENTS.replace("1999", "\"1999\"");
    for (name, tool, arguments) in [
        ("read of three fields, 1 KB answered", "price", ARGUMENTS),
        ("write of three fields, 1 KB answered", "book", ARGUMENTS),
        ("refused: not JSON", "price", "{"),
        ("refused: unknown tool", "prices", ARGUMENTS),
        ("refused: schema", "price", &wrong),
        ("refused: the tool's own check", "refuse_order", ARGUMENTS),
        ("refused: policy", "deny_order", ARGUMENTS),
    ] {
        criterion.bench_function(&format!("call/{name}"), |bencher| {
            bencher.iter_custom(|mut times| {
                let mut spent = Duration::ZERO;
                while times > 0 {
                    let calls = times.min(TURN.into());
                    spent += one_turn(&setup, tool, arguments, calls);
                    times -= calls;
                }
                spent
            });
        });
    }
}

/// The calls of a fresh run. Making the run and the requests is not the gate's work.
fn one_turn(setup: &Setup, tool: &str, arguments: &str, calls: u64) -> Duration {
    setup.runtime.block_on(async {
        let run = setup.run(&setup.gate("memory:"), 1).await;
        let requests: Vec<_> = (0..).zip(0..calls).map(|(index, _)| run.request(index, tool, arguments)).collect();
        let begun = WallTime.start();
        for request in requests {
            std::hint::black_box(run.gate.call(request, &run.scope).await);
        }
        WallTime.end(begun)
    })
}

/// A turn of 128 reads, all under way at once on one thread.
pub(crate) fn turn(criterion: &mut Criterion) {
    let setup = Setup::new();
    let mut group = criterion.benchmark_group("turn");
    group.throughput(Throughput::Elements(TURN.into()));
    group.bench_function("128 reads at once", |bencher| {
        bencher.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    setup.runtime.block_on(async {
                        let run = setup.run(&setup.gate("memory:"), 1).await;
                        let requests: Vec<_> = (0..TURN).map(|index| run.request(index, "price", ARGUMENTS)).collect();
                        let begun = WallTime.start();
                        let calls = requests.into_iter().map(|request| run.gate.call(request, &run.scope));
                        std::hint::black_box(join_all(calls).await);
                        WallTime.end(begun)
                    })
                })
                .sum()
        });
    });
    group.finish();
}
