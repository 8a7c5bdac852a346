//! A run calls what it was bound to and nothing else (R-143…R-148).

use lockgate::contract::effect::Permission;
use lockgate::contract::run::RunBinding;
use lockgate::registry::ReplacementRule;

use super::file::{Case, proposed};
use crate::world::{Turn, World, at_once, code_of, echo, in_time};
use lockgate::prelude::*;

fn reads(world: &World, names: &[&str]) {
    for name in names {
        world.add(ToolSpec::builder(*name).effect(Effect::Read).permission(Permission::Allow), echo());
    }
}

pub(super) async fn exact_rule(case: Case) {
    let calls = case.texts("/input/calls");
    let mut world = World::in_memory();
    reads(&world, &calls.iter().map(String::as_str).collect::<Vec<_>>());
    world.allow = Some(vec![case.text("/input/rule")]);
    let ran = world.run(calls.iter().map(|name| proposed("c", name, "{}")).collect()).await;
    assert_eq!(ran.codes(), ["ok", "unknown_tool"]); // R-148
    assert_eq!(ran.settled(1).audit.reason.as_deref(), Some("not_allowed"));
    let shown: Vec<_> = world.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(shown, ["read"], "the model sees what it may call"); // R-031
}

pub(super) async fn child_is_an_intersection(case: Case) {
    let (parent, child) = (case.texts("/input/parent_allowed"), case.texts("/input/child_requests"));
    let mut world = World::in_memory();
    reads(&world, &child.iter().map(String::as_str).collect::<Vec<_>>());
    world.allow = Some(child.clone());
    let wanted = world.binding();
    world.allow = Some(parent);
    let parents = world.binding();
    let binding = RunBinding { allowed: wanted.allowed.intersection(&parents.allowed), ..wanted };
    let turns = vec![Turn::Calls(child.iter().map(|name| proposed("c", name, "{}")).collect())];
    let state = world.runner(turns).start(AgentRun { binding, ..world.agent_run() }).await.unwrap();
    let result = RunResult::of(&state);
    assert!(result.calls[0].ok);
    assert_eq!(result.calls[1].code.as_ref().unwrap().word(), "unknown_tool");
    let settled = state.calls().nth(1).unwrap().settled.as_ref().unwrap();
    assert_eq!(settled.audit.reason.as_deref(), Some("not_allowed"));
}

/// A rule, a name, and whether the rule covers it.
const RULES: &[(&str, &str, bool)] = &[
    ("read", "read", true),
    ("read", "read_secret", false),
    ("read", "rea", false),
    ("read", "Read", false),
    ("read", "my_read", false),
    ("read ", "read", false),
    ("read*", "read_secret", true),
    ("read*", "read", true),
    ("*read", "my_read", true),
    ("*read", "read_my", false),
    ("r*d", "rd", true),
    ("r*d", "read", true),
    ("r*d", "reads", false),
    ("*", "anything", true),
    ("", "read", false),
    ("?ead", "read", false),
    ("rea[d]", "read", false),
    ("re.d", "read", false),
    ("re.d", "re.d", true),
    ("read|write", "write", false),
    ("aba*aba", "aba", false),
    ("aba*aba", "abaaba", true),
    ("a*b*c", "a.b.c", true),
    ("a*b*c", "a.c.b", false),
    ("**", "read", true),
];

#[tokio::test]
async fn a_rule_is_a_name_unless_it_has_a_star() {
    for (rule, name, covers) in RULES {
        let mut world = World::in_memory();
        reads(&world, &[name]);
        world.allow = Some(vec![(*rule).to_owned()]);
        let answer = world.direct(name, "{}").await;
        assert_eq!(code_of(&answer), if *covers { "ok" } else { "unknown_tool" }, "{rule} {name}");
    }
    // No rules are no tools.
    let mut world = World::in_memory();
    reads(&world, &["read"]);
    world.allow = Some(Vec::new());
    assert_eq!(code_of(&world.direct("read", "{}").await), "unknown_tool");
}

/// Who asks, and whether the tool with this scope, audience and effect is there for them.
#[tokio::test]
async fn who_may_not_see_a_tool_may_not_call_it_by_hand() {
    let tool = || {
        let audience = lockgate::contract::tool::Audience {
            tenants: ["demo".to_owned()].into(),
            agents: ["helper".to_owned()].into(),
            domain: Some("incidents".to_owned()),
        };
        let tool = ToolSpec::builder("act").effect(Effect::Write).permission(Permission::Allow);
        tool.scopes(["a:read", "a:write"]).audience(audience)
    };
    let fits = Subject {
        tenant: "demo".into(),
        agent: "helper".into(),
        scopes: ["a:read", "a:write", "more"].map(str::to_owned).into(),
        domains: ["incidents".to_owned()].into(),
        level: Effect::Write,
        ..Subject::default()
    };
    let subjects = [
        (fits.clone(), true),
        (Subject { scopes: ["a:read".to_owned()].into(), ..fits.clone() }, false),
        (Subject { scopes: ["a:*".to_owned()].into(), ..fits.clone() }, false),
        (Subject { tenant: "Demo".into(), ..fits.clone() }, false),
        (Subject { agent: "helper2".into(), ..fits.clone() }, false),
        (Subject { level: Effect::Read, ..fits.clone() }, false),
        (Subject { domains: [].into(), ..fits.clone() }, false),
        (Subject { domains: ["incident".to_owned()].into(), ..fits.clone() }, false),
        (Subject { versions: [("act".to_owned(), "1.0".to_owned())].into(), ..fits.clone() }, true),
        (Subject { versions: [("act".to_owned(), "1".to_owned())].into(), ..fits.clone() }, false),
    ];
    for (subject, sees) in subjects {
        let mut world = World::in_memory();
        world.subject = subject.clone();
        world.add(tool(), echo());
        let ran = world.run(vec![proposed("c", "act", "{}")]).await;
        assert_eq!(ran.codes(), [if sees { "ok" } else { "unknown_tool" }], "{subject:?}"); // R-133, R-134
        assert_eq!(world.requests()[0].tools.len(), usize::from(sees)); // R-138
        assert_eq!(world.entered().len(), usize::from(sees));
    }
}

