//! From a server's list to tools: each as it came, with what the operator says about it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::effect::{Effect, Idempotency, OutputForm, Permission, ReplayPolicy};
use lockgate_contract::tool::ToolSpec;

use super::call::handler;
use super::name::{NameOf, name_of};
use super::server::Upstream;
use super::settings::{KeyGoes, Rules, Settings};
use crate::wire::{Edit, Mirrors};

/// A server's tools.
#[derive(Default)]
pub(super) struct Tools {
    /// Those that can be offered, with the server's own names.
    pub(super) specs: Vec<(String, ToolSpec)>,
    /// Those that cannot, by the server's own names, and why.
    pub(super) quarantined: Vec<(String, String)>,
}

/// How much longer the gate waits than the connection does, which tells the server.
const GRACE: Duration = Duration::from_secs(1);

/// The tools of a list. What cannot be a tool is left out alone, and its reason is kept.
pub(super) fn tools_of(upstream: &Arc<Upstream>, entries: &[Document]) -> Tools {
    let settings = upstream.settings();
    let (mut tools, mut seen) = (Tools::default(), BTreeSet::new());
    for (entry, place) in entries.iter().zip(1..) {
        let Some(raw) = entry.root().get("name").and_then(|name| name.as_str()) else {
            tools.quarantined.push((format!("#{place}"), "it has no name".to_owned()));
            continue;
        };
        if !settings.offers(&raw, fits) {
            continue;
        }
        if !seen.insert(raw.to_string()) {
            tools.quarantined.push((raw.into_owned(), "the server lists this name twice: the first counts".to_owned()));
            continue;
        }
        match spec_of(upstream, &raw, entry.root()) {
            Ok(spec) => tools.specs.push((raw.into_owned(), spec)),
            Err(why) => tools.quarantined.push((raw.into_owned(), why)),
        }
    }
    tools
}

fn spec_of(upstream: &Arc<Upstream>, raw: &str, entry: Node<'_>) -> Result<ToolSpec, String> {
    let settings = upstream.settings();
    let input = entry.get("inputSchema").filter(|schema| schema.kind() == Kind::Object);
    let input = input.ok_or("it has no `inputSchema`")?.to_document();
    let description = match entry.get("description") {
        None => String::new(),
        Some(text) => text.as_str().ok_or("its `description` is no text")?.into_owned(),
    };
    let decided = Decided::of(settings, raw, entry.get("annotations"));
    let calls = CallOf {
        raw: raw.to_owned(),
        // Where wrong annotations count, which is over HTTP alone, their tool was not listed.
        mirrors: Mirrors::of(input.root()).ok().flatten().map(Arc::new),
        timeout: decided.timeout,
        effect: decided.effect,
        replay: decided.replay,
    };
    let mut builder = ToolSpec::builder(name_of(&settings.prefix, &settings.name, NameOf::Tool, raw))
        .description(&description)
        .input_schema(input)
        .output_form(OutputForm::Content)
        .source(format!("mcp:{}", settings.name))
        .version(decided.version)
        .effect(decided.effect)
        .permission(decided.permission)
        .replay(decided.replay)
        .scopes(decided.scopes)
        .timeout(decided.timeout + GRACE)
        .handler(handler(upstream.door(), calls));
    if settings.key != KeyGoes::Nowhere {
        builder = builder.idempotency(Idempotency::Provider);
    }
    if let Some(schema) = entry.get("outputSchema") {
        builder = builder.output_schema(schema.to_document());
    }
    let mut beside = Edit::of(entry).without("name").without("inputSchema").without("outputSchema");
    if !description.is_empty() {
        beside = beside.without("description");
    }
    if !beside.is_empty() {
        builder = builder.shown_beside(beside.document());
    }
    builder.build().map_err(|error| error.to_string())
}

/// What the handler of one tool knows of it.
pub(super) struct CallOf {
    /// What the server calls it.
    pub(super) raw: String,
    /// What of its arguments is said in headers too, over HTTP.
    pub(super) mirrors: Option<Arc<Mirrors>>,
    pub(super) timeout: Duration,
    pub(super) effect: Effect,
    pub(super) replay: ReplayPolicy,
}

/// What a tool may do.
struct Decided {
    effect: Effect,
    permission: Permission,
    replay: ReplayPolicy,
    scopes: BTreeSet<String>,
    timeout: Duration,
    version: String,
}

impl Decided {
    /// What the operator says of this tool, else of its server, else the strictest. What a server says of its tool only ever makes
    /// stricter what was said of all of them at once.
    fn of(settings: &Settings, raw: &str, annotations: Option<Node<'_>>) -> Self {
        let none = Rules::default();
        let (own, all) = (settings.tools.get(raw).unwrap_or(&none), &settings.rules);
        let says = |hint: &str| annotations?.get(hint)?.as_bool();
        let changes = says("readOnlyHint") == Some(false);
        let destroys = says("destructiveHint") == Some(true) && says("readOnlyHint") != Some(true);
        let effect = own.effect.unwrap_or(match all.effect.unwrap_or(Effect::External) {
            Effect::Read if changes || destroys => Effect::External,
            effect => effect,
        });
        let permission = own.permission.unwrap_or(match all.permission.unwrap_or(effect.default_permission()) {
            Permission::Allow if destroys && own.effect.is_none() => Permission::Ask,
            permission => permission,
        });
        let keyed = settings.key != KeyGoes::Nowhere;
        let replay = own.replay.unwrap_or(match all.replay.unwrap_or(effect.default_replay()) {
            ReplayPolicy::Safe if effect.changes_something() && (!keyed || says("idempotentHint") == Some(false)) => {
                ReplayPolicy::Never
            }
            replay => replay,
        });
        Self {
            effect,
            permission,
            replay,
            scopes: own.scopes.clone().or_else(|| all.scopes.clone()).unwrap_or_default(),
            timeout: own.timeout.or(all.timeout).unwrap_or(settings.timeout),
            version: own.version.clone().or_else(|| settings.version.clone()).unwrap_or_else(|| "1.0".to_owned()),
        }
    }
}

/// Whether a rule covers a name: exact, and `*` for any run of characters where it is written.
pub(super) fn fits(rule: &str, name: &str) -> bool {
    let Some((first, rest)) = rule.split_once('*') else { return rule == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests;
