//! What servers have beside tools: resources, prompts, completion. Reading one is a tool too, which no list shows, so that policy,
//! journal, redaction and limits hold for it.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext, ToolSpec};

use super::call::{failure, without_the_hop};
use super::link::Errand;
use super::name::{NameOf, name_of};
use super::server::Upstream;
use super::settings::{Rules, Settings};
use super::watching::NotWatched;
use crate::client::{Patience, ServerFacts};
use crate::wire::Edit;

/// What a server has beside tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Beside {
    /// Resources: `resources/read` of `{uri}`, the server's own.
    Resources,
    /// Prompts: `prompts/get` of `{name, arguments?}`, the server's own.
    Prompts,
    /// Completion of arguments: `completion/complete` of `{ref, argument, context?}`, the server's own.
    Completions,
    /// Listening to resources: `{uri}`, the server's own, of which the server is to tell when it changes. It is for those who
    /// [`listen`](Upstream::listens) already.
    Subscriptions,
}

impl Beside {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Resources, Self::Prompts, Self::Completions, Self::Subscriptions];

    /// The word in sources and names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Completions => "completions",
            Self::Subscriptions => "subscriptions",
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

    /// What is asked of the server; of listening that is a matter of its era.
    fn method(self) -> Option<&'static str> {
        match self {
            Self::Resources => Some("resources/read"),
            Self::Prompts => Some("prompts/get"),
            Self::Completions => Some("completion/complete"),
            Self::Subscriptions => None,
        }
    }

    fn is_offered(self, facts: &ServerFacts) -> bool {
        let offers = facts.capabilities.root();
        match self {
            Self::Subscriptions => {
                offers.pointer("/resources/subscribe").and_then(|subscribe| subscribe.as_bool()) == Some(true)
            }
            Self::Resources | Self::Prompts | Self::Completions => offers.get(self.word()).is_some(),
        }
    }

    /// What it is, in the description of its tool.
    fn does(self) -> &'static str {
        match self {
            Self::Resources => "Reads resources",
            Self::Prompts => "Reads prompts",
            Self::Completions => "Completes arguments of prompts and resource templates",
            Self::Subscriptions => "Listens to resources",
        }
    }

    /// What a tool of it may do without a person. Completions come with every key that is pressed: no one of them is worth a question, so
    /// where the server's calls are asked about there are none.
    fn permission(self, rules: &Rules) -> Permission {
        match (self, rules.permission.unwrap_or(Effect::Read.default_permission())) {
            (Self::Completions, Permission::Ask) => Permission::Deny,
            (_, permission) => permission,
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Self::Resources | Self::Subscriptions => {
                r#"{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"],"additionalProperties":false}"#
            }
            Self::Prompts => {
                r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false}"#
            }
            Self::Completions => {
                r#"{"type":"object","properties":{"ref":{"type":"object"},"argument":{"type":"object"},"context":{"type":"object"}},"required":["ref","argument"]}"#
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
            let Some(method) = beside.method() else { return listen(&upstream, &arguments, &context).await };
            let link = upstream
                .link_for(context.subject())
                .await
                .map_err(|no_link| no_link.failure(&upstream.settings().name))?;
            let errand = Errand {
                method,
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
        .description(format!("{} of the MCP server `{}`.", beside.does(), settings.name))
        .input_schema_text(beside.schema())
        .source(beside.source(&settings.name))
        .effect(Effect::Read)
        .permission(beside.permission(&settings.rules))
        .scopes(settings.rules.scopes.clone().unwrap_or_default())
        .timeout(timeout)
        .handler(handler)
        .build()
        .ok()
}

/// Has the server tell of a resource.
async fn listen(upstream: &Arc<Upstream>, arguments: &Arguments, context: &ToolContext) -> Result<Output, Failure> {
    let uri = arguments.root().get("uri").and_then(|uri| uri.as_str()).unwrap_or_default();
    let name = &upstream.settings().name;
    match upstream.watch(context.subject(), &uri).await {
        Ok(()) => Ok(Output::new(Document::empty_object())),
        Err(NotWatched::NoLink(no_link)) => Err(no_link.failure(name)),
        Err(NotWatched::Refused(error)) => Err(failure(name, Effect::Read, ReplayPolicy::Safe, error)),
    }
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
