//! The attribute that turns an async function into a tool.
//!
//! It reads a function and writes a builder of its definition; it owns no behaviour. What the written code needs at run time
//! stands in the `private` module of the façade `lockgate`, which also re-exports and documents the attribute.

mod attribute;
mod description;
mod expansion;
mod nearest;
mod parameter;
mod returns;
mod signature;

use proc_macro::TokenStream;
use syn::{Item, parse_macro_input};

/// Turns an async function into a tool.
///
/// The function is replaced by one of the same name and visibility that takes nothing and returns a `ToolSpecBuilder`. The
/// original moves inside it, so a call that passed the gate is the only way to run it.
///
/// ```ignore
/// /// Says who owns a service.
/// #[tool(effect = read, version = "1.2", scopes("catalog.read"))]
/// async fn lookup_owner(
///     /// The service's name, such as `billing`.
///     service_name: String,
/// ) -> Result<Owner, ToolExecutionError> {
///     find(&service_name).ok_or_else(|| ToolExecutionError::new("service_not_found", "no such service"))
/// }
///
/// registry.register(lookup_owner().build()?)?;
/// ```
///
/// # What comes from where
///
/// | of the definition | from |
/// |---|---|
/// | name | the function's name, or `name = "…"` |
/// | description | the doc comment: required, its paragraphs are kept |
/// | input schema | the parameters: an object that takes these fields and no others |
/// | output schema | the return type: `T` or `Result<T, E>`; `output_schema = false` leaves it out |
/// | everything else | the attribute |
///
/// # Parameters
///
/// Each parameter is one argument, of a type that has `serde::Deserialize` and `schemars::JsonSchema` and owns its data. Its
/// doc comment describes it to the model; `#[serde(…)]` and `#[schemars(…)]` act as on a field of a struct. An `Option` may
/// be left out. One parameter may be a `ToolContext`: it is no argument, but the way to progress, cancel, the deadline and
/// the idempotency key.
///
/// Instead, one parameter with `#[arguments]` can be a struct that is all the arguments.
///
/// # Failing
///
/// `E` is `ToolExecutionError` for a business failure with its own code, `ToolEnvironmentError` for a broken environment,
/// `Failure` where both occur; any other error type counts as a bug of the tool, and its text stays in the protected log.
///
/// # Keys
///
/// | key | value | without it |
/// |---|---|---|
/// | `name` | a text | the function's name |
/// | `version` | a text | `"1.0"` |
/// | `effect` | `read`, `write`, `external` | `external` |
/// | `replay` | `safe`, `never`; `safe` on an effect that is no `read` declares idempotency | `safe` for a read, else `never` |
/// | `idempotency` | `none`, `declared`, `provider` | `none` |
/// | `idempotency_window` | a text such as `"24h"`: how long its provider remembers a key | a day |
/// | `permission` | `allow`, `ask`, `deny` | `allow` for a read, else `ask` |
/// | `reason` | a text: why it declares that permission | none |
/// | `scopes` | texts, as `scopes("a", "b")` or `["a", "b"]` | none |
/// | `resource_keys` | texts | none |
/// | `completes_run` | alone, or `true`, `false` | `false` |
/// | `blocking` | alone, or `true`, `false`: it may block its thread | `false` |
/// | `timeout` | a text such as `"500ms"`, `"2s"`, `"5m"`, `"1h"` | the executor's |
/// | `on_duplicate` | `run_each`, `share_result`, `reject` | `run_each` |
/// | `error_text` | `hidden`, `vouched` | `hidden` |
/// | `deferral` | `never`, `eligible`, `deferred` | `never` |
/// | `pre_check` | a path to a `fn(&Arguments) -> Result<(), String>` | none |
/// | `harmless_when` | a path to a `fn(&Arguments) -> bool` | none |
/// | `reconcile` | a path to an `async fn(Arguments, ToolContext) -> Result<Reconciled, Failure>`: what became of an attempt whose result was lost | none |
/// | `binds_files` | a path to a `fn(&Arguments) -> Result<BTreeMap<String, Digest>, String>`: the files that a call would use, which an approval is bound to | none |
/// | `output_schema` | `true`, `false` | `true` |
/// | `crate` | a path to the façade, where it is re-exported | `::lockgate` |
///
/// Words may be written bare (`read`) or as a text (`"read"`).
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as Item);
    expansion::expand(attribute.into(), item).into()
}
