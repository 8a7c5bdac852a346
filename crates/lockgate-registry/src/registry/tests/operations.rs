//! Any sequence of operations against a simple model: no list ever disagrees with another.

use std::collections::BTreeMap;

use lockgate_contract::subject::Subject;
use proptest::prelude::*;

use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Operation {
    Register(usize, u8),
    Replace(usize, u8, ReplacementRule),
    Revoke(usize),
    Restrict(Vec<usize>),
    Bind,
    Execute,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let name = || 0..NAMES.len();
    let version = || 0u8..4;
    let rule = prop::sample::select(vec![ReplacementRule::Finish, ReplacementRule::Migrate, ReplacementRule::Stop]);
    let operation = prop_oneof![
        3 => (name(), version()).prop_map(|(name, version)| Operation::Register(name, version)),
        6 => (name(), version(), rule).prop_map(|(name, version, rule)| Operation::Replace(name, version, rule)),
        1 => name().prop_map(Operation::Revoke),
        1 => prop::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 2..=4).prop_map(Operation::Restrict),
        3 => Just(Operation::Bind),
        1 => Just(Operation::Execute),
    ];
    prop::collection::vec(operation, 1..40)
}

/// Version 0 has no handler.
fn made(name: &str, version: u8) -> ToolSpec {
    let tool = if version == 0 { without_handler(name) } else { tool(name) };
    tool.version(version.to_string()).build().unwrap()
}

/// Where a run stands with a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stand {
    Follows,
    Finishes(u8),
    Stopped,
}

#[derive(Debug, Clone)]
struct Run {
    allowed: AllowedTools,
    tools: BTreeMap<&'static str, (u8, Stand)>,
}

#[derive(Debug, Default)]
struct Model {
    tools: BTreeMap<&'static str, u8>,
    runs: Vec<Run>,
    handlers_required: bool,
    /// The last one that was given out, and what is in its registry where that is not the present one.
    executor: Option<(RegistryExecutor, Option<Vec<&'static str>>)>,
}

impl Model {
    fn accepts(&self, version: u8) -> bool {
        version != 0 || !self.handlers_required
    }

    fn register(&mut self, name: &'static str, version: u8) -> bool {
        let accepted = self.accepts(version) && !self.tools.contains_key(name);
        if accepted {
            self.tools.insert(name, version);
        }
        accepted
    }

    fn replace(&mut self, name: &'static str, new: u8, rule: ReplacementRule) -> bool {
        let Some(&old) = self.tools.get(name).filter(|_| self.accepts(new)) else { return false };
        if old == new {
            return rule == ReplacementRule::Migrate;
        }
        for run in &mut self.runs {
            let Some((bound, stand)) = run.tools.get_mut(name) else { continue };
            if *bound == old || *stand == Stand::Follows {
                *stand = match rule {
                    ReplacementRule::Finish => Stand::Finishes(old),
                    ReplacementRule::Migrate => Stand::Follows,
                    ReplacementRule::Stop => Stand::Stopped,
                };
            }
        }
        self.tools.insert(name, new);
        true
    }

    fn remove(&mut self, name: &str) -> bool {
        for run in &mut self.runs {
            if let Some((_, stand)) = run.tools.get_mut(name) {
                *stand = Stand::Stopped;
            }
        }
        self.tools.remove(name).is_some()
    }

    fn reached(&self, run: &Run, name: &str) -> Result<String, &'static str> {
        match (self.tools.get(name), run.tools.get(name)) {
            (None, None) => Err("not_registered"),
            (None, Some(_)) => Err("revoked"),
            (Some(_), None) => Err("not_allowed"),
            (Some(now), Some((bound, _))) if now == bound => Ok(now.to_string()),
            (Some(now), Some((_, Stand::Follows))) => Ok(now.to_string()),
            (Some(_), Some((_, Stand::Finishes(old)))) => Ok(old.to_string()),
            (Some(_), Some((_, Stand::Stopped))) => Err("definition_changed"),
        }
    }
}

