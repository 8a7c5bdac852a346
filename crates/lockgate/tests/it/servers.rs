//! MCP servers that answer as a test says, without a process or a socket.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use lockgate::assembly::{Assembly, Overrides, Servers, open_journal};
use lockgate::config::RunFile;
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::ports::BoxFuture;
use lockgate::mcp::client::{ClientError, List, Listener, Listing, ServerFacts};
use lockgate::mcp::oauth::Confidant;
use lockgate::mcp::upstream::{Condition, Dial, Errand, Identity, Link, Settings};
use lockgate::mcp::wire::Version;
use lockgate::prelude::*;

/// Servers by name, each with the entries of its list. Each tool answers with the server's name and its own, as they were called.
#[derive(Default)]
pub(super) struct Echoes(pub(super) Mutex<BTreeMap<String, Vec<String>>>);

struct Echo {
    server: String,
    entries: Vec<String>,
    facts: ServerFacts,
    /// Kept for as long as the connection is there.
    _listener: Arc<dyn Listener>,
}

fn document(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

/// The entry of a tool without more.
pub(super) fn entry(name: &str) -> String {
    serde_json::json!({ "name": name, "inputSchema": { "type": "object" } }).to_string()
}

impl Dial for Echoes {
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        _identity: &'a Identity,
        listener: Arc<dyn Listener>,
        _: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>> {
        let server = settings.name.clone();
        let entries = self.0.lock().unwrap().get(&server).cloned();
        Box::pin(async move {
            let entries = entries.ok_or_else(|| ClientError::NotSent("there is no such program".to_owned()))?;
            let facts = ServerFacts {
                version: Version::NEWEST,
                capabilities: document(r#"{"tools":{}}"#),
                info: None,
                instructions: None,
            };
            Ok(Arc::new(Echo { server, entries, facts, _listener: listener }) as Arc<dyn Link>)
        })
    }
}

impl Link for Echo {
    fn server(&self) -> &ServerFacts {
        &self.facts
    }

    fn list(&self, _list: List) -> BoxFuture<'_, Result<Listing, ClientError>> {
        let items = self.entries.iter().map(|entry| document(entry)).collect();
        Box::pin(std::future::ready(Ok(Listing { items, ttl_ms: 0, warnings: Vec::new() })))
    }

    fn request(&self, errand: Errand) -> BoxFuture<'_, Result<Document, ClientError>> {
        let name = errand.params.root().get("name").unwrap().as_str().unwrap().into_owned();
        let text = format!("{}: {name}", self.server);
        let result = serde_json::json!({ "content": [{ "type": "text", "text": text }] });
        Box::pin(std::future::ready(Ok(Document::from_json_value(&result))))
    }

    fn watch<'a>(&'a self, _uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn unwatch<'a>(&'a self, _uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A run file with these servers, put together.
pub(super) async fn assembled(text: &str, servers: &[(&str, &[&str])]) -> Assembly {
    let tools = |tools: &[&str]| tools.iter().map(|name| entry(name)).collect();
    let echoes = servers.iter().map(|(name, names)| ((*name).to_owned(), tools(names))).collect();
    put_together(text, Arc::new(Echoes(Mutex::new(echoes)))).await.unwrap()
}

async fn put_together(text: &str, dial: Arc<dyn Dial>) -> Result<Assembly, lockgate::assembly::AssemblyError> {
    let path = Path::new("lockgate.toml");
    let file = RunFile::parse(path, text)?;
    let servers = Servers::start(&file, Path::new("/"), dial);
    servers.settled(&file).await?;
    let journal = Some(open_journal("memory:")?);
    Assembly::of(file, path, Overrides { journal, servers: Some(servers), ..Overrides::default() })
}

/// What a call of this name answers.
pub(super) async fn called(assembly: &Assembly, name: &str) -> String {
    let call = assembly.direct_call(name.to_owned(), "{}".to_owned());
    let answer = assembly.caller(RunnerOptions::default()).call(call).await.unwrap();
    let data = answer.result.data.unwrap_or_else(|| panic!("{:?}", answer.result.error));
    data.root().pointer("/content/0/text").unwrap().as_str().unwrap().into_owned()
}

fn table(name: &str) -> String {
    format!("[mcp.{name}]\ncommand = ['{name}']\npermission = 'allow'\n")
}

// agentgateway/agentgateway#962, #138, open-webui/mcpo#193
#[tokio::test]
async fn a_dead_server_is_said_and_stops_nothing_unless_it_must() {
    let text = format!("{}{}", table("alive"), table("dead"));
    let assembly = assembled(&text, &[("alive", &["a"])]).await;
    assert_eq!(called(&assembly, "alive__a").await, "alive: a");
    assert!(assembly.warnings.iter().any(|warning| warning.contains("`dead` is failed")), "{:?}", assembly.warnings);
    assert_eq!(assembly.servers.as_ref().unwrap().statuses()["dead"].state, Condition::Failed);
    let required = format!("{text}required = true\n");
    let error = put_together(&required, Arc::new(Echoes::default())).await.err().unwrap().to_string();
    assert!(error.contains("`dead`") && error.contains("no such program"), "{error}");
}

#[tokio::test]
async fn rules_about_a_server_s_tools_need_not_find_them() {
    let text = format!("[subject]\nversions = {{ dead__x = '1.0' }}\n{}", table("dead"));
    let assembly = put_together(&text, Arc::new(Echoes::default())).await.unwrap();
    assert!(assembly.warnings.iter().any(|warning| warning.contains("dead__x")), "{:?}", assembly.warnings);
    let misspelt = format!("[subject]\nversions = {{ daed__x = '1.0' }}\n{}", table("dead"));
    let error = put_together(&misspelt, Arc::new(Echoes::default())).await.err().unwrap().to_string();
    assert!(error.contains("daed__x"), "{error}");
}

#[tokio::test]
async fn a_tool_of_a_server_asks_until_somebody_says_otherwise() {
    let assembly = assembled("[mcp.s]\ncommand = ['s']\n", &[("s", &["a"])]).await;
    let call = assembly.direct_call("s__a".to_owned(), "{}".to_owned());
    let answer = assembly.caller(RunnerOptions::default()).call(call).await.unwrap();
    assert_eq!(answer.result.code().unwrap().word(), "approval_required");
}
