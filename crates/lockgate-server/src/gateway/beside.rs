//! Resources, prompts and completion: each goes through the gate as a call of the tool that stands for it.

use std::sync::Arc;

use lockgate::contract::document::{Document, Limits};
use lockgate::harness::DirectAnswer;
use lockgate_mcp::server::{Asked, Subscription};
use lockgate_mcp::upstream::{Beside, Upstream, beside_name};
use lockgate_mcp::wire::{Edit, Era, RpcError, code};

use super::result::{servers_error, words_of};
use super::{State, internal};

impl State {
    pub(super) async fn read_resource(&self, asked: &Asked) -> Result<Document, RpcError> {
        let uri = word(asked, "uri")?;
        let (server, raw) = self.resource(asked, &uri)?;
        let arguments = Edit::new().with("uri", Document::string(&raw)).document();
        self.read(asked, &server, Beside::Resources, &arguments).await
    }

    pub(super) async fn get_prompt(&self, asked: &Asked) -> Result<Document, RpcError> {
        let name = word(asked, "name")?;
        let (server, raw) = self.prompt(asked, &name)?;
        let arguments = asked.params.root().get("arguments").map(|arguments| arguments.to_document());
        let arguments = Edit::new().with("name", Document::string(&raw)).with_some("arguments", arguments).document();
        self.read(asked, &server, Beside::Prompts, &arguments).await
    }

    pub(super) async fn complete(&self, asked: &Asked) -> Result<Document, RpcError> {
        let root = asked.params.root();
        let reference = root.get("ref").ok_or_else(|| RpcError::invalid_params("`ref` is missing"))?;
        let said = |key: &str| reference.get(key).and_then(|value| value.as_str());
        let (server, key, raw) = match (said("name"), said("uri")) {
            (Some(name), _) => {
                let (server, raw) = self.prompt(asked, &name)?;
                (server, "name", raw)
            }
            (None, Some(uri)) => {
                let (server, raw) = self.resource(asked, &uri)?;
                (server, "uri", raw)
            }
            (None, None) => return Err(RpcError::invalid_params("`ref` names neither a prompt nor a resource")),
        };
        let reference = Edit::of(reference).with(key, Document::string(&raw)).document();
        let arguments = Edit::of(root).with("ref", reference).without("_meta").document();
        self.read(asked, &server, Beside::Completions, &arguments).await
    }

    /// Somebody wants to listen to a resource that it may read. That somebody listens is known before the gate says that it may, so
    /// that whoever leaves meanwhile leaves nothing behind.
    pub(super) async fn subscribe(&self, asked: &Asked) -> Result<Subscription, RpcError> {
        let uri = word(asked, "uri")?;
        let (server, raw) = self.resource(asked, &uri)?;
        let Some(watching) = server.listens(&asked.peer.principal().subject, &raw) else {
            return Err(self.no_such(asked));
        };
        let arguments = Edit::new().with("uri", Document::string(&raw)).document();
        self.read(asked, &server, Beside::Subscriptions, &arguments).await?;
        Ok(Subscription::new(watching))
    }

    /// Asks the server through the gate.
    async fn read(
        &self,
        asked: &Asked,
        server: &Upstream,
        beside: Beside,
        arguments: &Document,
    ) -> Result<Document, RpcError> {
        let settings = server.settings();
        let name = beside_name(&settings.prefix, &settings.name, beside);
        let registry = &self.assembly.registry;
        let discovery = registry.discover_one(&asked.peer.principal().subject, &name);
        let Some(tool) = discovery.tools().first().cloned() else { return Err(self.no_such(asked)) };
        let answer = Box::pin(self.through_the_gate(asked, &tool, discovery.bind(), arguments.text(), None)).await?;
        let result = self.whole(answer, asked.peer.version().era()).await?;
        Ok(settings.shown_result(&result))
    }

    /// The output of a read, whole: what a client reads it does not show to a model unseen.
    async fn whole(&self, answer: DirectAnswer, era: Era) -> Result<Document, RpcError> {
        let DirectAnswer { run_id, result, .. } = answer;
        if let Some(error) = &result.error {
            return Err(servers_error(error, era).unwrap_or_else(|| {
                let words = words_of(self, run_id.as_str(), &result, error);
                RpcError::new(code::INTERNAL_ERROR, error.message.clone()).with_data(Document::from_json_value(&words))
            }));
        }
        if let Some(artifact) = &result.meta.artifact {
            let kept = self.assembly.journal.artifact(&run_id, artifact).await.map_err(|error| internal(&error))?;
            if let Some(whole) = kept.and_then(|text| Document::parse(text, Limits::OUTPUT).ok()) {
                return Ok(whole);
            }
        }
        Ok(result.data.unwrap_or_else(Document::empty_object))
    }

    /// The server that a URI leads to, and its own URI.
    fn resource(&self, asked: &Asked, uri: &str) -> Result<(Arc<Upstream>, String), RpcError> {
        let principal = asked.peer.principal();
        let mut found = self.servers().into_iter().filter_map(|server| {
            let raw = server.settings().raw_uri(uri)?.to_owned();
            self.sees(principal, &server, Beside::Resources).then_some((server, raw))
        });
        found.next().ok_or_else(|| self.no_such(asked))
    }

    /// The server that a prompt's name leads to, and its own name.
    fn prompt(&self, asked: &Asked, name: &str) -> Result<(Arc<Upstream>, String), RpcError> {
        let principal = asked.peer.principal();
        for server in self.servers() {
            if !self.sees(principal, &server, Beside::Prompts) {
                continue;
            }
            let lists = server.lists();
            let raws = lists.prompts.iter().filter_map(|entry| entry.root().get("name")?.as_str());
            let raw =
                raws.filter(|raw| server.settings().prompt_name(raw) == name).map(std::borrow::Cow::into_owned).next();
            if let Some(raw) = raw {
                return Ok((server, raw));
            }
        }
        Err(RpcError::invalid_params("there is no such prompt"))
    }

    #[expect(clippy::unused_self, reason = "it belongs to those above")]
    fn no_such(&self, asked: &Asked) -> RpcError {
        match asked.peer.version().era() {
            Era::Modern => RpcError::invalid_params("there is no such resource"),
            Era::Legacy => RpcError::new(code::RESOURCE_NOT_FOUND, "there is no such resource"),
        }
    }
}

fn word<'a>(asked: &'a Asked, key: &str) -> Result<std::borrow::Cow<'a, str>, RpcError> {
    let word = asked.params.root().get(key).and_then(|value| value.as_str());
    word.ok_or_else(|| RpcError::invalid_params(format!("`{key}` is missing")))
}
