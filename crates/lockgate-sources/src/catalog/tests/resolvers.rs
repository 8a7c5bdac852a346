//! Handlers that a program brings along.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_contract::tool::Handler;

use super::*;
use crate::catalog::{Resolver, Target};

#[test]
fn native_rows_get_the_handler_of_their_key() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let handler = move || {
        count.fetch_add(1, Ordering::Relaxed);
        Handler::typed(|(): ()| async { Ok(true) }).blocking()
    };
    let resolvers = Resolvers::new().native("ship_order", handler).unwrap();
    let row = |name: &str, key: &str| {
        format!("[[tool]]\nname = \"{name}\"\nkind = \"native\"\ntarget = {{ key = \"{key}\" }}\n")
    };
    let (_folder, path) = toml_catalog(&(row("a", "ship_order") + &row("b", "ship_order")));
    let found = specs(&path, &resolvers).unwrap();
    assert!(found.iter().all(|spec| spec.handler().is_some_and(Handler::may_block)));
    assert_eq!((found.len(), made.load(Ordering::Relaxed)), (2, 2));

    let (folder, path) = toml_catalog(&row("a", "ship_oder"));
    let error = specs(&path, &resolvers).unwrap_err();
    assert_eq!(
        message(&folder, &error),
        "tool `a` of the catalog `tools.catalog`: there is no native handler `ship_oder`"
    );
    assert_eq!(error.hint().as_deref(), Some("did you mean `ship_order`?"));
}

#[test]
fn nothing_is_registered_twice() {
    struct Other;
    impl Resolver for Other {
        fn resolve(&self, _: &Target<'_>) -> Result<Handler, Problem> {
            Ok(Handler::typed(|(): ()| async { Ok(true) }))
        }
    }
    let handler = || Handler::typed(|(): ()| async { Ok(true) });
    for kind in ["table", "native"] {
        let error = Resolvers::new().kind(kind, Other).unwrap_err();
        assert_eq!(error.to_string(), format!("the kind `{kind}` is registered already"));
    }
    let error = Resolvers::new().native("a", handler).unwrap().native("a", handler).unwrap_err();
    assert_eq!(error.to_string(), "the native handler `a` is registered already");

    let resolvers = Resolvers::new().kind("other", Other).unwrap();
    let (_folder, path) = toml_catalog("[[tool]]\nname = \"a\"\nkind = \"other\"");
    assert_eq!(specs(&path, &resolvers).unwrap().len(), 1);
}

#[test]
fn a_kind_may_ask_how_often_its_tool_was_entered() {
    struct Asks(Arc<AtomicUsize>);
    impl Resolver for Asks {
        fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem> {
            self.0.store(target.entered_before() as usize, Ordering::Relaxed);
            Ok(Handler::typed(|(): ()| async { Ok(true) }))
        }
    }
    let heard = Arc::new(AtomicUsize::new(0));
    let resolvers = Resolvers::new().kind("asks", Asks(Arc::clone(&heard))).unwrap();
    let (_folder, path) = toml_catalog("[[tool]]\nname = \"a\"\nkind = \"asks\"");
    let before = |name: &str| u32::from(name == "a") * 3;
    Catalog::load(&path).unwrap().into_specs(&resolvers, &before).unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 3);
}
