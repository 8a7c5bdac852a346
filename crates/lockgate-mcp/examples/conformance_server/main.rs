//! A server with what the official conformance suite looks for, on nothing but [`lockgate_mcp::server`].
//!
//! ```text
//! cargo run -p lockgate-mcp --example conformance_server             an HTTP endpoint on loopback; its URL comes on standard output
//! cargo run -p lockgate-mcp --example conformance_server -- --stdio  the same over standard input and output
//! ```

mod content;
mod prompts;
mod resources;
mod tasks;
mod tools;

use std::error::Error;
use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::ports::BoxFuture;
use lockgate_contract::subject::Subject;
use lockgate_mcp::client::List;
use lockgate_mcp::server::http::{Endpoint, ListenerLimits, Options, serve};
use lockgate_mcp::server::{Asked, Change, Facts, Principal, Service, Subscription, stdio};
use lockgate_mcp::wire::{Mirrors, RpcError, key};
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use self::tasks::Tasks;

/// What the suite looks for.
struct Suite {
    tools: Value,
    tasks: Arc<Tasks>,
    changes: broadcast::Sender<Change>,
}

impl Service for Suite {
    fn facts(&self, _: &Principal) -> Facts {
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "completions": {},
            "logging": {},
            "extensions": {key::TASKS: {}},
        });
        Facts {
            capabilities: Document::from_json_value(&capabilities),
            info: Document::from_json_value(&json!({"name": "conformance-server", "version": "1.0.0"})),
            instructions: Some("What the conformance suite looks for, and nothing else.".to_owned()),
        }
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'_, Result<Document, RpcError>> {
        Box::pin(async move {
            let params = asked.params.to_json_value();
            let result = match asked.method.as_str() {
                "tools/list" => Ok(json!({"tools": self.tools})),
                "tools/call" => tools::call(self, &params, asked.peer).await,
                "prompts/list" => Ok(json!({"prompts": prompts::list()})),
                "prompts/get" => prompts::get(&params, asked.peer.as_ref()).await,
                "resources/list" => Ok(json!({"resources": resources::list()})),
                "resources/templates/list" => Ok(json!({"resourceTemplates": resources::templates()})),
                "resources/read" => resources::read(&params, asked.peer.version()),
                "completion/complete" => {
                    Ok(json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}))
                }
                "tasks/get" => self.tasks.find(&params).map(|task| task.shown(true)),
                "tasks/update" => self.tasks.find(&params).map(|task| {
                    task.update(&params["inputResponses"]);
                    json!({})
                }),
                "tasks/cancel" => self.tasks.find(&params).map(|task| {
                    task.cancel();
                    json!({})
                }),
                other => Err(RpcError::method_not_found(other)),
            };
            result.map(|result| Document::from_json_value(&result))
        })
    }

    fn subscribe(&self, _: Asked) -> BoxFuture<'_, Result<Subscription, RpcError>> {
        // Its changes are told to all who listen.
        Box::pin(std::future::ready(Ok(Subscription::new(()))))
    }

    fn mirrors(&self, _: &Principal, tool: &str) -> Option<Arc<Mirrors>> {
        let schema = Document::from_json_value(&tools::schema(&self.tools, tool)?);
        Mirrors::of(schema.root()).ok().flatten().map(Arc::new)
    }

    fn changes(&self, _: &Principal) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

impl Suite {
    fn new() -> Self {
        let (changes, _) = broadcast::channel(64);
        Self { tools: tools::list(), tasks: Arc::default(), changes }
    }

    /// Tells whoever listens that a list changed.
    fn changed(&self, list: List) {
        // Where nobody listens, nobody is told.
        let _nobody = self.changes.send(Change::List(list));
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the URL is what whoever starts this waits for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let suite = Arc::new(Suite::new());
    let anybody =
        Principal { subject: Arc::new(Subject::default()), credential: "anybody".to_owned(), run: None, until: None };
    if std::env::args().any(|argument| argument == "--stdio") {
        let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
        return Ok(stdio::serve(suite, anybody, input, output).await?);
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let bound = listener.local_addr()?;
    let endpoint = Endpoint::new(suite, Options { bound: Some(bound), ..Options::default() })?;
    println!("http://{bound}/mcp");
    let handler = move |request, _| {
        let (endpoint, anybody) = (endpoint.clone(), anybody.clone());
        async move { endpoint.answer(request, anybody).await }
    };
    serve(listener, ListenerLimits::default(), handler, CancellationToken::new()).await;
    Ok(())
}
