//! Error types that are none, and a `Result` that hides behind another name.

use lockgate::{ToolExecutionError, tool};

/// Fails with a text.
#[tool]
async fn text() -> Result<u32, String> {
    Err("it went wrong".to_owned())
}

type Answer = Result<u32, ToolExecutionError>;

/// Hides that it can fail.
#[tool]
async fn hidden() -> Answer {
    Ok(1)
}

fn main() {}
