//! Events in, commands out. No runtime, no journal, no tool: R-203 by construction.

use crate::plan::Command;
use crate::sketch::{Seen, Sketch, place, words};

mod broken_off;
mod completion;
mod hopeless;
mod limits;
mod order;
mod simulated;
mod stops;
mod waiting;

/// Every call that the machine sends to the gate succeeds; the commands until it asks the model again or stops.
fn commands(sketch: &mut Sketch, seen: &Seen) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        let command = sketch.command(seen);
        said.push(words(&command));
        let Command::RunCalls(planned) = command else { return said };
        for planned in planned {
            let call = place(&planned.call.call_id);
            match planned.terms.over_limit {
                Some(limit) => sketch.refused_by(call, limit),
                None => sketch.ok(call),
            };
        }
    }
}

fn parallel(reads: usize) -> Seen {
    Seen { parallel_reads: reads, ..Seen::default() }
}
