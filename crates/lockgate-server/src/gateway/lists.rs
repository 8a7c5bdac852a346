//! Lists in the wire's form: each entry as it came, under the name or the URI that leads here.

use std::sync::Arc;

use lockgate::contract::document::Document;
use lockgate::contract::effect::Effect;
use lockgate::contract::tool::ToolSpec;
use lockgate_mcp::client::List;
use lockgate_mcp::server::{Asked, Principal};
use lockgate_mcp::upstream::{Beside, Upstream, beside_name};
use lockgate_mcp::wire::{Edit, RpcError};
use serde::Serialize;

use super::State;

/// Every list that clients are told of.
pub(super) const ALL: [List; 4] = [List::Tools, List::Resources, List::ResourceTemplates, List::Prompts];

impl State {
    /// The tools that the subject sees, sorted by name.
    pub(super) async fn list_tools(&self, asked: &Asked) -> Result<Document, RpcError> {
        whole_list(asked)?;
        let tools = self.discovery(asked.peer.principal()).await?;
        listed("tools", &tools.iter().map(|tool| entry(tool.spec())).collect::<Vec<_>>(), 0)
    }

    /// What servers have beside tools, of those servers whose resources or prompts the subject may read.
    pub(super) fn list_beside(&self, asked: &Asked) -> Result<Document, RpcError> {
        whole_list(asked)?;
        let (beside, member) = match asked.method.as_str() {
            "resources/list" => (Beside::Resources, "resources"),
            "resources/templates/list" => (Beside::Resources, "resourceTemplates"),
            _ => (Beside::Prompts, "prompts"),
        };
        let (mut entries, mut ttl_ms) = (Vec::new(), u64::MAX);
        for server in self.servers() {
            if !self.sees(asked.peer.principal(), &server, beside) {
                continue;
            }
            let lists = server.lists();
            let list = match member {
                "resources" => &lists.resources,
                "resourceTemplates" => &lists.templates,
                _ => &lists.prompts,
            };
            ttl_ms = ttl_ms.min(lists.ttl_ms);
            entries.extend(list.iter().map(|entry| self.scrubbed(server.settings().shown_entry(entry))));
        }
        listed(member, &entries, if ttl_ms == u64::MAX { 0 } else { ttl_ms })
    }

    /// The servers, sorted by name.
    pub(super) fn servers(&self) -> Vec<Arc<Upstream>> {
        self.assembly.servers.as_ref().map_or_else(Vec::new, |servers| servers.upstreams().all())
    }

    pub(super) fn server(&self, name: &str) -> Option<Arc<Upstream>> {
        self.assembly.servers.as_ref()?.upstreams().get(name)
    }

    /// Whether the subject may read such things of this server: whether it sees the tool that reads them. A credential that was made
    /// for one run reaches that run's tools, and nothing beside them.
    pub(super) fn sees(&self, principal: &Principal, server: &Upstream, beside: Beside) -> bool {
        let settings = server.settings();
        let name = beside_name(&settings.prefix, &settings.name, beside);
        let seen = self.assembly.registry.discover_one(&principal.subject, &name);
        principal.run.is_none() && !seen.tools().is_empty()
    }

    /// Whether the subject sees anything of this server: a tool, or what stands beside them.
    pub(super) fn sees_any(&self, principal: &Principal, server: &Upstream) -> bool {
        let source = format!("mcp:{}", server.settings().name);
        let seen = self.allowed(self.assembly.registry.discover(&principal.subject));
        principal.run.is_none() && seen.tools().iter().any(|tool| tool.spec().source() == source)
            || Beside::ALL.iter().any(|beside| self.sees(principal, server, *beside))
    }

    pub(super) fn scrubbed(&self, document: Document) -> Document {
        self.assembly.gate.scrub_document(&document).unwrap_or(document)
    }
}

/// A tool as clients are shown it. One of a server is shown as the server showed it, but for its name.
fn entry(spec: &ToolSpec) -> Document {
    let mut entry = Edit::new().with("name", Document::string(spec.name()));
    if !spec.description().is_empty() {
        entry = entry.with("description", Document::string(spec.description()));
    }
    entry =
        entry.with("inputSchema", spec.input_schema().clone()).with_some("outputSchema", spec.output_schema().cloned());
    let beside = spec.shown_beside().map(|beside| beside.root());
    if let Some(beside) = beside {
        let members: Vec<_> = beside.members().map(|(name, value)| (name.into_owned(), value.to_document())).collect();
        return members.iter().fold(entry, |entry, (name, value)| entry.with(name, value.clone())).document();
    }
    if !spec.source().starts_with("mcp:") && spec.effect() == Effect::Read {
        let read_only = Document::from_json_value(&serde_json::json!({ "readOnlyHint": true }));
        return entry.with("annotations", read_only).document();
    }
    entry.document()
}

/// The lists here have one page.
fn whole_list(asked: &Asked) -> Result<(), RpcError> {
    match asked.params.root().get("cursor") {
        None => Ok(()),
        Some(_) => Err(RpcError::invalid_params("there is no such cursor: the list has one page")),
    }
}

fn listed(member: &'static str, entries: &[Document], ttl_ms: u64) -> Result<Document, RpcError> {
    #[derive(Serialize)]
    struct Listed<'l> {
        #[serde(flatten)]
        list: std::collections::BTreeMap<&'static str, &'l [Document]>,
        #[serde(rename = "ttlMs")]
        ttl_ms: u64,
    }
    let list = std::iter::once((member, entries)).collect();
    Document::from_serialize(&Listed { list, ttl_ms }).map_err(|error| super::internal(&error))
}