fn apply(operation: &Operation, registry: &mut Arc<Registry>, model: &mut Model) {
    match operation {
        Operation::Register(name, version) => {
            let accepted = model.register(NAMES[*name], *version);
            assert_eq!(registry.register(made(NAMES[*name], *version)).is_ok(), accepted);
        }
        Operation::Replace(name, version, rule) => {
            let accepted = model.replace(NAMES[*name], *version, *rule);
            assert_eq!(registry.replace(made(NAMES[*name], *version), *rule).is_ok(), accepted);
        }
        Operation::Revoke(name) => assert_eq!(registry.revoke(NAMES[*name]), model.remove(NAMES[*name])),
        Operation::Restrict(kept) => {
            let kept: Vec<&'static str> = kept.iter().map(|name| NAMES[*name]).collect();
            let before = registry.names();
            let restricted = registry.restrict_to(kept.iter().copied());
            assert_eq!(registry.names(), before);
            let all_known = kept.iter().all(|name| model.tools.contains_key(name));
            assert_eq!(restricted.is_ok(), all_known);
            if let Ok(restricted) = restricted {
                *registry = Arc::new(restricted);
                if let Some((_, left_behind @ None)) = &mut model.executor {
                    *left_behind = Some(model.tools.keys().copied().collect());
                }
                for name in NAMES.iter().filter(|name| !kept.contains(name)) {
                    model.remove(name);
                }
                model.handlers_required = false;
            }
        }
        Operation::Bind => {
            let tools = model.tools.iter().map(|(name, version)| (*name, (*version, Stand::Follows))).collect();
            model.runs.push(Run { allowed: bound(registry), tools });
        }
        Operation::Execute => {
            let complete = model.tools.values().all(|version| *version != 0);
            let executor = registry.executor();
            assert_eq!(executor.is_ok(), complete);
            model.handlers_required |= complete;
            model.executor = executor.ok().map(|executor| (executor, None)).or_else(|| model.executor.take());
        }
    }
}

fn agree(registry: &Registry, model: &Model) {
    let expected: Vec<&str> = model.tools.keys().copied().collect();
    assert_eq!(registry.names(), expected);
    assert_eq!(registry.len(), expected.len());
    assert_eq!(NAMES.map(|name| registry.get(name).is_some()), NAMES.map(|name| expected.contains(&name)));
    // Whoever got an executor before the change dispatches to what is there after it.
    if let Some((executor, left_behind)) = &model.executor {
        assert_eq!(&executor.registry().names(), left_behind.as_ref().unwrap_or(&expected));
    }
    let description = registry.describe();
    let capabilities = registry.discover(&Subject::default()).capabilities();
    let tools = registry.tools();
    for list in [
        tools.iter().map(|tool| tool.spec().name()).collect::<Vec<_>>(),
        description.model.iter().map(|view| view.name.as_str()).collect(),
        description.internal.iter().map(|view| view.name.as_str()).collect(),
        capabilities.iter().map(|capability| capability.name.as_str()).collect(),
    ] {
        assert_eq!(list, expected);
    }
    for (tool, version) in tools.iter().zip(model.tools.values()) {
        assert_eq!(tool.spec().version(), version.to_string());
    }
    for run in &model.runs {
        let mut callable = Vec::new();
        for name in NAMES {
            let expected = model.reached(run, name);
            assert_eq!(reached(registry, name, &run.allowed), expected, "{name} of {run:?}");
            if expected.is_ok() {
                callable.push(name.to_owned());
            }
        }
        let shown: Vec<_> = registry.definitions(&run.allowed).into_iter().map(|tool| tool.name).collect();
        assert_eq!(shown, callable);
    }
}

proptest! {
    #[test]
    fn all_lists_agree_after_any_operations(operations in operations()) {
        let mut registry = Arc::new(Registry::default());
        let mut model = Model::default();
        for operation in &operations {
            apply(operation, &mut registry, &mut model);
            agree(&registry, &model);
        }
    }
}
