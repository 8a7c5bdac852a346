//! A project's own rule, which can only narrow.

use std::sync::Mutex;

use super::*;

#[test]
fn a_projects_rule_hides_and_never_shows() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let rule = Rule(move |subject: &Subject, tool: &ToolSpec| {
        noted.lock().unwrap().push(tool.name().to_owned());
        subject.tenant == "demo" || tool.name() != "paid"
    });
    let registry = Registry::default().with_visibility(Arc::new(rule));
    let audience = |tenant| Audience { tenants: set([tenant]), ..Audience::default() };
    let finance = Audience { domain: Some("finance".to_owned()), ..Audience::default() };
    for tool in [
        tool("free"),
        tool("paid"),
        tool("beyond_scopes").scopes(["admin"]),
        tool("beyond_level").effect(Effect::External),
        tool("beyond_audience").audience(audience("nobody")),
        tool("beyond_domain").audience(finance),
        tool("beyond_version").version("2"),
    ] {
        registry.register(tool.build().unwrap()).unwrap();
    }
    let demo = Subject { versions: pins([("beyond_version", "1.0")]), ..alice() };
    let prod = Subject { tenant: "prod".to_owned(), ..demo.clone() };
    assert_eq!(names(&registry.discover(&demo)), ["free", "paid"]);
    // Declared demands come first: of a tool that they hide, the rule is not even asked.
    assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), ["free", "paid"]);
    let hidden = registry.discover(&prod);
    assert_eq!(names(&hidden), ["free"]);
    assert!(!hidden.bind().allowed.permits("paid"));
    // Somebody else's list does not show it again.
    assert_eq!(names(&registry.discover(&prod).only(&["*".to_owned(), "paid".to_owned()])), ["free"]);
    // What is left out of a smaller registry is tools, not the rule.
    let restricted = registry.restrict_to(["paid", "beyond_scopes"]).unwrap();
    assert_eq!(names(&restricted.discover(&demo)), ["paid"]);
    assert_eq!(restricted.discover(&prod).standing(), Standing::NothingVisible);
    // Hidden is not gone: the tool is there for those who see it.
    assert!(registry.get("paid").is_some());
}

#[test]
fn a_rule_that_panics_hides() {
    let rule = Rule(|_: &Subject, tool: &ToolSpec| tool.name() == "a" || panic!("a defect of the rule"));
    let registry = Registry::default().with_visibility(Arc::new(rule));
    for name in ["a", "b", "c"] {
        registry.register(tool(name).build().unwrap()).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(names(&registry.discover(&alice())), ["a"]);
    }
}

#[test]
fn of_several_rules_each_hides() {
    let not = |hidden: &'static str| Rule(move |_: &Subject, tool: &ToolSpec| tool.name() != hidden);
    let registry = Registry::default().with_visibility(Arc::new(not("a"))).with_visibility(Arc::new(not("b")));
    for name in ["a", "b", "c"] {
        registry.register(tool(name).build().unwrap()).unwrap();
    }
    assert_eq!(names(&registry.discover(&alice())), ["c"]);
    assert_eq!(names(&registry.restrict_to(["a", "b", "c"]).unwrap().discover(&alice())), ["c"]);
}
