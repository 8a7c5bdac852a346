//! What the expansion of `#[tool]` needs at run time. Not for use by hand: it changes with the attribute.
//!
//! The traits here say in the user's words what a type lacks; each is implemented for everything that is fit.

use std::marker::PhantomData;

use lockgate_contract::document::Document;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use lockgate_contract::effect::{Deferral, Effect, ErrorText, Idempotency, OnDuplicate, Permission, ReplayPolicy};
pub use lockgate_contract::tool::{Failure, Handler, ToolContext};
pub use lockgate_sources::typed::input_schema_of;
pub use {schemars, serde};

/// The type of one argument, or of all of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "not readable from JSON, or without a schema",
    note = "an argument needs `serde::Deserialize` to be read and `schemars::JsonSchema` to be described to the model",
    note = "for a type of yours: `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {}

/// The type of an output that has a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "not writable as JSON, or without a schema",
    note = "an output needs `serde::Serialize` to be written and `schemars::JsonSchema` to be checked",
    note = "for a type of yours: `#[derive(serde::Serialize, schemars::JsonSchema)]`, or `#[tool(output_schema = false)]`",
    note = "a tool answers with data or with a failure; the gate alone makes results, outcomes and their status"
)]
pub trait ToolOutput: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolOutput for T {}

/// The type of an output that no schema lists.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "not writable as JSON",
    note = "an output needs `serde::Serialize`; for a type of yours: `#[derive(serde::Serialize)]`"
)]
pub trait UnlistedToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> UnlistedToolOutput for T {}

/// The error type of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no way in which a tool can fail",
    label = "neither a `Failure` nor an error",
    note = "a tool fails with `ToolExecutionError::new(code, message)`, `ToolEnvironmentError::new(message)`, or any type \
            that has `std::error::Error`, which counts as a bug of the tool"
)]
pub trait ToolFailure {
    /// As one of the ways in which a tool fails.
    fn into_failure(self) -> Failure;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Failure>> ToolFailure for E {
    fn into_failure(self) -> Failure {
        self.into()
    }
}

/// A `Result`, also under the name of another library's alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a tool",
    label = "called `Result`, but it is not `std::result::Result` with an error that a tool can fail with"
)]
pub trait Fallible {
    /// What it holds on success.
    type Output;

    /// The output, or how the tool failed.
    fn into_result(self) -> Result<Self::Output, Failure>;
}

impl<T, E: ToolFailure> Fallible for Result<T, E> {
    type Output = T;

    fn into_result(self) -> Result<T, Failure> {
        self.map_err(ToolFailure::into_failure)
    }
}

/// Tells whether a return type is a `Result`: the constant of the type itself goes before that of [`IsNoResult`].
pub struct Returned<T: ?Sized>(PhantomData<T>);

impl<T, E> Returned<Result<T, E>> {
    /// It is.
    pub const IS_RESULT: bool = true;
}

/// The answer for every other type.
pub trait IsNoResult {
    /// It is not.
    const IS_RESULT: bool = false;
}

impl<T: ?Sized> IsNoResult for Returned<T> {}

/// Says that `T` is fit to be an argument.
pub const fn assert_argument<T: ToolArgument>() {}

/// The schema of an output.
pub fn output_schema<T: ToolOutput>() -> Document {
    lockgate_sources::typed::output_schema_of::<T>()
}

/// A handler with an output that has a schema.
pub fn handler<A, O, F, Fut>(function: F) -> Handler
where
    A: ToolArgument,
    O: ToolOutput,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Failure>> + Send + 'static,
{
    Handler::typed_with_context(function)
}

/// A handler with an output that no schema lists.
pub fn unlisted_handler<A, O, F, Fut>(function: F) -> Handler
where
    A: ToolArgument,
    O: UnlistedToolOutput,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Failure>> + Send + 'static,
{
    Handler::typed_with_context(function)
}

/// Turns the error of a tool into the way in which it fails.
pub fn failure<E: ToolFailure>(error: E) -> Failure {
    error.into_failure()
}
