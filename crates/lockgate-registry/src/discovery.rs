//! What one run may see (R-132…R-142). Hiding lowers wrong choices; it authorises nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::effect::{Effect, ReplayPolicy};
use lockgate_contract::ports::Visibility;
use lockgate_contract::run::RunBinding;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;
use serde::Serialize;

use crate::registry::{RegisteredTool, Registry};

/// The registry projected onto one subject: sorted, without executors, keys, paths or addresses.
#[derive(Debug)]
pub struct Discovery {
    source: String,
    versions: BTreeMap<String, String>,
    standing: Standing,
    tools: Vec<Arc<RegisteredTool>>,
}

/// Why the list is what it is: an empty one does not mean that the system has no tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The subject sees tools.
    Visible,
    /// Tools are registered, and the subject sees none of them.
    NothingVisible,
    /// No tool is registered.
    NothingRegistered,
}

/// One tool that the subject sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Its name.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Its version.
    pub version: String,
}

impl Registry {
    /// What the subject may see. Reads the registry, changes nothing.
    pub fn discover(&self, subject: &Subject) -> Discovery {
        // The rules that hide more are asked without the registry's lock: they may take their time.
        let (mut tools, registered) = self.tools_within(&subject.scopes);
        tools.retain(|tool| visible_to(subject, tool.spec(), &self.visibility));
        tools.sort_unstable_by(|one, other| one.spec().name().cmp(other.spec().name()));
        let standing = match (registered, tools.is_empty()) {
            (false, _) => Standing::NothingRegistered,
            (true, true) => Standing::NothingVisible,
            (true, false) => Standing::Visible,
        };
        Discovery { source: subject.source(), versions: subject.versions.clone(), standing, tools }
    }
}

impl Registry {
    /// What the subject may see of one tool, as [`Registry::discover`] would say it: for whoever calls just this one.
    pub fn discover_one(&self, subject: &Subject, name: &str) -> Discovery {
        let tool = self.get(name).filter(|tool| visible_to(subject, tool.spec(), &self.visibility));
        let standing = if tool.is_some() { Standing::Visible } else { Standing::NothingVisible };
        Discovery {
            source: subject.source(),
            versions: subject.versions.clone(),
            standing,
            tools: tool.into_iter().collect(),
        }
    }
}

/// A tool is visible when every one of its demands is met, and no rule, asked last, hides it.
fn visible_to(subject: &Subject, spec: &ToolSpec, visibility: &[Arc<dyn Visibility>]) -> bool {
    meets_demands(subject, spec)
        && visibility.iter().all(|rule| {
            // A rule that panics has not said yes.
            catch_unwind(AssertUnwindSafe(|| rule.sees(subject, spec))).unwrap_or(false)
        })
}

/// The demands that the tool declares, and the version that the subject wants of it.
fn meets_demands(subject: &Subject, spec: &ToolSpec) -> bool {
    let audience = spec.audience();
    spec.scopes().is_subset(&subject.scopes)
        && spec.effect() <= subject.level
        && (audience.tenants.is_empty() || audience.tenants.contains(&subject.tenant))
        && (audience.agents.is_empty() || audience.agents.contains(&subject.agent))
        && audience.domain.as_ref().is_none_or(|domain| subject.domains.contains(domain))
        && subject.versions.get(spec.name()).is_none_or(|pinned| pinned == spec.version())
}

impl Discovery {
    /// Why the list is what it is.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The list for people and models: both see the same names.
    pub fn capabilities(&self) -> Vec<Capability> {
        self.tools
            .iter()
            .map(|tool| Capability {
                name: tool.spec().name().to_owned(),
                summary: tool.spec().description().to_owned(),
                read_only: tool.spec().effect() == Effect::Read,
                version: tool.spec().version().to_owned(),
            })
            .collect()
    }

    /// Only the names that an operator listed: exact, and `*` for any run of characters where it is written.
    #[must_use]
    pub fn only(mut self, allow: &[String]) -> Self {
        self.tools.retain(|tool| allow.iter().any(|rule| matches_rule(rule, tool.spec().name())));
        if self.tools.is_empty() && self.standing == Standing::Visible {
            self.standing = Standing::NothingVisible;
        }
        self
    }

    /// Without the tools of these sources: for lists that models are shown.
    #[must_use]
    pub fn without_sources(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.tools.retain(|tool| !is_left_out(tool.spec().source()));
        if self.tools.is_empty() && self.standing == Standing::Visible {
            self.standing = Standing::NothingVisible;
        }
        self
    }

    /// The tools, sorted by name: for whoever shows them in another form.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        &self.tools
    }

    /// Freezes the result for one run.
    pub fn bind(&self) -> RunBinding {
        let specs = || self.tools.iter().map(|tool| tool.spec());
        let names_of = |which: fn(&ToolSpec) -> bool| -> BTreeSet<String> {
            specs().filter(|spec| which(spec)).map(|spec| spec.name().to_owned()).collect()
        };
        RunBinding {
            allowed: AllowedTools::new(
                self.source.clone(),
                specs().map(|spec| (spec.name().to_owned(), spec.definition())),
            )
            .pinned(self.versions.clone()),
            completes_run: names_of(ToolSpec::completes_run),
            reads: specs()
                .filter(|spec| spec.effect() == Effect::Read)
                .map(|spec| (spec.name().to_owned(), spec.resource_keys().clone()))
                .collect(),
            replayable: names_of(|spec| spec.replay() == ReplayPolicy::Safe),
            keyed: specs()
                .filter_map(|spec| Some((spec.name().to_owned(), spec.idempotency_window()?)))
                .map(|(name, window)| (name, u64::try_from(window.as_millis()).unwrap_or(u64::MAX)))
                .collect(),
            reconcilable: names_of(|spec| spec.reconcile().is_some()),
        }
    }
}

/// Whether a rule covers a name. `*` stands for any run of characters; everything else stands for itself.
pub fn matches_rule(rule: &str, name: &str) -> bool {
    let mut parts = rule.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
