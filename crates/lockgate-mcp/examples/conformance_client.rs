//! The client that the official conformance suite tests (`conformance client --command conformance_client`): it reaches the URL that it
//! is given, lists what is there, calls it, and ends.
//!
//! The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`, the version in `MCP_CONFORMANCE_PROTOCOL_VERSION`, and what the scenario
//! has to say besides in `MCP_CONFORMANCE_CONTEXT`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::{Document, Limits, Node};
use lockgate_contract::ports::{BoxFuture, Caller, Report, Unanswered};
use lockgate_host::clock::SystemClock;
use lockgate_mcp::client::{
    ClientError, Connection, Endpoint, Event, List, Listener, Options, Outgoing, Patience, Transport,
};
use lockgate_mcp::oauth::{
    Authorizer, Flow, Grant, NobodyListens, OAuthError, Owner, Parts, Proof, Registered, Secret, Settings, UserAgent,
    Vault,
};
use lockgate_mcp::wire::{Era, Mirrors};
use reqwest::Url;
use serde_json::{Map, Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("{error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let version = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let options = Options {
        era: Some(if version.as_str() >= "2026-07-28" { Era::Modern } else { Era::Legacy }),
        capabilities: Document::from_json_value(&json!({ "elicitation": { "form": {} } })),
        ..Options::new("lockgate-conformance-client", env!("CARGO_PKG_VERSION"))
    };
    let authorizer = Authorizer::open(Parts {
        upstream: "conformance".to_owned(),
        server: url.clone(),
        owner: Owner { tenant: "conformance".to_owned(), user: "nobody".to_owned() },
        settings: settings(&scenario, &context, &url).await?,
        vault: Arc::new(Vault::in_memory()),
        agent: Some(Arc::new(Obedient)),
        clock: Arc::new(SystemClock),
        confidant: Arc::new(NobodyListens),
    });
    let endpoint = Endpoint { url, headers: Vec::new(), tokens: Some(Arc::new(authorizer.await?)) };
    let connection = Connection::open(Transport::Http(endpoint), options, Arc::new(Teller)).await?;
    let result = visit(&connection, &scenario, &context).await;
    connection.close().await;
    result
}

/// What the scenario says about who we are.
async fn settings(scenario: &str, context: &Value, server: &str) -> Result<Settings, Box<dyn std::error::Error>> {
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let proof = match (text("client_secret"), text("private_key_pem")) {
        (Some(secret), _) => Proof::Secret(Secret::new(secret)),
        (None, Some(key)) => Proof::Key(Secret::new(key)),
        (None, None) => Proof::Nothing,
    };
    let is_machine = scenario.starts_with("auth/client-credentials");
    Ok(Settings {
        // An operator would know whom they registered at; here the server is asked, before it refused anything.
        issuer: if is_machine { Some(issuer_of(server).await?) } else { text("issuer") },
        client: text("client_id").map(|id| Registered { id, proof }),
        client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
        grant: if is_machine { Grant::ClientCredentials } else { Grant::AuthorizationCode },
        ..Settings::default()
    })
}

async fn issuer_of(server: &str) -> Result<String, Box<dyn std::error::Error>> {
    let mut url = Url::parse(server)?;
    url.set_path(&format!("/.well-known/oauth-protected-resource{}", url.path()));
    let answer = lockgate_host::http::client(&url, Duration::from_secs(5))?.get(url).send().await?;
    let metadata: Value = serde_json::from_str(&answer.text().await?)?;
    Ok(metadata["authorization_servers"][0].as_str().unwrap_or_default().to_owned())
}

/// Asks for all that there is, as far as the server says that there is any, and for what the scenario wants.
async fn visit(connection: &Connection, scenario: &str, context: &Value) -> Result<(), Box<dyn std::error::Error>> {
    let tools = connection.list(List::Tools).await?;
    for warning in &tools.warnings {
        tell(warning);
    }
    if scenario == "json-schema-ref-no-deref" {
        return Ok(());
    }
    if let Some(calls) = context.get("toolCalls").and_then(Value::as_array) {
        for asked in calls {
            let name = asked["name"].as_str().unwrap_or_default();
            let tool = tools
                .items
                .iter()
                .find(|tool| tool.root().get("name").and_then(|name| name.as_str()).as_deref() == Some(name));
            let tool = tool.ok_or_else(|| format!("there is no tool `{name}`"))?;
            call(connection, tool, asked["arguments"].clone()).await?;
        }
        return Ok(());
    }
    for tool in &tools.items {
        let arguments = arguments(tool, &tools.items)?;
        call(connection, tool, arguments).await?;
    }
    let has = |name: &str| connection.server().capabilities.root().get(name).is_some();
    if has("resources") {
        for resource in connection.list(List::Resources).await?.items {
            read(connection, resource.root()).await?;
        }
    }
    if has("prompts") {
        for prompt in connection.list(List::Prompts).await?.items {
            let name = prompt.root().get("name").and_then(|name| name.as_str()).unwrap_or_default();
            request(connection, "prompts/get", json!({ "name": name }), None).await?;
        }
    }
    Ok(())
}

