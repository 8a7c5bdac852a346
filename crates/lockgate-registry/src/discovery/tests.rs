#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod shelves;
mod versions;
mod visibility;

use lockgate_contract::effect::{Idempotency, Permission};
use lockgate_contract::tool::{Audience, Failure, Handler, ToolSpecBuilder};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;
use crate::registry::ReplacementRule;

fn tool(name: &str) -> ToolSpecBuilder {
    ToolSpec::builder(name).description(format!("The tool {name}.")).effect(Effect::Read)
}

fn registry(tools: impl IntoIterator<Item = ToolSpecBuilder>) -> Registry {
    let registry = Registry::default();
    for tool in tools {
        registry.register(tool.build().unwrap()).unwrap();
    }
    registry
}

fn set<const N: usize>(words: [&str; N]) -> BTreeSet<String> {
    words.map(str::to_owned).into()
}

fn pins<const N: usize>(pins: [(&str, &str); N]) -> BTreeMap<String, String> {
    pins.map(|(name, version)| (name.to_owned(), version.to_owned())).into()
}

fn alice() -> Subject {
    Subject {
        tenant: "demo".to_owned(),
        user: "alice".to_owned(),
        agent: "helper".to_owned(),
        scopes: set(["files", "mail"]),
        domains: set(["support"]),
        level: Effect::Write,
        versions: pins([("pay", "1.0")]),
    }
}

/// A rule of a project.
struct Rule<F>(F);

impl<F: Fn(&Subject, &ToolSpec) -> bool + Send + Sync> Visibility for Rule<F> {
    fn sees(&self, subject: &Subject, tool: &ToolSpec) -> bool {
        (self.0)(subject, tool)
    }
}

fn names(discovery: &Discovery) -> Vec<String> {
    discovery.capabilities().into_iter().map(|capability| capability.name).collect()
}

fn sees(subject: &Subject, tool: ToolSpecBuilder) -> bool {
    registry([tool]).discover(subject).standing() == Standing::Visible
}

/// Part 5, "Discovery": every combination of demands, and whether the tool is then seen and can be called.
#[test]
fn the_matrix() {
    for bits in 0u32..1 << 10 {
        let bit = |index: u32| bits & (1 << index) != 0;
        let [registered, listed, scopes, tenant, agent, domain, level, version, shown_by_rule, revoked] =
            std::array::from_fn(|index| bit(u32::try_from(index).unwrap()));
        let either = |met: bool, one: &'static str, other: &'static str| if met { one } else { other };
        let rule = Rule(move |_: &Subject, tool: &ToolSpec| shown_by_rule || tool.name() != "pay");
        let registry = Registry::default().with_visibility(Arc::new(rule));
        registry.register(tool("other").build().unwrap()).unwrap();
        if registered {
            let demanding = tool("pay")
                .scopes(["files", either(scopes, "mail", "admin")])
                .audience(Audience {
                    tenants: set([either(tenant, "demo", "prod")]),
                    agents: set([either(agent, "helper", "clerk")]),
                    domain: Some(either(domain, "support", "finance").to_owned()),
                })
                .effect(if level { Effect::Write } else { Effect::External })
                .version(either(version, "1.0", "1.1"));
            registry.register(demanding.build().unwrap()).unwrap();
        }
        let allow = ["other".to_owned(), either(listed, "pay", "pay_out").to_owned()];
        let discovery = registry.discover(&alice()).only(&allow);
        let demands = scopes && tenant && agent && domain && level && version;
        let visible = registered && listed && demands && shown_by_rule;
        // R-133, R-134, R-141, R-142.
        assert_eq!(names(&discovery).contains(&"pay".to_owned()), visible, "{bits:010b}");

        let allowed = discovery.bind().allowed;
        if revoked {
            registry.revoke("pay");
        }
        // R-139, R-084, R-148: what the list said earlier is not what decides.
        let record = match (registered && !revoked, visible) {
            (true, true) => "callable",
            (true, false) => "not_allowed",
            (false, true) => "revoked",
            (false, false) => "not_registered",
        };
        let found = registry.resolve("pay", &allowed).map_or_else(|error| error.reason(), |_| "callable");
        assert_eq!(found, record, "{bits:010b}");
        let shown = registry.definitions(&allowed).iter().any(|definition| definition.name == "pay");
        assert_eq!(shown, record == "callable", "{bits:010b}"); // R-145
    }
}

