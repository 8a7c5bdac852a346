//! Keys and values of the attribute that mean nothing.

use lockgate::{Failure, tool};

/// A slip in a key.
#[tool(scope("a"))]
async fn slip() -> Result<(), Failure> {
    Ok(())
}

/// No key at all.
#[tool(colour = "red")]
async fn unknown() -> Result<(), Failure> {
    Ok(())
}

/// A key given twice.
#[tool(effect = read, effect = write)]
async fn twice() -> Result<(), Failure> {
    Ok(())
}

/// A slip in a word.
#[tool(effect = raed)]
async fn slip_in_a_word() -> Result<(), Failure> {
    Ok(())
}

/// No such word.
#[tool(permission = "maybe")]
async fn unknown_word() -> Result<(), Failure> {
    Ok(())
}

/// No time.
#[tool(timeout = "soon")]
async fn no_time() -> Result<(), Failure> {
    Ok(())
}

/// No name.
#[tool(name = " ")]
async fn no_name() -> Result<(), Failure> {
    Ok(())
}

/// The description is the doc comment.
#[tool(description = "does it")]
async fn described() -> Result<(), Failure> {
    Ok(())
}

/// Repeats an effect that is not idempotent.
#[tool(effect = write, replay = safe, idempotency = none)]
async fn unsafe_replay() -> Result<(), Failure> {
    Ok(())
}

fn main() {}