async fn read(connection: &Connection, resource: Node<'_>) -> Result<(), ClientError> {
    let uri = resource.get("uri").and_then(|uri| uri.as_str()).unwrap_or_default();
    request(connection, "resources/read", json!({ "uri": uri }), None).await
}

async fn call(connection: &Connection, tool: &Document, arguments: Value) -> Result<(), Box<dyn std::error::Error>> {
    let name = tool.root().get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let mirror = tool.root().get("inputSchema").map(Mirrors::of).transpose()?.flatten();
    request(connection, "tools/call", json!({ "name": name, "arguments": arguments }), mirror.as_ref()).await?;
    Ok(())
}

async fn request(
    connection: &Connection,
    method: &str,
    params: Value,
    mirror: Option<&Mirrors>,
) -> Result<(), ClientError> {
    let patience = Patience { idle: Duration::from_secs(20), absolute: Duration::from_secs(25) };
    let params = Document::from_json_value(&params);
    let caller: Arc<dyn Caller> = Arc::new(Headless);
    let asked = Outgoing { caller: Some(caller), mirror, ..Outgoing::new(method, params, patience) };
    match connection.request(asked).await {
        Ok(result) => tell(&format!("{method}: {result}")),
        // What a server answers an unlucky guess with is an answer.
        Err(ClientError::Server(error)) => tell(&format!("{method}: {error}")),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Arguments that fit a tool's schema, made from its properties' types.
fn arguments(tool: &Document, tools: &[Document]) -> Result<Value, Box<dyn std::error::Error>> {
    let name =
        |tool: &Document| tool.root().get("name").and_then(|name| name.as_str()).unwrap_or_default().into_owned();
    if name(tool) == "json_schema_echo" {
        let described = tools.iter().find(|tool| name(tool) == "json_schema_2020_12_tool");
        let schema = described.and_then(|tool| tool.root().get("inputSchema").map(|schema| schema.to_json_value()));
        return Ok(json!({ "schema": schema.ok_or("there is no schema to echo")? }));
    }
    let mut arguments = Map::new();
    let properties = tool.root().get("inputSchema").and_then(|schema| schema.get("properties"));
    for (property, schema) in properties.into_iter().flat_map(|properties| properties.members()) {
        arguments.insert(property.into_owned(), sample(schema));
    }
    Ok(Value::Object(arguments))
}

fn sample(schema: Node<'_>) -> Value {
    let kind = schema.get("type").and_then(|kind| kind.as_str());
    match kind.as_deref() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") | None => json!({}),
        Some(_) => json!("a"),
    }
}

/// Fills every form with its defaults.
struct Headless;

impl Caller for Headless {
    fn beside(&self) -> Option<Document> {
        None
    }

    fn report(&self, report: Report) {
        tell(&format!("{report:?}"));
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        Box::pin(async move {
            let mut answers = Map::new();
            for (name, question) in questions.root().members() {
                let properties = question.pointer("/params/requestedSchema/properties");
                let mut content = Map::new();
                for (property, schema) in properties.into_iter().flat_map(|properties| properties.members()) {
                    let value = schema.get("default").map_or_else(|| sample(schema), |value| value.to_json_value());
                    content.insert(property.into_owned(), value);
                }
                answers.insert(name.into_owned(), json!({ "action": "accept", "content": content }));
            }
            Document::parse(Value::Object(answers).to_string(), Limits::OUTPUT).map_err(|_| Unanswered::Gone)
        })
    }
}

/// A person who lets everybody in: the issuer sends them back at once.
struct Obedient;

impl UserAgent for Obedient {
    fn redirect_uri(&self) -> &'static str {
        "http://127.0.0.1:9/callback"
    }

    fn visit(&self, flow: Flow) -> BoxFuture<'_, Result<(), OAuthError>> {
        Box::pin(async move {
            let nowhere = |why: String| OAuthError::Settings(format!("the visit leads nowhere: {why}"));
            let url = Url::parse(flow.url()).map_err(|error| nowhere(error.to_string()))?;
            let client = lockgate_host::http::client(&url, Duration::from_secs(5))
                .map_err(|error| nowhere(error.to_string()))?;
            let answer = client.get(url).send().await.map_err(|error| nowhere(error.to_string()))?;
            let to = answer.headers().get("location").and_then(|to| to.to_str().ok()).and_then(|to| to.split_once('?'));
            let (_, query) = to.ok_or_else(|| nowhere(format!("HTTP {}", answer.status().as_u16())))?;
            flow.finish(query).await
        })
    }
}

/// Says what the server says.
struct Teller;

impl Listener for Teller {
    fn heard(&self, event: Event) {
        tell(&format!("{event:?}"));
    }
}

#[expect(clippy::print_stderr, reason = "this is a program for the command line")]
fn tell(text: &str) {
    eprintln!("{text}");
}
