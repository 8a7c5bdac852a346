//! A gateway over servers that answer as they are written here, and clients that do what a test says.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate::assembly::{Assembly, Overrides, Servers, open_journal};
use lockgate::config::RunFile;
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::ports::{BoxFuture, Caller, Journal, Report, Unanswered};
use lockgate::contract::subject::Subject;
use lockgate_mcp::client::{ClientError, Event, List, Listener, Listing, ServerFacts};
use lockgate_mcp::oauth::Confidant;
use lockgate_mcp::server::{Asked, Peer, Principal, Service as _, Subscription};
use lockgate_mcp::upstream::{Dial, Errand, Identity, Link, Settings};
use lockgate_mcp::wire::{RpcError, Version, code};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::{Gateway, GatewayOptions};

pub(super) fn document(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

/// What each server lists.
pub(super) fn tools() -> Vec<Document> {
    [
        r#"{"name":"echo","title":"Echo","description":"Says it again.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"a/b":1.50},"unknown":null}"#,
        r#"{"name":"fail","inputSchema":{"type":"object"}}"#,
        r#"{"name":"can","inputSchema":{"type":"object"}}"#,
        r#"{"name":"asks_the_model","inputSchema":{"type":"object"}}"#,
        r#"{"name":"asks_later","inputSchema":{"type":"object"}}"#,
        r#"{"name":"broken","description":"","inputSchema":{"type":"object"}}"#,
        r#"{"name":"hang","inputSchema":{"type":"object"}}"#,
        r#"{"name":"links","inputSchema":{"type":"object"}}"#,
    ]
    .map(document)
    .to_vec()
}

/// What each server writes among its messages.
pub(super) const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

struct Servant {
    server: String,
    facts: ServerFacts,
    entered: Arc<AtomicUsize>,
    watched: Arc<Mutex<Vec<String>>>,
    /// Kept for as long as the connection is there.
    _listener: Arc<dyn Listener>,
}

struct Servants(Arc<AtomicUsize>, Arc<Mutex<Vec<String>>>);

impl Dial for Servants {
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        _identity: &'a Identity,
        listener: Arc<dyn Listener>,
        _: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>> {
        let facts = ServerFacts {
            version: Version::NEWEST,
            capabilities: document(r#"{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{}}"#),
            info: None,
            instructions: Some(format!("how to use {}", settings.name)),
        };
        listener.heard(Event::Noise(format!("starting with the token {SECRET}")));
        let (entered, watched) = (Arc::clone(&self.0), Arc::clone(&self.1));
        let servant = Servant { server: settings.name.clone(), facts, entered, watched, _listener: listener };
        Box::pin(std::future::ready(Ok(Arc::new(servant) as Arc<dyn Link>)))
    }
}

impl Servant {
    /// A server from before 2026-07-28: it finds out by asking.
    async fn asking(errand: &Errand) -> Result<Document, ClientError> {
        let params = json!({ "messages": [], "maxTokens": 1 });
        let question = json!({ "question": { "method": "sampling/createMessage", "params": params } });
        let caller = errand.caller.as_ref().unwrap();
        match caller.ask(Document::from_json_value(&question)).await {
            Ok(_) => Ok(Document::from_json_value(&json!({ "content": [] }))),
            Err(_) => Err(RpcError::method_not_found("sampling/createMessage").into()),
        }
    }

    /// Takes its time, and then asks two things.
    async fn asking_later(errand: &Errand) -> Result<Document, ClientError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let form = json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "Which?" } });
        let questions = Document::from_json_value(&json!({ "first": form, "second": form }));
        match errand.caller.as_ref().unwrap().ask(questions).await {
            Ok(answers) => {
                Ok(Document::from_json_value(&json!({ "content": [], "structuredContent": answers.to_json_value() })))
            }
            Err(_) => Err(ClientError::Cancelled),
        }
    }

    fn answer(&self, errand: &Errand) -> Result<Document, ClientError> {
        let said = |pointer: &str| {
            errand.params.root().pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default().into_owned()
        };
        let value = match (errand.method, said("/name").as_str()) {
            ("tools/call", "echo") => {
                self.entered.fetch_add(1, Ordering::SeqCst);
                let text = said("/arguments/text");
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "text": text }, "_meta": { "x/y": [1] } })
            }
            ("tools/call", "fail") => json!({ "content": [{ "type": "text", "text": "it failed" }], "isError": true }),
            ("tools/call", "links") => {
                let link = json!({ "type": "resource_link", "uri": "test://a", "name": "a" });
                let embedded = json!({ "type": "resource", "resource": { "uri": "test://b", "text": "b" } });
                json!({ "content": [link, embedded], "isError": said("/arguments/fails") == "yes" })
            }
            ("tools/call", "can") => {
                let can = errand.caller.as_ref().unwrap().can_be_asked().to_json_value();
                json!({ "content": [], "structuredContent": can })
            }
            ("tools/call", "broken") if !errand.params.root().get("arguments").unwrap().is_empty() => {
                let code = errand.params.root().pointer("/arguments/code").unwrap().decode().unwrap();
                return Err(RpcError::new(code, "out of order").into());
            }
            ("tools/call", _) => return Err(RpcError::new(code::INTERNAL_ERROR, "out of order").into()),
            ("completion/complete", _) => {
                let value = format!("{} {SECRET}", said("/argument/value"));
                json!({ "completion": { "values": [value], "of": said("/ref/uri") } })
            }
            ("resources/read", _) if said("/uri") == "test://gone" => {
                return Err(RpcError::new(code::RESOURCE_NOT_FOUND, "gone").into());
            }
            ("resources/read", _) => {
                let uri = said("/uri");
                json!({ "contents": [{ "uri": uri, "text": format!("of {uri}"), "server": self.server }] })
            }
            (_, name) => {
                let link = json!({ "type": "resource_link", "uri": "test://a", "name": "a" });
                let messages = json!([{ "role": "user", "content": link }]);
                json!({ "description": format!("{name} {}", said("/arguments/who")), "messages": messages })
            }
        };
        Ok(Document::from_json_value(&value))
    }
}

