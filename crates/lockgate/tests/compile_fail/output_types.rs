//! Types that cannot be outputs: those without a schema, and those that the gate alone makes.

use lockgate::contract::outcome::Status;
use lockgate::contract::result::{ActionOutcome, ToolResult};
use lockgate::{Failure, tool};

struct Plain;

/// Answers with a type that does not describe itself.
#[tool]
async fn plain() -> Result<Plain, Failure> {
    Ok(Plain)
}

/// Claims a whole result.
#[tool]
async fn claims_a_result() -> Result<ToolResult, Failure> {
    Err(Failure::bug("never"))
}

/// Claims an outcome.
#[tool]
async fn claims_an_outcome() -> Result<ActionOutcome, Failure> {
    Err(Failure::bug("never"))
}

/// Claims a status.
#[tool]
async fn claims_a_status() -> Status {
    Status::Executed
}

fn main() {}
