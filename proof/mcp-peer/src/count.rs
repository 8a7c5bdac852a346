//! A server whose one tool has an effect that can be counted afterwards, whoever was killed in between.

#![expect(clippy::disallowed_methods, reason = "a test program counts in a file of its own")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, object};
use serde_json::{Value, json};

use crate::one_tool::Work;

/// The work of its tool: `pay {delay_ms?}`. It appends one byte to the file, waits until the disk has it, waits as long as it is told,
/// and only then answers. The length of the file is the number of payments.
#[derive(Clone)]
pub struct Count {
    /// The file, which is made where it is missing.
    pub file: PathBuf,
}

impl Work for Count {
    const NAME: &'static str = "mcp-peer-count";

    fn tool() -> Tool {
        let schema = json!({
            "type": "object",
            "properties": { "delay_ms": { "type": "integer", "minimum": 0, "maximum": 60_000 }, "note": { "type": "string" } }
        });
        Tool::new("pay", "Pays once, and says so after a while.", object(schema))
    }

    async fn run(&self, arguments: JsonObject) -> Result<String, ErrorData> {
        let delay = arguments.get("delay_ms").and_then(Value::as_u64);
        pay(&self.file).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        tokio::time::sleep(Duration::from_millis(delay.unwrap_or(0).min(60_000))).await;
        Ok("paid".to_owned())
    }
}

fn pay(file: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(b".")?;
    file.sync_all()
}
