//! How often a call asks for memory: `cargo bench -p lockgate --bench allocations`.
//!
//! Apart from the other benchmarks, because counting costs time.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "gate/registry.rs"]
#[expect(dead_code, reason = "only the registry itself is needed here")]
mod registry;
#[path = "gate/setup.rs"]
mod setup;

use allocation_counter::measure;

use crate::setup::{ARGUMENTS, Setup};

const CALLS: u32 = 128;
const TOOLS: u32 = 1_000;

fn main() {
    let setup = Setup::new();
    for (name, tool, arguments) in
        [("read", "price", ARGUMENTS), ("write", "book", ARGUMENTS), ("refused: unknown tool", "prices", ARGUMENTS)]
    {
        let run = setup.runtime.block_on(async { setup.run(&setup.gate("memory:"), 1).await });
        let requests: Vec<_> = (0..CALLS).map(|index| run.request(index, tool, arguments)).collect();
        let counted = measure(|| {
            setup.runtime.block_on(async {
                for request in requests {
                    drop(run.gate.call(request, &run.scope).await);
                }
            });
        });
        println!(
            "{name:24} {:3} allocations a call, {:5} bytes, of which the journal keeps {:5}",
            counted.count_total / u64::from(CALLS),
            counted.bytes_total / u64::from(CALLS),
            counted.bytes_current / i64::from(CALLS),
        );
    }
    let mut kept = None;
    let counted = measure(|| kept = Some(registry::registry(TOOLS)));
    println!("{:24} {:5} bytes a tool", "registered", counted.bytes_current / i64::from(TOOLS));
    drop(kept);
}
