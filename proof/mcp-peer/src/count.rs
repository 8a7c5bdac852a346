//! A server whose one tool has an effect that can be counted afterwards, whoever was killed in between.

#![expect(clippy::disallowed_methods, reason = "a test program counts in a file of its own")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, object,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

/// The server. Its tool is `pay {delay_ms?}`: it appends one byte to the file, waits until the disk has it, waits as long as it is told,
/// and only then answers. The length of the file is the number of payments.
#[derive(Clone)]
pub struct Count {
    file: PathBuf,
    tool: Tool,
}

impl Count {
    /// Counts in this file, which is made where it is missing.
    pub fn new(file: PathBuf) -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "delay_ms": { "type": "integer", "minimum": 0, "maximum": 60_000 }, "note": { "type": "string" } }
        });
        Self { file, tool: Tool::new("pay", "Pays once, and says so after a while.", object(schema)) }
    }
}

impl ServerHandler for Count {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("mcp-peer-count", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let delay = request.arguments.as_ref().and_then(|arguments| arguments.get("delay_ms")).and_then(Value::as_u64);
        pay(&self.file).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        tokio::time::sleep(Duration::from_millis(delay.unwrap_or(0).min(60_000))).await;
        Ok(CallToolResult::success(vec![ContentBlock::text("paid")]).into())
    }
}

fn pay(file: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(b".")?;
    file.sync_all()
}
