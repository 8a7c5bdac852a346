//! What is offered to MCP clients: the tools of a run file, each call of which goes through its gate.
//!
//! ```text
//! tools/list ─► the subject's discovery, in the wire's form
//! tools/call ─► a direct call, with the client as its caller ─► result · isError · approval
//! resources/read, resources/subscribe, prompts/get, completion/complete ─► calls of the tools that stand for them
//! ```
//!
//! It owns how the gate's answers look on the wire. It decides nothing.

mod approval;
mod beside;
mod call;
mod lists;
mod result;
mod tasks;

use std::sync::{Arc, PoisonError, RwLock, Weak};

use lockgate::assembly::{Assembly, Servers};
use lockgate::contract::document::Document;
use lockgate::contract::ports::BoxFuture;
use lockgate::contract::run::RunBinding;
use lockgate::registry::{Discovery, RegisteredTool, Registry};
use lockgate_mcp::server::{Asked, Change, Facts, Principal, Service, Subscription};
use lockgate_mcp::upstream::{Beside, Identity, Said};
use lockgate_mcp::wire::{Mirrors, RpcError, code, key};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use self::tasks::Tasks;
use crate::runs::{NoRun, Runs};

/// Changes that may wait for a slow client.
const MOST_CHANGES: usize = 256;

/// Bytes of a server's own message that the log has.
const LONGEST_LOGGED: usize = 2048;

/// How the gateway behaves, beyond what the run file's other tables say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatewayOptions {
    /// Where people and clients reach the server's pages; nothing where there are none.
    pub public_url: Option<String>,
    /// Whether whoever sits at a client may answer approvals in it.
    pub approve_in_client: bool,
}

/// The service behind `lockgate serve`.
pub struct Gateway {
    /// Replaced as a whole when the file changes: what is under way goes on with what it began with.
    state: RwLock<Arc<State>>,
    tasks: Arc<Tasks>,
    changes: broadcast::Sender<Change>,
}

struct State {
    assembly: Assembly,
    runs: Runs,
    options: GatewayOptions,
    tasks: Arc<Tasks>,
}

impl Gateway {
    /// Offers what a run file stands for. Must be called within a runtime.
    pub fn new(assembly: Assembly, options: GatewayOptions) -> Arc<Self> {
        let said = assembly.servers.as_ref().map(|servers| servers.upstreams().said());
        let changes = broadcast::Sender::new(MOST_CHANGES);
        let tasks = Arc::new(Tasks::new(changes.clone()));
        let gateway = Arc::new(Self {
            state: RwLock::new(Arc::new(State::new(assembly, options, Arc::clone(&tasks)))),
            tasks,
            changes,
        });
        if let Some(said) = said {
            tokio::spawn(pass_on(Arc::downgrade(&gateway), said));
        }
        gateway
    }

    /// From now on this is offered. Every client is told that the lists may be others.
    pub fn replace(self: &Arc<Self>, assembly: Assembly, options: GatewayOptions) {
        let before = self.state();
        let is_new = |servers: &Arc<_>| !before.assembly.servers.as_ref().is_some_and(|old| Arc::ptr_eq(old, servers));
        if let Some(servers) = assembly.servers.as_ref().filter(|servers| is_new(servers)) {
            tokio::spawn(pass_on(Arc::downgrade(self), servers.upstreams().said()));
        }
        *self.state.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(State::new(assembly, options, Arc::clone(&self.tasks)));
        for list in lists::ALL {
            // Nobody may be listening.
            let _ = self.changes.send(Change::List(list));
        }
    }

    /// How the servers stand, for people and programs. What servers wrote of themselves is scrubbed.
    pub fn status(&self) -> Document {
        let state = self.state();
        let statuses = state.assembly.servers.as_ref().map(|servers| servers.statuses()).unwrap_or_default();
        state.scrubbed(Document::from_json_value(&json!({ "servers": statuses })))
    }

    /// The servers behind it.
    pub fn servers(&self) -> Option<Arc<Servers>> {
        self.state().assembly.servers.clone()
    }

    /// The tools as they are offered now.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.state().assembly.registry)
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn new(assembly: Assembly, options: GatewayOptions, tasks: Arc<Tasks>) -> Self {
        let runs = Runs::new(Arc::clone(&assembly.journal));
        Self { assembly, runs, options, tasks }
    }

    /// What this client may see, without what stands beside the tools.
    async fn discovery(&self, principal: &Principal) -> Result<Vec<Arc<RegisteredTool>>, RpcError> {
        let registry = &self.assembly.registry;
        let discovery = self.allowed(registry.discover(&principal.subject)).without_sources(Beside::is_source);
        let mut tools = discovery.tools().to_vec();
        if let Some(bound) = self.bound(principal).await? {
            tools.retain(|tool| bound.allowed.definition(tool.spec().name()) == Some(tool.spec().definition()));
        }
        Ok(tools)
    }

