//! A server with everything that the conformance suite asks a server for, in both eras of the protocol.
//!
//! The names are the suite's; what each must do stands beside it. One value serves every connection: what outlives a request (tasks,
//! subscriptions, levels of logging) is shared by its clones.

#![expect(deprecated, reason = "what the protocol gives up, its older versions still have")]

mod asking;
mod call;
mod changes;
mod content;
mod describe;
mod prompts;
mod resources;
mod states;
mod tasks;
mod telling;

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::task_manager::TaskManager;

use call::Call;
use changes::Changes;

/// The versions that a server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Era {
    /// All of them.
    #[default]
    Both,
    /// Those with a handshake: up to 2025-11-25.
    Legacy,
    /// Those without: from 2026-07-28.
    Modern,
}

impl Era {
    fn versions(self) -> Cow<'static, [ProtocolVersion]> {
        match self {
            Self::Both => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Self::Legacy => Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25)),
            Self::Modern => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
        }
    }
}

/// The server.
#[derive(Clone)]
pub struct Fixture {
    era: Era,
    tasks: TaskManager,
    changes: Changes,
}

impl Fixture {
    /// A server of these versions. It has to be made inside a runtime.
    pub fn new(era: Era) -> Self {
        Self { era, tasks: TaskManager::new(), changes: Changes::new() }
    }

    /// Every tool, the simplest first: the suite calls the first one without arguments.
    fn tools() -> Vec<Tool> {
        let groups =
            [content::tools(), telling::tools(), asking::tools(), states::tools(), changes::tools(), tasks::tools()];
        groups.into_iter().flatten().collect()
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("mcp-peer", env!("CARGO_PKG_VERSION")))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.era.versions()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Self::tools()))
    }

    /// By this the transport knows which arguments are mirrored in headers.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        Self::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call { request, context };
        let name = call.request.name.clone();
        let is_of = |tools: Vec<Tool>| tools.iter().any(|tool| tool.name == name);
        if is_of(content::tools()) {
            Ok(content::call(&call))
        } else if is_of(telling::tools()) {
            telling::call(&call).await
        } else if is_of(asking::tools()) {
            asking::call(&call).await
        } else if is_of(states::tools()) {
            states::call(&call)
        } else if is_of(changes::tools()) {
            Ok(self.changes.call(&call))
        } else if is_of(tasks::tools()) {
            tasks::call(&call, &self.tasks).await
        } else {
            Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None))
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values = ["testament", "testimony", "texture"].into_iter().filter(|value| value.starts_with(&begun));
        let values = CompletionInfo::with_all_values(values.map(str::to_owned).collect());
        Ok(CompleteResult::new(values.map_err(|problem| ErrorData::internal_error(problem, None))?))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri)
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.tell(&subscription).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes.tell_session(context.peer);
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
