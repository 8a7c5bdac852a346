//! What servers have beside tools: resources, prompts, completion. Reading one is a tool too, which no list shows, so that policy,
//! journal, redaction and limits hold for it.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, ReplayPolicy};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext, ToolSpec};

use super::call::{failure, without_the_hop};
use super::link::Errand;
use super::name::{NameOf, name_of};
use super::server::Upstream;
use super::settings::Settings;
use crate::client::{Patience, ServerFacts};
use crate::wire::Edit;

/// What a server has beside tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Beside {
    /// Resources: `resources/read` of `{uri}`, the server's own.
    Resources,
    /// Prompts: `prompts/get` of `{name, arguments?}`, the server's own.
    Prompts,
}

impl Beside {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Resources, Self::Prompts];

    /// The word in sources and names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// The source of its tool, such as `mcp:files#resources`: what is from such a source stands in no list of tools.
    pub fn source(self, server: &str) -> String {
        format!("mcp:{server}#{}", self.word())
    }

    /// Whether a tool of this source is one of these.
    pub fn is_source(source: &str) -> bool {
        source.strip_prefix("mcp:").is_some_and(|server| server.contains('#'))
    }

    fn method(self) -> &'static str {
        match self {
            Self::Resources => "resources/read",
            Self::Prompts => "prompts/get",
        }
    }

    fn is_offered(self, facts: &ServerFacts) -> bool {
        facts.capabilities.root().get(self.word()).is_some()
    }

    fn schema(self) -> &'static str {
        match self {
            Self::Resources => {
                r#"{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"],"additionalProperties":false}"#
            }
            Self::Prompts => {
                r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false}"#
            }
        }
    }
}

/// The name of the tool that reads such a thing of a server.
pub fn beside_name(prefix: &str, server: &str, beside: Beside) -> String {
    name_of(prefix, server, NameOf::Beside, beside.word())
}

/// The tools for what this server has beside its tools.
pub(super) fn besides_of(upstream: &Arc<Upstream>, facts: &ServerFacts) -> Vec<(String, ToolSpec)> {
    let offered = Beside::ALL.into_iter().filter(|beside| beside.is_offered(facts));
    let spec = |beside: Beside| Some((format!("#{}", beside.word()), spec_of(upstream, beside)?));
    offered.filter_map(spec).collect()
}

fn spec_of(upstream: &Arc<Upstream>, beside: Beside) -> Option<ToolSpec> {
    let settings = upstream.settings();
    let (door, timeout) = (upstream.door(), settings.rules.timeout.unwrap_or(settings.timeout));
    let handler = Handler::untyped(move |arguments: Arguments, context: ToolContext| {
        let door = door.clone();
        async move {
            let upstream = door.upstream()?;
            let link = upstream
                .link_for(context.subject())
                .await
                .map_err(|no_link| no_link.failure(&upstream.settings().name))?;
            let errand = Errand {
                method: beside.method(),
                params: arguments.document().clone(),
                beside: context.caller().and_then(|caller| caller.beside()),
                caller: context.caller().cloned(),
                cancel: context.cancel.clone(),
                patience: Patience { idle: timeout, absolute: timeout },
                mirrors: None,
            };
            let name = &upstream.settings().name;
            match link.request(errand).await {
                Ok(result) => Ok(Output::new(without_the_hop(result.root()))),
                Err(error) => Err::<Output, Failure>(failure(name, Effect::Read, ReplayPolicy::Safe, error)),
            }
        }
    });
    // INVARIANT: the schemas are texts of this file, and a read may be repeated.
    ToolSpec::builder(beside_name(&settings.prefix, &settings.name, beside))
        .description(format!("Reads {} of the MCP server `{}`.", beside.word(), settings.name))
        .input_schema_text(beside.schema())
        .source(beside.source(&settings.name))
        .effect(Effect::Read)
        .permission(settings.rules.permission.unwrap_or(Effect::Read.default_permission()))
        .scopes(settings.rules.scopes.clone().unwrap_or_default())
        .timeout(timeout)
        .handler(handler)
        .build()
        .ok()
}

impl Settings {
    /// An entry of one of the lists as clients see it: with the URI or the name that leads here.
    pub fn shown_entry(&self, entry: &Document) -> Document {
        let root = entry.root();
        if root.get("uriTemplate").is_some() {
            return self.with_shown_uri(root, "uriTemplate");
        }
        if root.get("uri").is_some() {
            return self.with_shown_uri(root, "uri");
        }
        match root.get("name").and_then(|name| name.as_str()) {
            Some(raw) => Edit::of(root).with("name", Document::string(&self.prompt_name(&raw))).document(),
            None => entry.clone(),
        }
    }

    /// The name under which clients ask for a prompt.
    pub fn prompt_name(&self, raw: &str) -> String {
        name_of(&self.prefix, &self.name, NameOf::Tool, raw)
    }
}
