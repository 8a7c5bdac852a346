//! A smaller registry out of a larger one.

use super::*;

#[test]
fn the_original_is_unchanged_and_handlers_travel() {
    let registry = registry(&["a", "b", "c"]);
    let restricted = Arc::new(registry.restrict_to(["c", "a", "c"]).unwrap());
    assert_eq!(restricted.names(), ["a", "c"]);
    assert_eq!(registry.names(), ["a", "b", "c"]);
    for name in ["a", "c"] {
        // the very same tool, its handler inside.
        assert!(Arc::ptr_eq(&restricted.get(name).unwrap(), &registry.get(name).unwrap()));
    }
    assert!(restricted.executor().is_ok());

    // From here on they are two.
    assert!(restricted.revoke("a"));
    registry.register(spec("d")).unwrap();
    assert_eq!(restricted.names(), ["c"]);
    assert_eq!(registry.names(), ["a", "b", "c", "d"]);
}

#[test]
fn unknown_names_are_refused_all_at_once() {
    let registry = registry(&["a", "b"]);
    let unknown = registry.restrict_to(["b", "z", "a", "A", "z"]).unwrap_err();
    assert_eq!(unknown, UnknownTools(vec!["A".to_owned(), "z".to_owned()]));
    assert_eq!(unknown.to_string(), "no such tools: A, z");
    assert!(registry.restrict_to([]).unwrap().is_empty());
}

#[test]
fn the_executor_of_the_original_asks_nothing_of_the_new_one() {
    let registry = Arc::new(registry(&["a"]));
    let _executor = registry.executor().unwrap();
    let restricted = registry.restrict_to(["a"]).unwrap();
    restricted.register(without_handler("b").build().unwrap()).unwrap();
    assert!(Arc::new(restricted).executor().is_err());
}

#[test]
fn runs_reach_the_same_through_it() {
    let registry = registry(&["a", "b"]);
    let old = bound(&registry);
    registry.replace(version("a", "2"), ReplacementRule::Finish).unwrap();
    registry.replace(version("b", "2"), ReplacementRule::Migrate).unwrap();
    let restricted = registry.restrict_to(["a", "b"]).unwrap();
    for registry in [&registry, &restricted] {
        assert_eq!(reached(registry, "a", &old), Ok("1.0".to_owned()));
        assert_eq!(reached(registry, "b", &old), Ok("2".to_owned()));
    }
    // A name that was left out is not reached by way of an older definition.
    let restricted = registry.restrict_to(["b"]).unwrap();
    assert_eq!(reached(&restricted, "a", &old), Err("revoked"));
}
