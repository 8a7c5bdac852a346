//! Functions that cannot be tools: each is told why, and what to write instead.

use lockgate::{Failure, ToolContext, tool};

/// Is not asynchronous.
#[tool]
fn synchronous(name: String) -> Result<String, Failure> {
    Ok(name)
}

/// Has a receiver.
#[tool]
async fn method(&self, name: String) -> Result<String, Failure> {
    Ok(name)
}

/// Is generic.
#[tool]
async fn generic<T>(value: T) -> Result<String, Failure> {
    Ok(String::new())
}

/// Answers with nothing that is said.
#[tool]
async fn without_return_type(name: String) {}

/// Borrows.
#[tool]
async fn borrows(name: &str, others: Vec<&'static str>) -> Result<String, Failure> {
    Ok(name.to_owned())
}

/// Takes its parameter apart.
#[tool]
async fn pattern((first, second): (String, String)) -> Result<String, Failure> {
    Ok(first)
}

/// Hides its types.
#[tool]
async fn opaque(name: impl Into<String>) -> impl Sized {
    name.into()
}

/// Takes two contexts.
#[tool]
async fn two_contexts(first: ToolContext, name: String, second: ToolContext) -> Result<String, Failure> {
    Ok(name)
}

/// Borrows its context.
#[tool]
async fn borrowed_context(context: &ToolContext) -> Result<String, Failure> {
    Ok(String::new())
}

/// Has all arguments and one more.
#[tool]
async fn all_and_one(#[arguments] all: Vec<String>, one: String) -> Result<String, Failure> {
    Ok(one)
}

/// Has an attribute that means nothing.
#[tool]
async fn strange_attribute(#[cfg(test)] name: String) -> Result<String, Failure> {
    Ok(name)
}

#[tool]
async fn undocumented(name: String) -> Result<String, Failure> {
    Ok(name)
}

/// Has several faults, told at once.
#[tool(efect = read)]
fn several(name: &str) {}

/// Is no function.
#[tool]
struct NoFunction;

fn main() {
    // A tool with a fault still has its name: nothing more is said here.
    let _ = synchronous();
}
