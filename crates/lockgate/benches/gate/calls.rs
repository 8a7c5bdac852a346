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
        measure(criterion, &format!("call/{name}"), &setup, tool, arguments);
    }
}

/// The median call: one in which the machine did something else meanwhile does not count.
pub(crate) fn measure(criterion: &mut Criterion, name: &str, setup: &Setup, tool: &str, arguments: &str) {
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let mut spent = Vec::new();
            while (spent.len() as u64) < times {
                one_turn(setup, tool, arguments, &mut spent);
            }
            spent.sort_unstable();
            spent[spent.len() / 2] * u32::try_from(times).unwrap()
        });
    });
}

/// The calls of a fresh run, and what each took. Making the run and the requests is not the gate's work.
fn one_turn(setup: &Setup, tool: &str, arguments: &str, spent: &mut Vec<Duration>) {
    setup.runtime.block_on(async {
        let run = setup.run(&setup.gate("memory:"), 1).await;
        let requests: Vec<_> = (0..TURN).map(|index| run.request(index, tool, arguments)).collect();
        for request in requests {
            let begun = WallTime.start();
            std::hint::black_box(run.gate.call(request, &run.scope).await);
            spent.push(WallTime.end(begun));
        }
    });
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
