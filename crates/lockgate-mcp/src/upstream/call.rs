//! What is behind a server's tool: its call goes to the server, under the server's own name for it, through the subject's connection.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::effect::{Effect, EffectState, ReplayPolicy};
use lockgate_contract::ports::{BoxFuture, Caller, Report, Unanswered};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext, ToolEnvironmentError, ToolExecutionError};
use serde_json::json;

use super::link::Errand;
use super::logging_in::{LoggingIn, NoLink};
use super::server::{Door, Upstream};
use super::settings::KeyGoes;
use super::tools::CallOf;
use crate::client::{ClientError, Patience};
use crate::wire::{Edit, RpcError, code, is_reserved, key, without_reserved};

/// Where a call's idempotency key stands in `_meta`, for servers that know Lockgate.
pub const KEY_IN_META: &str = "dev.lockgate/idempotency-key";
/// The code of what a server reports as its tool's failure (`isError`).
pub const TOOL_FAILED: &str = "tool_failed";
/// The code of what a server answers with an error of the protocol.
pub const SERVER_REFUSED: &str = "server_refused";

/// The handler of one tool.
pub(super) fn handler(door: Door, call: CallOf) -> Handler {
    let call = Arc::new(call);
    Handler::untyped(move |arguments, context| {
        let (door, call) = (door.clone(), Arc::clone(&call));
        async move { run(&door.upstream()?, &call, &arguments, context).await }
    })
}

async fn run(
    upstream: &Arc<Upstream>,
    call: &CallOf,
    arguments: &Arguments,
    context: ToolContext,
) -> Result<Output, Failure> {
    let settings = upstream.settings();
    let mut logging_in = LoggingIn::new(&settings.name, context.caller(), &context.cancel);
    loop {
        let url = match attempt(upstream, call, arguments, &context).await {
            Attempt::Done(result) => return result,
            Attempt::Login(url) => url,
        };
        if !logging_in.is_worth_another_try(&url).await {
            return Err(NoLink::Login(url).failure(&settings.name));
        }
    }
}

/// What came of sending a call once.
enum Attempt {
    Done(Result<Output, Failure>),
    /// Nothing: the subject has to log in at this URL first.
    Login(String),
}

async fn attempt(upstream: &Arc<Upstream>, call: &CallOf, arguments: &Arguments, context: &ToolContext) -> Attempt {
    let settings = upstream.settings();
    let link = match upstream.link_for(context.subject()).await {
        Ok(link) => link,
        Err(NoLink::Login(url)) => return Attempt::Login(url),
        Err(no_link) => return Attempt::Done(Err(no_link.failure(&settings.name))),
    };
    let key = Document::string(&context.idempotency_key.to_string());
    let sent = match &settings.key {
        KeyGoes::Nowhere => arguments.document().clone(),
        KeyGoes::Argument(name) => Edit::of(arguments.root()).with(name, key.clone()).document(),
    };
    let beside = context.caller().and_then(|caller| caller.beside());
    let beside = beside.as_ref().map_or_else(Edit::new, |beside| {
        let mut passed_on = Edit::of(beside.root());
        passed_on.retain(|name| !is_reserved(name) && !is_ours(name));
        passed_on
    });
    let idle = settings.idle_timeout.unwrap_or(call.timeout).min(call.timeout);
    let cancel = context.cancel.clone();
    let errand = Errand {
        method: "tools/call",
        params: Edit::new().with("name", Document::string(&call.raw)).with("arguments", sent).document(),
        beside: Some(beside.with(KEY_IN_META, key).document()),
        caller: Some(context.caller().cloned().unwrap_or_else(|| Arc::new(ToProgress(context.clone())))),
        cancel: cancel.clone(),
        patience: Patience { idle, absolute: call.timeout },
        mirrors: call.mirrors.clone(),
    };
    match link.request(errand).await {
        Ok(result) => Attempt::Done(output(call, &result)),
        Err(ClientError::AuthorizationNeeded { url }) => Attempt::Login(url),
        // Whoever cancelled settles the call: this is no answer of the server's.
        Err(ClientError::Cancelled) if cancel.is_cancelled() => std::future::pending().await,
        Err(error) => {
            if is_unknown_tool(&error) {
                upstream.look_again();
            }
            Attempt::Done(Err(failure(&settings.name, call.effect, call.replay, error)))
        }
    }
}

/// Whether a member of `_meta` is Lockgate's own: what a client says there is for this gate.
fn is_ours(name: &str) -> bool {
    name.starts_with("dev.lockgate/")
}

