//! A service whose tools do what a test needs, and messages as clients send them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use lockgate_contract::document::{Document, Limits as TextLimits};
use lockgate_contract::ports::{BoxFuture, Report, Unanswered};
use lockgate_contract::subject::Subject;
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast};

use crate::server::http::{Body, Endpoint, Options};
use crate::server::{Asked, Change, Facts, Principal, Service, Subscription};
use crate::wire::{Mirrors, RpcError, code, key};

/// How long a test waits for what has to come.
pub(super) const SOON: Duration = Duration::from_secs(10);

pub(super) struct Fixture {
    pub(super) changes: broadcast::Sender<Change>,
    /// What was asked: the method, and the text of the parameters.
    pub(super) asked: Mutex<Vec<(String, String)>>,
    /// A tool was cancelled.
    pub(super) cancelled: Notify,
    /// A tool began.
    pub(super) began: Notify,
    /// Lets `hold` end.
    pub(super) release: Notify,
    /// What `tools/list` answers.
    pub(super) tools: Mutex<String>,
    /// Why the last question had no answer.
    pub(super) unanswered: Mutex<Option<Unanswered>>,
    pub(super) capabilities: Value,
    /// Who listens to resources now: the parameters by which they said so.
    pub(super) listeners: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    pub(super) fn new() -> Arc<Self> {
        Self::with(json!({
            "tools": {"listChanged": true}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true}, "logging": {}, "extensions": {key::TASKS: {}},
        }))
    }

    pub(super) fn with(capabilities: Value) -> Arc<Self> {
        Arc::new(Self {
            changes: broadcast::channel(16).0,
            asked: Mutex::default(),
            cancelled: Notify::new(),
            began: Notify::new(),
            release: Notify::new(),
            tools: Mutex::new(r#"{"tools":[]}"#.to_owned()),
            unanswered: Mutex::default(),
            capabilities,
            listeners: Arc::default(),
        })
    }

    pub(super) fn asked(&self, method: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(asked, _)| asked == method).map(|(_, params)| params.clone()).collect()
    }

    async fn tool(&self, name: &str, asked: &Asked) -> Result<Document, RpcError> {
        let form = |message: &str| json!({"method": "elicitation/create", "params": {"message": message}});
        let peer = &asked.peer;
        match name {
            // Not as any writer here would write it.
            "echo" => {
                let arguments = asked.params.root().get("arguments").map_or("{}", |arguments| arguments.raw());
                Ok(document(&format!(
                    r#"{{"content":[], "structuredContent":{arguments}, "unknown" : 1.10, "_meta":{{"example.com/a":1e2,"io.modelcontextprotocol/serverInfo":{{"name":"upstream"}}}}}}"#
                )))
            }
            "progress" => {
                for done in 1..=3 {
                    let message = Some("at work".to_owned());
                    peer.report(Report::Progress { progress: Document::integer(done), total: None, message });
                }
                Ok(said("done"))
            }
            "chatter" => {
                for done in 0..100_000 {
                    peer.report(Report::Progress { progress: Document::integer(done), total: None, message: None });
                }
                Ok(said("done"))
            }
            "log" => {
                for level in ["debug", "info", "error"] {
                    let log = json!({"level": level, "data": format!("a word at {level}")});
                    peer.report(Report::Log(Document::from_json_value(&log)));
                }
                Ok(said("done"))
            }
            "ask" => self.answered(peer.ask(Document::from_json_value(&json!({"name": form("Who?")}))).await),
            "ask_two" => {
                let questions = json!({"name": form("Who?"), "color": form("Which color?")});
                self.answered(peer.ask(Document::from_json_value(&questions)).await)
            }
            "ask_again" => {
                peer.ask(Document::from_json_value(&json!({"first": form("First?")}))).await.unwrap();
                self.answered(peer.ask(Document::from_json_value(&json!({"second": form("Second?")}))).await)
            }
            "ask_by_url" => {
                let question = json!({"method": "elicitation/create", "params": {
                    "mode": "url", "message": "Look.", "url": "https://example.com/a",
                }});
                self.answered(peer.ask(Document::from_json_value(&json!({"page": question}))).await)
            }
            "ask_model" => {
                let question = json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
                self.answered(peer.ask(Document::from_json_value(&json!({"model": question}))).await)
            }
            "wait" => {
                self.began.notify_one();
                peer.cancel().cancelled().await;
                // What ends here was polled on after nobody waited.
                tokio::task::yield_now().await;
                self.cancelled.notify_one();
                Ok(said("cancelled"))
            }
            "hold" => {
                self.began.notify_one();
                self.release.notified().await;
                Ok(said("released"))
            }
            "panic" => panic!("as it was told"),
            "task" => Ok(document(r#"{"resultType":"task","taskId":"t-1","status":"working"}"#)),
            "fail" => Ok(document(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#)),
            "beside" => Ok(peer.beside().unwrap()),
            "who" => {
                let principal = peer.principal();
                Ok(said(&format!("{} {}", principal.credential, peer.version().word())))
            }
            _ => Err(RpcError::invalid_params("there is no such tool")),
        }
    }

    fn answered(&self, answers: Result<Document, Unanswered>) -> Result<Document, RpcError> {
        match answers {
            Ok(answers) => Ok(said(answers.text())),
            Err(why) => {
                *self.unanswered.lock().unwrap() = Some(why.clone());
                self.cancelled.notify_one();
                Err(RpcError::new(code::MISSING_CAPABILITY, why.to_string()))
            }
        }
    }
}

/// Somebody who listens to a resource.
struct Listener {
    params: String,
    listeners: Arc<Mutex<Vec<String>>>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listeners = self.listeners.lock().unwrap();
        let own = listeners.iter().position(|params| *params == self.params).unwrap();
        listeners.remove(own);
    }
}

/// A resource of everybody's changed.
pub(super) fn updated(params: &str) -> Change {
    Change::Resource { params: document(params), user: None }
}

impl Service for Fixture {
    fn facts(&self, _: &Principal) -> Facts {
        Facts {
            capabilities: Document::from_json_value(&self.capabilities),
            info: document(r#"{"name":"fixture","version":"1"}"#),
            instructions: Some("Be kind.".to_owned()),
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'_, Result<Document, RpcError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push((asked.method.clone(), asked.params.text().to_owned()));
            match asked.method.as_str() {
                "tools/call" => {
                    let name = asked.params.root().get("name").unwrap().as_str().unwrap().into_owned();
                    self.tool(&name, &asked).await
                }
                "tools/list" => Ok(document(&self.tools.lock().unwrap())),
                "resources/read" => Ok(document(r#"{"contents":[],"ttlMs":500,"cacheScope":"public"}"#)),
                "prompts/list" => Ok(document(r#"{"prompts":[]}"#)),
                "tasks/get" if !asked.params.text().contains("t-1") => Err(RpcError::invalid_params("no such task")),
                "tasks/get" => Ok(document(r#"{"taskId":"t-1","status":"working"}"#)),
                _ => Ok(Document::empty_object()),
            }
        })
    }

    fn subscribe(&self, asked: Asked) -> BoxFuture<'_, Result<Subscription, RpcError>> {
        Box::pin(async move {
            let params = asked.params.text().to_owned();
            self.asked.lock().unwrap().push((asked.method, params.clone()));
            if params.contains("secret") {
                return Err(RpcError::invalid_params("there is no such resource"));
            }
            self.listeners.lock().unwrap().push(params.clone());
            Ok(Subscription::new(Listener { params, listeners: Arc::clone(&self.listeners) }))
        })
    }

    fn mirrors(&self, _: &Principal, tool: &str) -> Option<Arc<Mirrors>> {
        let schema = document(
            r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
                "options":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"}}}}}"#,
        );
        (tool == "echo").then(|| Arc::new(Mirrors::of(schema.root()).unwrap().unwrap()))
    }

    fn changes(&self, _: &Principal) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

pub(super) fn document(text: &str) -> Document {
    Document::parse(text, TextLimits::OWN).unwrap()
}

fn said(text: &str) -> Document {
    Document::from_json_value(&json!({"content": [{"type": "text", "text": text}]}))
}

pub(super) fn principal(credential: &str) -> Principal {
    Principal { subject: Arc::new(Subject::default()), credential: credential.to_owned(), run: None, until: None }
}

pub(super) fn endpoint(fixture: &Arc<Fixture>) -> Endpoint {
    endpoint_with(fixture, Options::default())
}

pub(super) fn endpoint_with(fixture: &Arc<Fixture>, options: Options) -> Endpoint {
    Endpoint::new(Arc::clone(fixture) as _, options).unwrap()
}

/// The `_meta` of a modern request from a client that can do all that can be asked of one.
pub(super) fn meta() -> Value {
    json!({
        key::PROTOCOL_VERSION: "2026-07-28",
        key::CLIENT_CAPABILITIES: {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
    })
}

/// The parameters of a modern request.
pub(super) fn modern(mut params: Value) -> Value {
    let mut whole = meta();
    if let Some(given) = params.get("_meta") {
        whole.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
    }
    params["_meta"] = whole;
    params
}

/// The parameters of a modern `tools/call` without arguments.
pub(super) fn tool(name: &str) -> Value {
    modern(json!({"name": name}))
}

/// A modern request with the headers that belong to it.
pub(super) fn request(method: &str, params: &Value) -> Request<Body> {
    let mut request = plain(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    headers.insert("mcp-method", method.parse().unwrap());
    let name = ["name", "uri", "taskId"].iter().find_map(|member| params[member].as_str());
    if let Some(name) = name {
        headers.insert("mcp-name", name.parse().unwrap());
    }
    request
}

/// A message, with what every request has.
pub(super) fn plain(message: &Value) -> Request<Body> {
    Request::post("/mcp")
        .header("host", "127.0.0.1:8377")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::from(message.to_string()))
        .unwrap()
}

/// A whole response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl Reply {
    pub(super) async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = tokio::time::timeout(SOON, body.collect()).await.expect("it ends").unwrap().to_bytes();
        Self { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The messages of a stream.
    pub(super) fn messages(&self) -> Vec<Value> {
        let data =
            self.text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.trim().is_empty());
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    pub(super) fn is_stream(&self) -> bool {
        self.headers["content-type"] == "text/event-stream"
    }

    /// The error's code.
    pub(super) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

/// Sends a request and reads the whole response.
pub(super) async fn send(endpoint: &Endpoint, request: Request<Body>) -> Reply {
    Reply::of(endpoint.answer(request, principal("anna")).await).await
}

/// The next message of a stream that goes on.
pub(super) async fn next(body: &mut Body) -> Option<Value> {
    loop {
        let frame = tokio::time::timeout(SOON, body.frame()).await.expect("something comes")?;
        let bytes = frame.unwrap().into_data().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let data = text.lines().find_map(|line| line.strip_prefix("data: ")).filter(|data| !data.trim().is_empty());
        if let Some(data) = data {
            return Some(serde_json::from_str(data).unwrap());
        }
    }
}
