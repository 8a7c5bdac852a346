//! Servers as they are really reached.

use std::sync::{Arc, PoisonError, RwLock};

use lockgate_contract::document::Document;
use lockgate_contract::ports::BoxFuture;
use serde_json::json;

use super::link::{Dial, Errand, Link};
use super::settings::{Identity, Place, Relay, Settings};
use crate::client::{
    ClientError, Connection, Endpoint, List, Listener, Listing, Options, Outgoing, Process, ServerFacts, Transport,
};
use crate::oauth::{Confidant, UserAgent};
use crate::wire::{Edit, follows_tasks, key};

/// Opens connections: starts programs, and reaches addresses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Connections;

impl Dial for Connections {
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        identity: &'a Identity,
        listener: Arc<dyn Listener>,
        confidant: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>> {
        Box::pin(open(settings, identity, listener, None, confidant))
    }
}

/// Opens connections, and has people log in where a server wants that.
#[derive(Clone)]
pub struct Visiting(pub Arc<dyn UserAgent>);

impl Dial for Visiting {
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        identity: &'a Identity,
        listener: Arc<dyn Listener>,
        confidant: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>> {
        // Nobody sits before the connection that is for lists.
        let agent = (*identity != Identity::Shared).then(|| Arc::clone(&self.0));
        Box::pin(open(settings, identity, listener, agent, confidant))
    }
}

async fn open(
    settings: &Settings,
    identity: &Identity,
    listener: Arc<dyn Listener>,
    agent: Option<Arc<dyn UserAgent>>,
    confidant: &Arc<dyn Confidant>,
) -> Result<Arc<dyn Link>, ClientError> {
    let mut options = Options::new("lockgate", env!("CARGO_PKG_VERSION"));
    options.capabilities = capabilities(settings.relay, None);
    options.era = settings.era;
    let mut transport = transport(settings, identity);
    if let (Transport::Http(endpoint), Some(login)) = (&mut transport, &settings.login) {
        let authorizer = login.authorizer(&settings.name, &endpoint.url, identity, agent, Arc::clone(confidant)).await;
        let authorizer = authorizer.map_err(|error| ClientError::NotSent(error.to_string()))?;
        endpoint.tokens = Some(Arc::new(authorizer));
    }
    let connection = Connection::open(transport, options, listener).await?;
    let facts = connection.server().clone();
    Ok(Arc::new(Open { facts, relay: settings.relay, connection: RwLock::new(Some(Arc::new(connection))) }))
}

fn transport(settings: &Settings, identity: &Identity) -> Transport {
    match &settings.place {
        Place::Program { command, environment, folder } => Transport::Process(Process {
            command: command.clone(),
            environment: Vec::new(),
            variables: environment.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
            folder: Some(folder.clone()),
            patience: lockgate_sandbox::Patience::default(),
        }),
        Place::Address { url, headers } => {
            let mut sent: Vec<_> =
                headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
            if let Some(token) = settings.token(identity) {
                sent.push(("authorization".to_owned(), format!("Bearer {}", token.expose())));
            }
            Transport::Http(Endpoint { url: url.clone(), headers: sent, tokens: None })
        }
    }
}

/// What a server may ask, and whether its tasks are followed: what it is let ask, as far as whoever sent the request can be asked it
/// and follows tasks. A server that is told more answers what its sender cannot take, and one that needs more has to say so
/// (MCP 2026-07-28 §capabilities). Of a handshake nobody knows who will send requests.
fn capabilities(relay: Relay, caller: Option<&Document>) -> Document {
    let asked = [
        ("elicitation", relay.elicitation, json!({ "form": {}, "url": {} })),
        ("sampling", relay.sampling, json!({})),
        ("roots", relay.roots, json!({})),
    ];
    let mut capabilities = Edit::new();
    for (name, is_let, all) in asked {
        let said = match caller {
            None => Some(Document::from_json_value(&all)),
            Some(caller) => caller.root().get(name).map(|said| said.to_document()),
        };
        capabilities = capabilities.with_some(name, said.filter(|_| is_let));
    }
    let follows = caller.is_none_or(|caller| follows_tasks(caller.root()));
    let tasks = follows.then(|| Document::from_json_value(&json!({ key::TASKS: {} })));
    capabilities.with_some("extensions", tasks).document()
}

/// An open connection.
struct Open {
    facts: ServerFacts,
    relay: Relay,
    /// Nothing once it was closed.
    connection: RwLock<Option<Arc<Connection>>>,
}

impl Open {
    fn connection(&self) -> Result<Arc<Connection>, ClientError> {
        let open = self.connection.read().unwrap_or_else(PoisonError::into_inner).clone();
        open.ok_or_else(|| ClientError::NotSent("the connection was closed".to_owned()))
    }
}

impl Link for Open {
    fn server(&self) -> &ServerFacts {
        &self.facts
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, ClientError>> {
        Box::pin(async move { self.connection()?.list(list).await })
    }

    fn request(&self, errand: Errand) -> BoxFuture<'_, Result<Document, ClientError>> {
        Box::pin(async move {
            let connection = self.connection()?;
            let mut outgoing = Outgoing::new(errand.method, errand.params, errand.patience);
            outgoing.beside = errand.beside;
            // Whoever asked says how much of it they want to hear.
            outgoing.log_level = errand.caller.is_some().then_some("debug");
            let can = errand.caller.as_ref().map_or_else(Document::empty_object, |caller| caller.can_be_asked());
            outgoing.capabilities = Some(capabilities(self.relay, Some(&can)));
            outgoing.caller = errand.caller;
            outgoing.cancel = errand.cancel;
            outgoing.mirror = errand.mirrors.as_deref();
            connection.request(outgoing).await
        })
    }

    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move { self.connection()?.watch(uri).await })
    }

    fn unwatch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move { self.connection()?.unwatch(uri).await })
    }

    fn is_lost(&self) -> bool {
        self.connection().map_or(true, |connection| connection.is_lost())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let open = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            // Whoever still uses it ends it when it is done.
            if let Some(connection) = open.and_then(Arc::into_inner) {
                connection.close().await;
            }
        })
    }
}

#[cfg(test)]
mod tests;
