//! `lockgate schema`: JSON Schemas of what the command reads and prints.

use clap::{Args, ValueEnum};
use lockgate::config::run_file_schema;
use lockgate::contract::event::CATALOGUE;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Print the JSON Schema of a format
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which format
    #[arg(value_enum)]
    format: Described,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Described {
    /// The run file, which is the file of `lockgate serve` too
    #[value(alias = "config")]
    RunFile,
    /// One event, as `--format jsonl` prints it
    Event,
}

#[expect(clippy::unnecessary_wraps, reason = "as every command")]
pub(crate) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    output.page(&match arguments.format {
        Described::RunFile => run_file_schema(),
        Described::Event => event_schema(),
    });
    Ok(Exit::Ok)
}

/// The frame of an event; its types come from the catalogue.
fn event_schema() -> Value {
    let types: Vec<&str> = CATALOGUE.iter().map(|(_, word, ..)| *word).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "description": "One event of a run. Readers ignore types and keys that they do not know.",
        "type": "object",
        "required": ["v", "run_id", "seq", "at", "type", "step", "data"],
        "properties": {
            "v": { "description": "The version of `data` for this type.", "type": "integer", "minimum": 1 },
            "run_id": { "type": "string", "pattern": "^run-[0-9a-f]{12}$" },
            "seq": { "description": "The place in the run, from 1, without gaps.", "type": "integer", "minimum": 1 },
            "at": {
                "description": "When the journal took it, in UTC.",
                "type": "string",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"
            },
            "type": { "anyOf": [{ "enum": types }, { "type": "string" }] },
            "step": { "description": "The model turn, from 0.", "type": "integer", "minimum": 0 },
            "call_id": {
                "description": "On tool and approval events.",
                "type": "string",
                "pattern": "^run-[0-9a-f]{12}:step-[0-9]+:call-[0-9]+(\\.[0-9]+)*$"
            },
            "data": { "description": "Typed by `type` and `v`.", "type": "object" },
            "hash": {
                "description": "Over the event and the hash of the one before it, where the run is chained.",
                "type": "string",
                "pattern": "^sha256:[0-9a-f]{64}$"
            }
        }
    })
}
