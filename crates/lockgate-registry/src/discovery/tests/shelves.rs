//! However the registry came to be, looking at some of it finds what looking at all of it finds.

use super::*;

/// One change of the registry.
#[derive(Debug, Clone)]
enum Step {
    Register(usize, BTreeSet<String>),
    Replace(usize, BTreeSet<String>),
    Revoke(usize),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn scopes() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set(
        prop::sample::select(vec!["admin", "files", "mail", "pay"]).prop_map(str::to_owned),
        0..3,
    )
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (name.clone(), scopes()).prop_map(|(name, scopes)| Step::Register(name, scopes)),
        3 => (name.clone(), scopes()).prop_map(|(name, scopes)| Step::Replace(name, scopes)),
        1 => name.prop_map(Step::Revoke),
    ]
}

#[test]
fn tools_that_ask_for_another_scope_are_not_looked_at() {
    let registry = registry([
        tool("none"),
        tool("admin").scopes(["admin"]),
        tool("files").scopes(["files"]),
        tool("both").scopes(["files", "mail"]),
    ]);
    let looked_at = |scopes| {
        let (tools, registered) = registry.tools_within(&scopes);
        assert!(registered);
        tools.iter().map(|tool| tool.spec().name().to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(looked_at(set([])), set(["none"]));
    // The first scope decides; the others are asked for one by one.
    assert_eq!(looked_at(set(["mail"])), set(["none"]));
    assert_eq!(looked_at(set(["files"])), set(["none", "files", "both"]));
    assert_eq!(looked_at(set(["admin", "files"])), set(["none", "admin", "files", "both"]));
}

proptest! {
    #[test]
    fn what_is_seen_is_what_all_tools_and_their_demands_say(
        steps in prop::collection::vec(step(), 1..20),
        of_the_subject in scopes(),
    ) {
        let registry = Registry::default();
        for (number, step) in steps.into_iter().enumerate() {
            let spec = |name: usize, scopes| {
                tool(NAMES[name]).version(format!("1.{number}")).scopes(scopes).build().unwrap()
            };
            match step {
                // A refusal leaves everything as it was.
                Step::Register(name, scopes) => drop(registry.register(spec(name, scopes))),
                Step::Replace(name, scopes) => drop(registry.replace(spec(name, scopes), ReplacementRule::Finish)),
                Step::Revoke(name) => drop(registry.revoke(NAMES[name])),
            }
        }
        let subject = Subject { scopes: of_the_subject, ..alice() };
        // People, the model and the run's own set have the same names.
        let seen = |registry: &Registry| {
            let discovery = registry.discover(&subject);
            let (shown, bound) = (names(&discovery), discovery.bind().allowed);
            assert_eq!(bound.names().collect::<Vec<_>>(), shown);
            let definitions = registry.definitions(&bound);
            assert_eq!(definitions.into_iter().map(|definition| definition.name).collect::<Vec<_>>(), shown);
            shown
        };
        let demands_met = |registry: &Registry| -> Vec<String> {
            let all = registry.tools();
            let met = all.iter().filter(|tool| meets_demands(&subject, tool.spec()));
            met.map(|tool| tool.spec().name().to_owned()).collect()
        };
        prop_assert_eq!(seen(&registry), demands_met(&registry));
        let fewer = registry.restrict_to(registry.names().iter().map(String::as_str).filter(|name| *name != "b")).unwrap();
        prop_assert_eq!(seen(&fewer), demands_met(&fewer));
    }
}
