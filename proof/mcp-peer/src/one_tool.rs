//! Servers that have one tool, which answers with a text.

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};

/// What the one tool is, and does.
pub trait Work: Clone + Send + Sync + 'static {
    /// The server's name.
    const NAME: &'static str;

    /// The tool, as it is listed.
    fn tool() -> Tool;

    /// One call: the text that it is answered with.
    fn run(&self, arguments: JsonObject) -> impl Future<Output = Result<String, ErrorData>> + Send;
}

/// A server that does this work.
#[derive(Clone)]
pub struct OneTool<W> {
    tool: Tool,
    work: W,
}

impl<W: Work> OneTool<W> {
    /// The server.
    pub fn new(work: W) -> Self {
        Self { tool: W::tool(), work }
    }
}

impl<W: Work> ServerHandler for OneTool<W> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new(W::NAME, env!("CARGO_PKG_VERSION")))
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
        let text = self.work.run(request.arguments.unwrap_or_default()).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