#[test]
fn all_scopes_are_needed() {
    let subject = |scopes| Subject { scopes, ..alice() };
    for (needed, held, visible) in [
        (set([]), set([]), true),
        (set([]), set(["files"]), true),
        (set(["files"]), set([]), false),
        (set(["files"]), set(["files", "mail"]), true),
        (set(["files", "mail"]), set(["files"]), false),
        (set(["files"]), set(["file"]), false),
        (set(["files"]), set(["files:read"]), false),
        (set(["files"]), set(["FILES"]), false),
        (set(["files"]), set(["*"]), false),
    ] {
        assert_eq!(sees(&subject(held.clone()), tool("t").scopes(needed.clone())), visible, "{needed:?} in {held:?}"); // R-134
    }
}

#[test]
fn no_effect_beyond_the_level_is_seen() {
    for level in Effect::ALL {
        for effect in Effect::ALL {
            let subject = Subject { level: *level, ..alice() };
            assert_eq!(sees(&subject, tool("t").effect(*effect)), effect <= level); // R-133
        }
    }
    assert!(Effect::Read < Effect::Write && Effect::Write < Effect::External);
}

#[test]
fn domains_tenants_and_agents() {
    let in_domain = |domain: Option<&str>| Audience { domain: domain.map(str::to_owned), ..Audience::default() };
    for (domain, domains, visible) in [
        (None, set([]), true),
        (None, set(["hr"]), true),
        (Some("hr"), set(["hr", "it"]), true),
        (Some("hr"), set(["it"]), false),
        (Some("hr"), set(["*"]), false),
        (Some("hr"), set([]), false),
        (Some(""), set([]), false),
    ] {
        let subject = Subject { domains: domains.clone(), ..alice() };
        assert_eq!(sees(&subject, tool("t").audience(in_domain(domain))), visible, "{domain:?} in {domains:?}"); // R-133
    }
    assert!(!sees(&Subject::default(), tool("t").audience(in_domain(Some("hr"))))); // R-133
    let audience = |tenants, agents| Audience { tenants, agents, domain: None };
    for (tenants, agents, visible) in [
        (set([]), set([]), true),
        (set(["demo", "prod"]), set([]), true),
        (set([]), set(["clerk", "helper"]), true),
        (set(["prod"]), set(["helper"]), false),
        (set(["demo"]), set(["clerk"]), false),
        (set(["helper"]), set(["demo"]), false),
    ] {
        assert_eq!(sees(&alice(), tool("t").audience(audience(tenants, agents))), visible);
    }
}

#[test]
fn the_list_is_sorted_and_holds_no_internals() {
    let registry = registry([
        tool("b").effect(Effect::Write).source("mcp:https://10.0.0.1/secret").version("2.1").scopes(["files"]),
        tool("a").handler(Handler::typed(|_: IgnoredAny| async { Ok::<_, Failure>(()) })).resource_keys(["/var/db"]),
    ]);
    let capabilities = registry.discover(&alice()).capabilities();
    // R-135, R-136: exactly these fields.
    assert_eq!(
        serde_json::to_string(&capabilities).unwrap(),
        r#"[{"name":"a","summary":"The tool a.","read_only":true,"version":"1.0"},{"name":"b","summary":"The tool b.","read_only":false,"version":"2.1"}]"#
    );
}

