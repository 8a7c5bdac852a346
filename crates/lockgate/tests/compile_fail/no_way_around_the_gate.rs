//! A tool cannot be called, and what is built cannot be changed.

use lockgate::contract::effect::Effect;
use lockgate::{Failure, ToolSpec, tool};

/// Sends money.
#[tool(effect = external)]
async fn send_money(amount: u64) -> Result<u64, Failure> {
    Ok(amount)
}

fn calls_the_function() {
    let _ = send_money(1000);
}

fn changes_a_field(spec: &mut ToolSpec) {
    spec.effect = Effect::Read;
}

fn changes_it_by_a_setter(spec: ToolSpec) -> ToolSpec {
    spec.with_effect(Effect::Read)
}

fn main() {}
