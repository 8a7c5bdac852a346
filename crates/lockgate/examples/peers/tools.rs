//! The tools of the comparison, the same as those of the other frameworks.

use std::time::Duration;

use lockgate::contract::arguments::Arguments;
use lockgate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ran::note;

pub(crate) fn all() -> Result<Vec<ToolSpec>, Box<dyn std::error::Error>> {
    let builders =
        [transfer(), refund(), get_ad(), convert(), set_todos(), ping(), stats(), shape(), leak(), slow(), huge()];
    Ok(builders.into_iter().map(lockgate::ToolSpecBuilder::build).collect::<Result<_, _>>()?)
}

/// Sends an amount to a person.
#[tool(effect = write, permission = allow)]
async fn transfer(
    /// The person.
    to: String,
    /// In cents.
    amount: i64,
    /// For people.
    memo: Option<String>,
) -> String {
    note("transfer", &json!({"to": to, "amount": amount, "memo": memo}));
    format!("sent {amount}")
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
enum Currency {
    #[serde(rename = "EUR")]
    Euro,
    #[serde(rename = "USD")]
    Dollar,
}

/// Pays an order back.
#[tool(effect = write, permission = allow)]
async fn refund(
    /// The order.
    #[schemars(regex(pattern = "^A-[0-9]+$"))]
    order: String,
    /// The currency.
    currency: Currency,
    /// The amount.
    #[schemars(range(min = 1))]
    cents: i64,
) -> String {
    note("refund", &json!({"order": order, "currency": currency, "cents": cents}));
    "paid back".to_owned()
}

/// Reads an advertisement.
#[tool(effect = read)]
async fn get_ad(
    /// Which one.
    id: i64,
) -> String {
    note("get_ad", &json!({"id": id}));
    "an advertisement".to_owned()
}

/// Converts a value.
#[tool(effect = read)]
async fn convert(
    /// The value.
    value: f64,
) -> String {
    note("convert", &json!({"value": value}));
    "converted".to_owned()
}

/// Writes the list of things to do.
#[tool(effect = write, permission = allow)]
async fn set_todos(
    /// The things.
    todos: Vec<String>,
    /// For people.
    note: String,
) -> String {
    self::note("set_todos", &json!({"todos": todos, "note": note}));
    "written".to_owned()
}

/// Answers.
#[tool(effect = read)]
async fn ping() -> String {
    note("ping", &json!({}));
    "pong".to_owned()
}

#[derive(Serialize, JsonSchema)]
struct Mean {
    mean: f64,
}

/// Computes a mean.
#[tool(effect = read)]
async fn stats() -> Mean {
    note("stats", &json!({}));
    Mean { mean: f64::NAN }
}

/// A tool whose handler does not return what it declares. A typed one cannot, so this one writes JSON text.
fn shape() -> lockgate::ToolSpecBuilder {
    let handler = Handler::untyped(|_: Arguments, _: ToolContext| async {
        note("shape", &json!({}));
        Ok(Output::raw(r#"{"unexpected":"of another shape"}"#))
    });
    ToolSpec::builder("shape")
        .description("Returns a receipt.")
        .input_schema_text(r#"{"type":"object","properties":{},"additionalProperties":false}"#)
        .output_schema_text(
            r#"{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}"#,
        )
        .effect(Effect::Read)
        .handler(handler)
}

/// Looks something up.
#[tool(effect = read)]
async fn leak() -> Result<String, std::io::Error> {
    note("leak", &json!({}));
    Err(std::io::Error::other("no access with sk-live-EXAMPLE at /srv/app/internal.py"))
}

/// Takes its time.
#[tool(effect = read)]
async fn slow() -> String {
    note("slow", &json!({}));
    tokio::time::sleep(Duration::from_secs(20)).await;
    "late".to_owned()
}

/// Returns much.
#[tool(effect = read)]
async fn huge() -> String {
    note("huge", &json!({}));
    "x".repeat(5_000_000)
}
