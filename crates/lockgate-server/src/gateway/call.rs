//! `tools/call`: a direct call through the gate, with the client as whoever can be asked.

use std::sync::{Arc, OnceLock};

use lockgate::config::PolicyEngineWord;
use lockgate::contract::arguments::Arguments;
use lockgate::contract::document::{Document, Limits, Node};
use lockgate::contract::effect::Permission;
use lockgate::contract::ports::{BoxFuture, Caller, Report, Unanswered};
use lockgate::contract::run::RunBinding;
use lockgate::harness::{DirectAnswer, DirectCall, RunError, Runner, RunnerOptions};
use lockgate::registry::RegisteredTool;
use lockgate_mcp::server::{Asked, Peer};
use lockgate_mcp::upstream::KEY_IN_META;
use lockgate_mcp::wire::{Edit, Era, RpcError, key};
use serde_json::json;

use super::approval::{Before, no_such_approval, still_open};
use super::tasks::Task;
use super::{State, internal, result};

/// Where a client says which question was answered, for the same call.
pub(super) const APPROVAL_IN_META: &str = "dev.lockgate/approval";

impl State {
    /// One call, from the client's words to its result.
    pub(super) async fn call(&self, asked: &Asked, task: Option<&Arc<Task>>) -> Result<Document, RpcError> {
        let params = asked.params.root();
        let name = params.get("name").and_then(|name| name.as_str());
        let name = name.ok_or_else(|| RpcError::invalid_params("`name` is missing"))?;
        let Some((tool, binding)) = self.tool(asked.peer.principal(), &name).await? else {
            return Err(unknown_tool(&name));
        };
        if lockgate_mcp::upstream::Beside::is_source(tool.spec().source()) {
            return Err(unknown_tool(&name));
        }
        let text = params.get("arguments").map_or("", |arguments| arguments.raw());
        let answer = Box::pin(self.through_the_gate(asked, &tool, binding, text, task)).await?;
        if answer.result.code().is_some_and(|code| code.word() == "unknown_tool") {
            return Err(unknown_tool(&name));
        }
        result::on_the_wire(self, answer, asked.peer.version().era())
    }

    /// Sends a call through the gate; where a person has to approve it first, in whichever way the client can.
    pub(super) async fn through_the_gate(
        &self,
        asked: &Asked,
        tool: &RegisteredTool,
        binding: RunBinding,
        text: &str,
        task: Option<&Arc<Task>>,
    ) -> Result<DirectAnswer, RpcError> {
        let meta = asked.params.root().get("_meta");
        let mut call = DirectCall {
            run_file: Some(self.assembly.path.display().to_string()),
            idempotency_key: said_key(meta)?,
            ..DirectCall::new((*asked.peer.principal().subject).clone(), binding, tool.spec().name(), text)
        };
        let named = meta.and_then(|meta| meta.get(APPROVAL_IN_META)?.as_str());
        call.approval = match named {
            Some(named) => Some(self.named(&named, &call.subject).await?),
            None if self.may_ask(tool) => match self.asked_before(&call, tool, text).await? {
                Before::Nothing => None,
                Before::Approved(approval) => Some(approval),
                Before::Open(approval) if self.is_decided_by_asking(asked, &approval, task).await => {
                    Some(approval.approval_id)
                }
                Before::Open(approval) => return Ok(still_open(&call, &approval, tool)),
            },
            None => None,
        };
        let client = Arc::new(Client { peer: Arc::clone(&asked.peer), lacks: OnceLock::new() });
        let runner = self.runner(&client, task);
        let answer = client.explained(self.send(&runner, call.clone()).await?)?;
        let (None, Some(open)) = (&answer.status, answer.result.meta.approval_id.clone()) else { return Ok(answer) };
        let Some(approval) = self.assembly.journal.approval(&open).await.map_err(|error| internal(&error))? else {
            return Ok(answer);
        };
        if !self.is_decided_by_asking(asked, &approval, task).await {
            return Ok(answer);
        }
        client.explained(self.send(&runner, DirectCall { approval: Some(open), ..call }).await?)
    }