/// The server's result: the data of the call, or its failure.
fn output(call: &CallOf, result: &Document) -> Result<Output, Failure> {
    let root = result.root();
    if root.kind() != Kind::Object {
        return Err(lost(call.effect, call.replay, "the server's result is no object".to_owned()));
    }
    let result = without_the_hop(root);
    let root = result.root();
    if root.get("isError").and_then(|failed| failed.as_bool()) != Some(true) {
        return Ok(Output::new(result));
    }
    let text = first_text(root).unwrap_or_else(|| "the server reports a failure".to_owned());
    Err(ToolExecutionError::new(TOOL_FAILED, text).effect_state(answered(call.effect)).details(result).into())
}

/// A result without what belongs to the hop from the server.
pub(super) fn without_the_hop(result: Node<'_>) -> Document {
    let mut rest = Edit::of(result).without("resultType");
    match result.get("_meta").map(|meta| (meta.kind(), without_reserved(meta))) {
        Some((Kind::Object, Some(meta))) => rest = rest.with("_meta", meta),
        Some((Kind::Object, None)) => rest = rest.without("_meta"),
        Some(_) | None => {}
    }
    rest.document()
}

/// What is known of the world where the server answered with a failure, whatever it is called: nobody vouches that nothing happened.
/// Tools raise any of the protocol's errors while they run, and servers that wrap others pass on theirs.
fn answered(effect: Effect) -> EffectState {
    if effect.changes_something() { EffectState::Done } else { EffectState::None }
}

fn first_text(result: Node<'_>) -> Option<String> {
    const LONGEST: usize = 2048;
    let text = result.get("content")?.elements().find_map(|block| block.get("text")?.as_str())?;
    Some(text[..text.floor_char_boundary(LONGEST)].to_owned())
}

/// What an error of the connection means for the call.
pub(super) fn failure(server: &str, effect: Effect, replay: ReplayPolicy, error: ClientError) -> Failure {
    let nothing = |words: String| Failure::from(ToolEnvironmentError::new(words).nothing_happened());
    match error {
        ClientError::NotSent(why) => nothing(format!("server `{server}`: {why}")),
        ClientError::Unauthorized { .. } => nothing(auth_required(server)),
        ClientError::AuthorizationNeeded { url } => NoLink::Login(url).failure(server),
        ClientError::Server(error) => refused(server, answered(effect), &error),
        ClientError::Refused(error) => refused(server, EffectState::None, &error),
        error @ (ClientError::Lost(_)
        | ClientError::TimedOut { .. }
        | ClientError::Cancelled
        | ClientError::Invalid(_)) => lost(effect, replay, format!("server `{server}`: {error}")),
    }
}

/// The subject has no credential that the server takes.
pub(super) fn auth_required(server: &str) -> String {
    format!(
        "auth_required: server `{server}` has no credential for this subject, or takes the one that it has no longer"
    )
}

/// The request was sent, and what became of it is not known.
fn lost(effect: Effect, replay: ReplayPolicy, words: String) -> Failure {
    if replay == ReplayPolicy::Never && effect.changes_something() {
        return Failure::OutcomeUnknown { message: words };
    }
    let error = ToolEnvironmentError::new(words);
    if effect.changes_something() { error.into() } else { error.nothing_happened().into() }
}

/// The server answered with an error of the protocol.
fn refused(server: &str, state: EffectState, error: &RpcError) -> Failure {
    let words = format!("server `{server}` refused it: {}", error.message);
    let details = Document::from_serialize(error).ok();
    let failure = ToolExecutionError::new(SERVER_REFUSED, words).effect_state(state);
    match details {
        Some(details) => failure.details(details).into(),
        None => failure.into(),
    }
}

fn is_unknown_tool(error: &ClientError) -> bool {
    let ClientError::Server(error) = error else { return false };
    error.code == code::INVALID_PARAMS && error.message.to_ascii_lowercase().contains("tool")
}

/// A call that nobody can be asked about: what it reports is shown as progress.
struct ToProgress(ToolContext);

impl Caller for ToProgress {
    fn beside(&self) -> Option<Document> {
        None
    }

    /// Nothing; but the call is waited for, however the server takes it.
    fn can_be_asked(&self) -> Document {
        Document::from_json_value(&json!({ "extensions": { key::TASKS: {} } }))
    }

    fn report(&self, report: Report) {
        if let Report::Progress { message: Some(words), .. } = report {
            self.0.progress(&words);
        }
    }

    fn ask(&self, _questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        Box::pin(std::future::ready(Err(Unanswered::Cannot("elicitation".to_owned()))))
    }
}

#[cfg(test)]
mod tests;