impl Link for Servant {
    fn server(&self) -> &ServerFacts {
        &self.facts
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, ClientError>> {
        let items = match list {
            List::Tools => tools(),
            List::Resources => vec![document(r#"{"uri":"test://a","name":"a"}"#)],
            List::ResourceTemplates => Vec::new(),
            List::Prompts => vec![document(r#"{"name":"greet"}"#)],
        };
        Box::pin(std::future::ready(Ok(Listing { items, ttl_ms: 0, warnings: Vec::new() })))
    }

    fn request(&self, errand: Errand) -> BoxFuture<'_, Result<Document, ClientError>> {
        Box::pin(async move {
            let name = errand.params.root().get("name").and_then(|name| name.as_str());
            match name.as_deref() {
                Some("asks_the_model") => Self::asking(&errand).await,
                Some("hang") => std::future::pending().await,
                Some("asks_later") => Self::asking_later(&errand).await,
                _ => self.answer(&errand),
            }
        })
    }

    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        self.watched.lock().unwrap().push(format!("+{uri}"));
        Box::pin(std::future::ready(Ok(())))
    }

    fn unwatch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        self.watched.lock().unwrap().push(format!("-{uri}"));
        Box::pin(std::future::ready(Ok(())))
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A gateway, and what is behind it.
pub(super) struct World {
    pub(super) gateway: Arc<Gateway>,
    pub(super) journal: Arc<dyn Journal>,
    entered: Arc<AtomicUsize>,
    /// Of which resources the servers were told to tell (`+`), and no more (`-`).
    pub(super) watched: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub(super) async fn new(text: &str) -> Self {
        Self::with(text, false).await
    }

    pub(super) async fn with(text: &str, approve_in_client: bool) -> Self {
        Self::over(open_journal("memory:").unwrap(), text, approve_in_client).await
    }

    /// As another process finds what this one left.
    pub(super) async fn gateway_over_the_same_journal(&self) -> Self {
        Self::over(Arc::clone(&self.journal), "[mcp.s]\ncommand = ['s']\n", false).await
    }

    async fn over(journal: Arc<dyn Journal>, text: &str, approve_in_client: bool) -> Self {
        let path = Path::new("lockgate.toml");
        let file = RunFile::parse(path, text).unwrap();
        let (entered, watched) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<String>>>::default());
        let servers =
            Servers::start(&file, Path::new("/"), Arc::new(Servants(Arc::clone(&entered), Arc::clone(&watched))));
        servers.settled(&file).await.unwrap();
        let overrides =
            Overrides { journal: Some(Arc::clone(&journal)), servers: Some(servers), ..Overrides::default() };
        let assembly = Assembly::of(file, path, overrides).unwrap();
        let public_url = Some("http://127.0.0.1:8377".to_owned());
        let gateway = Gateway::new(assembly, GatewayOptions { public_url, approve_in_client });
        Self { gateway, journal, entered, watched }
    }

    #[expect(clippy::unused_self, reason = "it belongs to the others")]
    pub(super) fn principal(&self) -> Principal {
        Principal { subject: Arc::new(Subject::default()), credential: "test".to_owned(), run: None, until: None }
    }

    /// How often a call reached the tool that counts them.
    pub(super) fn entered(&self) -> usize {
        self.entered.load(Ordering::SeqCst)
    }

    pub(super) async fn ask(&self, client: &Client, method: &str, params: &str) -> Result<Document, RpcError> {
        self.gateway.answer(self.asked(client, method, params)).await
    }

    pub(super) async fn subscribe(&self, client: &Client, uri: &str) -> Result<Subscription, RpcError> {
        let params = json!({ "uri": uri }).to_string();
        self.gateway.subscribe(self.asked(client, "resources/subscribe", &params)).await
    }

    fn asked(&self, client: &Client, method: &str, params: &str) -> Asked {
        let peer = TestPeer {
            principal: self.principal(),
            capabilities: document(client.capabilities),
            cancel: CancellationToken::new(),
            client: client.clone(),
        };
        Asked { method: method.to_owned(), params: document(params), peer: Arc::new(peer) }
    }

    pub(super) async fn call(&self, client: &Client, name: &str, arguments: &str) -> Result<Document, RpcError> {
        self.ask(client, "tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#)).await
    }
}

/// What a client can do, and what it answers.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) capabilities: &'static str,
    pub(super) version: Version,
    pub(super) accepts: bool,
    pub(super) content: &'static str,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
}

impl Default for Client {
    fn default() -> Self {
        Self { capabilities: "{}", version: Version::NEWEST, accepts: false, content: "{}", asked: Arc::default() }
    }
}

struct TestPeer {
    principal: Principal,
    capabilities: Document,
    cancel: CancellationToken,
    client: Client,
}

impl Caller for TestPeer {
    fn beside(&self) -> Option<Document> {
        None
    }

    fn report(&self, _report: Report) {}

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        let wants_model = questions.text().contains("sampling/createMessage");
        if wants_model && self.capabilities.root().get("sampling").is_none() {
            return Box::pin(std::future::ready(Err(Unanswered::Cannot("sampling".to_owned()))));
        }
        self.client.asked.lock().unwrap().push(questions.text().to_owned());
        let action = if self.client.accepts { "accept" } else { "decline" };
        let content: serde_json::Value = serde_json::from_str(self.client.content).unwrap();
        let answers = json!({ "approval": { "action": action, "content": content } });
        Box::pin(std::future::ready(Ok(Document::from_json_value(&answers))))
    }
}

impl Peer for TestPeer {
    fn principal(&self) -> &Principal {
        &self.principal
    }

    fn version(&self) -> Version {
        self.client.version
    }

    fn capabilities(&self) -> &Document {
        &self.capabilities
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