    fn runner(&self, client: &Arc<Client>, task: Option<&Arc<Task>>) -> Runner {
        let caller: Arc<dyn Caller> = Arc::clone(client) as _;
        let cancel = client.peer.cancel().clone();
        let observer = task.map(|task| task.observer());
        self.assembly.caller(RunnerOptions { caller: Some(caller), cancel, observer, ..RunnerOptions::default() })
    }

    async fn send(&self, runner: &Runner, call: DirectCall) -> Result<DirectAnswer, RpcError> {
        runner.call(call).await.map_err(|error| match error {
            RunError::NoSuchApproval(_) | RunError::WrongKind { .. } => no_such_approval(),
            error => internal(&error),
        })
    }

    /// Whether a call of this tool could be one that a person is asked about.
    fn may_ask(&self, tool: &RegisteredTool) -> bool {
        tool.spec().permission() != Permission::Allow
            || self.assembly.run_file.policy.engine != PolicyEngineWord::Native
    }
}

/// A client as whoever sent a call: what it can be asked is what it said itself.
struct Client {
    peer: Arc<dyn Peer>,
    /// What a server wanted to ask, and the client did not say that it can be asked.
    lacks: OnceLock<String>,
}

impl Client {
    /// The answer; or, where a server gave up because this client could not be asked, what it has to declare. Servers from before
    /// 2026-07-28 are told of no request's capabilities: they find out by asking.
    fn explained(&self, answer: DirectAnswer) -> Result<DirectAnswer, RpcError> {
        let is_refused = answer.result.error.as_ref().is_some_and(result::is_refused);
        match self.lacks.get().filter(|_| is_refused && self.peer.version().era() == Era::Modern) {
            Some(capability) => Err(result::needs(capability)),
            None => Ok(answer),
        }
    }
}

impl Caller for Client {
    fn beside(&self) -> Option<Document> {
        self.peer.beside()
    }

    fn can_be_asked(&self) -> Document {
        let said = self.peer.capabilities();
        match self.peer.version().era() {
            Era::Modern => said.clone(),
            // It knows no tasks, and waits for its answer: the gate follows them in its place.
            Era::Legacy => {
                let tasks = Document::from_json_value(&json!({ key::TASKS: {} }));
                Edit::of(said.root()).with("extensions", tasks).document()
            }
        }
    }

    fn report(&self, report: Report) {
        self.peer.report(report);
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        Box::pin(async move {
            let answers = self.peer.ask(questions).await;
            if let Err(Unanswered::Cannot(capability)) = &answers {
                // The first is as good as any.
                let _ = self.lacks.set(capability.clone());
            }
            answers
        })
    }
}

/// The arguments as the gate reads them, where they can be read.
pub(super) fn parsed(text: &str) -> Option<Arguments> {
    Arguments::parse(text, Limits::ARGUMENTS).ok()
}

/// Hidden or not there: nobody can tell.
fn unknown_tool(name: &str) -> RpcError {
    const LONGEST: usize = 128;
    RpcError::invalid_params(format!("Unknown tool: {}", &name[..name.floor_char_boundary(LONGEST)]))
}

/// The client's own name for this request.
fn said_key(meta: Option<Node<'_>>) -> Result<Option<String>, RpcError> {
    const LONGEST: usize = 255;
    let Some(key) = meta.and_then(|meta| meta.get(KEY_IN_META)) else { return Ok(None) };
    let text = key
        .as_str()
        .filter(|key| (1..=LONGEST).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()));
    match text {
        Some(text) => Ok(Some(text.into_owned())),
        None => Err(RpcError::invalid_params(format!("`{KEY_IN_META}` is 1 to {LONGEST} visible ASCII characters"))),
    }
}