/// Only one tenant's contract covers paid tools.
struct Contracts;

impl Visibility for Contracts {
    fn sees(&self, subject: &Subject, tool: &ToolSpec) -> bool {
        subject.tenant == "demo" || !tool.name().starts_with("paid_")
    }
}

#[tokio::test]
async fn a_tool_that_a_projects_rule_hides_is_refused_when_called() {
    for (tenant, codes) in [("demo", ["ok", "ok"]), ("prod", ["ok", "unknown_tool"])] {
        let mut world = World::in_memory();
        world.registry = Arc::new(Registry::default().with_visibility(Arc::new(Contracts)));
        world.subject.tenant = tenant.to_owned();
        reads(&world, &["free_search", "paid_search"]);
        let ran = world.run(vec![proposed("c", "free_search", "{}"), proposed("d", "paid_search", "{}")]).await;
        assert_eq!(ran.codes(), codes, "{tenant}"); // R-133, R-148
        let seen = codes.iter().filter(|code| **code == "ok").count();
        assert_eq!(world.requests()[0].tools.len(), seen, "{tenant}"); // R-138
        assert_eq!(world.entered().len(), seen, "{tenant}");
        assert_eq!(code_of(&world.direct("paid_search", "{}").await), codes[1], "{tenant}");
        if tenant == "prod" {
            assert_eq!(ran.settled(1).audit.reason.as_deref(), Some("not_allowed")); // R-142
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_seen_is_still_judged() {
    let mut world = World::in_memory();
    world.registry = Arc::new(Registry::default().with_visibility(Arc::new(Contracts)));
    world.subject.tenant = "demo".to_owned();
    let denied = ToolSpec::builder("paid_search").effect(Effect::Read).permission(Permission::Deny);
    world.add(denied, echo());
    let ran = world.run(vec![proposed("c", "paid_search", "{}")]).await;
    assert_eq!(ran.codes(), ["policy_denied"]); // R-139
    assert!(world.entered().is_empty());
}

/// The events of the line, as the registry sees them when a server's list changes under a run.
pub(super) async fn list_changes_under_a_run(case: Case) {
    let [start, change, calls] = case.texts("/input/events").try_into().unwrap();
    assert_eq!(start, "run starts with {a,b}");
    assert_eq!(change, "server drops b, changes a's schema, adds c, notifies");
    assert_eq!(calls, "model calls b, then a");
    let world = World::in_memory();
    reads(&world, &["a", "b"]);
    let (registry, once, added) = (Arc::clone(&world.registry), std::sync::Mutex::new(Some(())), world.clone());
    // The change comes while the first turn is under way.
    let changes = in_time(move |_, _| {
        if once.lock().unwrap().take().is_some() {
            assert!(registry.revoke("b"));
            let schema = r#"{"type":"object","properties":{"x":{"type":"string"}}}"#;
            let a = ToolSpec::builder("a").effect(Effect::Read).input_schema_text(schema);
            registry.replace(added.spec(a, echo()), ReplacementRule::Stop).unwrap();
            reads(&added, &["c"]);
        }
        std::future::ready(Ok(Output::of("changed")))
    });
    world.add(ToolSpec::builder("change").effect(Effect::Read), changes);
    let turn = |names: &[&str]| Turn::Calls(names.iter().map(|name| proposed("c", name, "{}")).collect());
    let ran = world.run_turns(vec![turn(&["change"]), turn(&["b", "a", "c"])]).await;
    assert_eq!(ran.codes(), ["ok", "unknown_tool", "definition_changed", "unknown_tool"]); // R-151
    let reasons: Vec<_> = (1..4).map(|index| ran.settled(index).audit.reason.clone().unwrap()).collect();
    assert_eq!(reasons, ["revoked", "definition_changed", "not_allowed"]);
    // Only a new binding has the new set.
    let ran = world.run(["a", "b", "c"].map(|name| proposed("c", name, "{}")).to_vec()).await;
    assert_eq!(ran.codes(), ["ok", "unknown_tool", "ok"]); // R-147
}

/// What comes later under the name of a tool that was revoked is another tool.
#[tokio::test]
async fn a_name_that_comes_back_is_not_the_old_one() {
    let world = World::in_memory();
    reads(&world, &["act"]);
    let binding = world.binding();
    assert!(world.registry.revoke("act"));
    let impostor = ToolSpec::builder("act").description("another").effect(Effect::Read);
    world.add(impostor, at_once(|_| panic!("an old run reached a new tool")));
    let call = DirectCall::new(world.subject.clone(), binding.clone(), "act", "{}");
    let answer = world.runner(Vec::new()).call(call).await.unwrap();
    assert_eq!(code_of(&answer), "definition_changed"); // R-028
    // The very same definition is the same tool.
    assert!(world.registry.revoke("act"));
    reads(&world, &["act"]);
    let call = DirectCall::new(world.subject.clone(), binding, "act", "{}");
    assert_eq!(code_of(&world.runner(Vec::new()).call(call).await.unwrap()), "ok");
}
