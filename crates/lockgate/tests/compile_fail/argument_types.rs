//! Types that cannot be arguments, and a context that is not the library's.

use lockgate::{Failure, tool};

#[derive(serde::Deserialize)]
struct Plain {}

mod other {
    pub struct ToolContext;
}

/// Takes a type that does not describe itself.
#[tool]
async fn plain(plain: Plain) -> Result<(), Failure> {
    let _ = plain;
    Ok(())
}

/// Takes another library's context.
#[tool]
async fn another_context(context: other::ToolContext) -> Result<(), Failure> {
    let _ = context;
    Ok(())
}

fn main() {}
