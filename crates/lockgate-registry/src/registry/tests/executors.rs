//! Executors and the handlers that they need.

use super::*;

#[test]
fn a_tool_without_a_handler_is_legal_until_an_executor_is_built() {
    let registry = Arc::new(registry(&["a", "d"]));
    for name in ["c", "b"] {
        registry.register(without_handler(name).build().unwrap()).unwrap();
    }
    let allowed = bound(&registry);
    // Models see it, and the library checks its existence and its arguments.
    assert_eq!(registry.definitions(&allowed).len(), 4);
    assert!(registry.resolve("b", &allowed).is_ok());

    // at once, and all of them.
    let missing = registry.executor().unwrap_err();
    assert_eq!(missing, MissingHandlers(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(missing.to_string(), "these tools have no handler: b, c");

    // A failed attempt requires nothing of later tools.
    registry.register(without_handler("e").build().unwrap()).unwrap();
    for name in ["b", "c", "e"] {
        assert!(registry.revoke(name));
    }
    let executor = registry.executor().unwrap();
    assert!(Arc::ptr_eq(executor.registry(), &registry));
}

#[test]
fn once_an_executor_is_built_every_tool_needs_a_handler() {
    let registry = Arc::new(registry(&["a"]));
    let _executor: RegistryExecutor = registry.executor().unwrap();
    let error = registry.register(without_handler("b").build().unwrap()).unwrap_err();
    assert!(matches!(&error, RegisterError::MissingHandler(name) if name == "b"));
    assert_eq!(error.word(), "missing_handler");
    let error =
        registry.replace(without_handler("a").version("2").build().unwrap(), ReplacementRule::Finish).unwrap_err();
    assert!(matches!(&error, RegisterError::MissingHandler(name) if name == "a"));
    assert_eq!(registry.names(), ["a"]);
    assert!(registry.get("a").unwrap().spec().handler().is_some());
    assert_eq!(registry.changes().len(), 3);

    // tools with one still come and go.
    registry.register(spec("c")).unwrap();
    assert!(registry.executor().is_ok());
}

#[test]
fn an_executor_of_nothing_dispatches_nothing() {
    assert!(Arc::new(Registry::default()).executor().is_ok());
}
