//! A server whose one tool says back what it was told: what a call costs besides its work.

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, object};
use serde_json::{Value, json};

use crate::one_tool::Work;

/// The work of its tool: `echo {text}`, which answers with that text.
#[derive(Clone, Copy)]
pub struct Echo;

impl Work for Echo {
    const NAME: &'static str = "mcp-peer-echo";

    fn tool() -> Tool {
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        Tool::new("echo", "Says back what it is told.", object(schema))
    }

    async fn run(&self, arguments: JsonObject) -> Result<String, ErrorData> {
        let text = arguments.get("text").and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| ErrorData::invalid_params("`text` is missing", None))
    }
}