    /// One tool, where this client may see it, and what a call of it is bound to.
    async fn tool(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<Option<(Arc<RegisteredTool>, RunBinding)>, RpcError> {
        let discovery = self.allowed(self.assembly.registry.discover_one(&principal.subject, name));
        let Some(tool) = discovery.tools().first().cloned() else { return Ok(None) };
        match self.bound(principal).await? {
            None => Ok(Some((tool, discovery.bind()))),
            // What the run was bound to is what is called; whether that is still there is for the gate to say.
            Some(bound) => Ok(bound.allowed.definition(name).is_some().then_some((tool, bound))),
        }
    }

    /// Within the names that the file allows. What stands beside tools is seen by whoever may see it there.
    fn allowed(&self, discovery: Discovery) -> Discovery {
        match &self.assembly.run_file.tools.allow {
            Some(allow) => discovery.only(allow),
            None => discovery,
        }
    }

    /// What a credential that was made for one run is bound to: what the run began with, also where it was resumed since.
    async fn bound(&self, principal: &Principal) -> Result<Option<RunBinding>, RpcError> {
        let Some(run) = &principal.run else { return Ok(None) };
        match self.runs.going_on(run).await {
            Ok(start) => Ok(Some(start.binding.clone())),
            Err(NoRun::Unreadable(error)) => Err(internal(&*error)),
            Err(no_run) => Err(RpcError::new(code::INVALID_REQUEST, no_run.to_string())),
        }
    }
}

impl Service for Gateway {
    fn facts(&self, principal: &Principal) -> Facts {
        let state = self.state();
        let tasks = json!({ key::TASKS: {} });
        let mut capabilities = json!({ "tools": { "listChanged": true }, "logging": {}, "extensions": tasks });
        let mut instructions = Vec::new();
        for server in state.servers() {
            let lists = server.lists();
            let Some(facts) = &lists.facts else { continue };
            let sees = |beside| state.sees(principal, &server, beside);
            for beside in [Beside::Resources, Beside::Prompts].into_iter().filter(|beside| sees(*beside)) {
                capabilities[beside.word()]["listChanged"] = json!(true);
                if beside == Beside::Resources && sees(Beside::Subscriptions) {
                    capabilities["resources"]["subscribe"] = json!(true);
                }
                if sees(Beside::Completions) {
                    capabilities["completions"] = json!({});
                }
            }
            // Of a server whose every thing is hidden from somebody, its name is too.
            if let Some(words) = &facts.instructions
                && state.sees_any(principal, &server)
            {
                instructions.push((server.settings().name.clone(), words.clone()));
            }
        }
        let instructions = match &instructions[..] {
            [] => None,
            [(_, words)] => Some(words.clone()),
            several => {
                Some(several.iter().map(|(name, words)| format!("{name}: {words}")).collect::<Vec<_>>().join("\n\n"))
            }
        };
        // What servers say is scrubbed like everything else that leaves.
        let instructions = instructions.map(|words| state.assembly.gate.scrub(&words).into_owned());
        Facts {
            capabilities: Document::from_json_value(&capabilities),
            info: Document::from_json_value(&json!({ "name": "lockgate", "version": env!("CARGO_PKG_VERSION") })),
            instructions,
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'_, Result<Document, RpcError>> {
        let state = self.state();
        Box::pin(async move {
            match asked.method.as_str() {
                "tools/list" => state.list_tools(&asked).await,
                "tools/call" if tasks::follows(&*asked.peer) => state.call_as_task(asked).await,
                "tools/call" => Box::pin(state.call(&asked, None)).await,
                "tasks/get" => state.get_task(&asked).await,
                "tasks/update" => state.update_task(&asked),
                "tasks/cancel" => state.cancel_task(&asked).await,
                "resources/list" | "resources/templates/list" | "prompts/list" => state.list_beside(&asked),
                "resources/read" => Box::pin(state.read_resource(&asked)).await,
                "prompts/get" => Box::pin(state.get_prompt(&asked)).await,
                "completion/complete" => Box::pin(state.complete(&asked)).await,
                method => Err(RpcError::method_not_found(method)),
            }
        })
    }

    fn subscribe(&self, asked: Asked) -> BoxFuture<'_, Result<Subscription, RpcError>> {
        let state = self.state();
        Box::pin(async move { Box::pin(state.subscribe(&asked)).await })
    }

    fn mirrors(&self, principal: &Principal, tool: &str) -> Option<Arc<Mirrors>> {
        let state = self.state();
        let registered = state.assembly.registry.get(tool)?;
        let mirrors = Mirrors::of(registered.spec().input_schema().root()).ok().flatten()?;
        // Whoever may not see it is told nothing of it.
        let seen = state.allowed(state.assembly.registry.discover_one(&principal.subject, tool));
        (!seen.tools().is_empty()).then(|| Arc::new(mirrors))
    }

    fn changes(&self, _principal: &Principal) -> broadcast::Receiver<Change> {
        // That a list changed tells nothing of it, and of a resource those hear who may read it and asked to.
        self.changes.subscribe()
    }
}

/// Passes on what servers say by themselves, for as long as there is a gateway.
async fn pass_on(gateway: Weak<Gateway>, mut said: broadcast::Receiver<Said>) {
    loop {
        let said = match said.recv().await {
            Ok(said) => said,
            // What was missed may be anything.
            Err(RecvError::Lagged(_)) => {
                let Some(gateway) = gateway.upgrade() else { return };
                for list in lists::ALL {
                    let _ = gateway.changes.send(Change::List(list));
                }
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let Some(gateway) = gateway.upgrade() else { return };
        let change = match said {
            Said::Changed { list, .. } => Change::List(list),
            Said::Resource { server, identity, params } => {
                let state = gateway.state();
                let Some(server) = state.server(&server) else { continue };
                let user = match identity {
                    Identity::Shared => None,
                    Identity::User { tenant, user, .. } => Some((tenant, user)),
                };
                let params = state.scrubbed(server.settings().with_shown_uri(params.root(), "uri"));
                Change::Resource { params, user }
            }
            Said::Log { server, params } => {
                let message = gateway.state().scrubbed(params);
                let message = message.text();
                let message = &message[..message.floor_char_boundary(LONGEST_LOGGED)];
                tracing::info!(server, message, "a server says");
                continue;
            }
        };
        let _ = gateway.changes.send(change);
    }
}

/// Something here failed. Why, is for the log.
fn internal(error: &dyn std::error::Error) -> RpcError {
    tracing::error!(error = error.to_string(), "a request could not be answered");
    RpcError::internal()
}

#[cfg(test)]
mod tests;