#[test]
fn nothing_registered_is_not_nothing_visible() {
    let nothing = Subject { scopes: set([]), ..alice() };
    let empty = registry([]).discover(&alice());
    let hidden = registry([tool("t").scopes(["files"])]).discover(&nothing);
    let visible = registry([tool("t").scopes(["files"])]).discover(&alice());
    // R-140: both lists are empty, and told apart.
    assert!(empty.capabilities().is_empty() && hidden.capabilities().is_empty());
    assert_eq!(empty.standing(), Standing::NothingRegistered);
    assert_eq!(hidden.standing(), Standing::NothingVisible);
    assert_eq!(visible.standing(), Standing::Visible);
    // An operator's list that covers nothing hides tools; it does not unregister them.
    assert_eq!(visible.only(&[]).standing(), Standing::NothingVisible);
    assert_eq!(empty.only(&[]).standing(), Standing::NothingRegistered);
    assert_eq!(hidden.only(&["*".to_owned()]).standing(), Standing::NothingVisible);
    let words: Vec<_> = [Standing::Visible, Standing::NothingVisible, Standing::NothingRegistered]
        .iter()
        .map(|standing| serde_json::to_string(standing).unwrap())
        .collect();
    assert_eq!(words, [r#""visible""#, r#""nothing_visible""#, r#""nothing_registered""#]);
}

#[test]
fn a_revoked_tool_is_no_longer_registered() {
    let registry = registry([tool("t")]);
    registry.revoke("t");
    assert_eq!(registry.discover(&alice()).standing(), Standing::NothingRegistered); // R-140
}

#[test]
fn looking_changes_nothing() {
    let registry = registry([tool("a"), tool("b").scopes(["admin"])]);
    let before = (registry.names(), registry.changes().len());
    let discovery = registry.discover(&alice()).only(&[]);
    let _ = discovery.bind();
    assert_eq!((registry.names(), registry.changes().len()), before); // R-137
}

#[test]
fn people_and_models_see_the_same_names() {
    let registry = registry([tool("a"), tool("b"), tool("c").scopes(["admin"])]);
    let discovery = registry.discover(&alice());
    let allowed = discovery.bind().allowed;
    let shown: Vec<_> = registry.definitions(&allowed).into_iter().map(|tool| tool.name).collect();
    assert_eq!(names(&discovery), shown); // R-138
    assert_eq!(names(&discovery), allowed.names().collect::<Vec<_>>()); // R-145
}

#[test]
fn each_run_asks_anew() {
    let registry = registry([tool("a")]);
    let first = registry.discover(&alice());
    registry.register(tool("b").build().unwrap()).unwrap();
    assert_eq!(names(&first), ["a"]);
    assert_eq!(names(&registry.discover(&alice())), ["a", "b"]); // R-152
    let reader = Subject { scopes: set([]), level: Effect::Read, ..alice() };
    registry.register(tool("c").effect(Effect::Write).build().unwrap()).unwrap();
    assert_eq!(names(&registry.discover(&reader)), ["a", "b"]); // R-132
}

#[test]
fn an_operators_list_is_exact_but_for_the_star() {
    let all = ["read", "read_secret", "pre_read", "READ", "write", "write_file", "a*b"];
    let of = |rules: &[&str]| {
        let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        names(&registry(all.map(tool)).discover(&alice()).only(&rules))
    };
    assert_eq!(of(&["read"]), ["read"]);
    assert_eq!(of(&["read*"]), ["read", "read_secret"]);
    assert_eq!(of(&["*read"]), ["pre_read", "read"]);
    assert_eq!(of(&["w*e", "read"]), ["read", "write", "write_file"]);
    assert_eq!(of(&["a*b"]), ["a*b"]);
    assert_eq!(of(&["r.ad", "read?", "[r]ead", " read", "read ", ""]), <[&str; 0]>::default());
    assert_eq!(of(&["*"]).len(), all.len());
    // A list narrows; it shows nobody what the subject may not see.
    let registry = registry([tool("secret").scopes(["admin"])]);
    assert!(registry.discover(&alice()).only(&["*".to_owned(), "secret".to_owned()]).capabilities().is_empty()); // R-134
}

/// A rule covers a name when its first character is used up by the name's first, or is a star that takes none or one.
fn covers(rule: &[char], name: &[char]) -> bool {
    match rule.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => covers(rest, name) || (!name.is_empty() && covers(rule, &name[1..])),
        Some((first, rest)) => name.first() == Some(first) && covers(rest, &name[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn rules_mean_what_they_say(rule in "[abé*]{0,7}", name in "[abé*]{0,8}") {
        let (rule_chars, name_chars): (Vec<char>, Vec<char>) = (rule.chars().collect(), name.chars().collect());
        prop_assert_eq!(matches_rule(&rule, &name), covers(&rule_chars, &name_chars), "{} {}", rule, name);
    }

    #[test]
    fn a_name_with_parts_taken_out_is_covered(name in "[abc]{0,8}", cuts in prop::collection::vec((0usize..9, 0usize..4), 0..3)) {
        let mut rule = name.clone();
        for (at, length) in cuts {
            let at = at.min(rule.len());
            rule.replace_range(at..(at + length).min(rule.len()), "*");
        }
        prop_assert!(matches_rule(&rule, &name), "{} {}", rule, name);
    }
}

#[test]
fn a_bound_run_knows_what_the_harness_needs() {
    let registry = registry([
        tool("read").resource_keys(["disk", "index"]),
        tool("careful_read").replay(ReplayPolicy::Never),
        tool("write").effect(Effect::Write),
        tool("put").effect(Effect::Write).idempotency(Idempotency::Declared),
        tool("finish").effect(Effect::Write).completes_run(true),
        tool("hidden").scopes(["admin"]).completes_run(true),
    ]);
    let binding = registry.discover(&alice()).bind();
    assert_eq!(binding.allowed.names().collect::<Vec<_>>(), ["careful_read", "finish", "put", "read", "write"]);
    assert_eq!(binding.allowed.source(), "subject:demo/alice/helper"); // R-144
    assert_eq!(binding.completes_run, set(["finish"])); // R-117
    assert_eq!(binding.replayable, set(["put", "read"])); // R-127, R-128
    let reads: Vec<_> = binding.reads.iter().map(|(name, keys)| (name.as_str(), keys.clone())).collect();
    assert_eq!(reads, [("careful_read", set([])), ("read", set(["disk", "index"]))]);
    for name in binding.allowed.names() {
        assert!(binding.allowed.permits(name)); // R-143
        assert_eq!(binding.allowed.definition(name), Some(registry.get(name).unwrap().spec().definition()));
    }
}

#[test]
fn what_comes_later_does_not_reach_a_bound_run() {
    let registry = registry([tool("a"), tool("b"), tool("c")]);
    let discovery = registry.discover(&alice());
    let binding = discovery.bind();
    let (frozen, text) = (binding.clone(), serde_json::to_string(&binding).unwrap());

    registry.register(tool("d").completes_run(true).build().unwrap()).unwrap();
    registry.replace(tool("a").version("2").completes_run(true).build().unwrap(), ReplacementRule::Stop).unwrap();
    registry.replace(tool("b").permission(Permission::Deny).build().unwrap(), ReplacementRule::Finish).unwrap();
    registry.revoke("c");

    // R-147: neither the set, nor the discovery that it came from.
    assert_eq!(binding, frozen);
    assert_eq!(discovery.bind(), frozen);
    assert_eq!(serde_json::to_string(&binding).unwrap(), text);
    // The run notices by refusals, one by one, and never silently gets other tools.
    let reason = |name| registry.resolve(name, &binding.allowed).map_or_else(|error| error.reason(), |_| "callable");
    assert_eq!(["a", "b", "c", "d"].map(reason), ["definition_changed", "callable", "revoked", "not_allowed"]); // R-148, R-151
    assert_eq!(registry.resolve("b", &binding.allowed).unwrap().spec().permission(), Permission::Allow);
}
