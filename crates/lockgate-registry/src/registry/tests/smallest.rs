//! The smallest registry, from registration to what a subject may call.

use lockgate_contract::subject::Subject;

use super::*;

#[test]
fn one_tool_is_shown_and_one_is_hidden() {
    let registry = Registry::default();
    registry.register(tool("get_status").scopes(["build:read"]).build().unwrap()).unwrap();
    assert_eq!(registry.names(), ["get_status"]);
    let twice = registry.register(spec("get_status"));
    assert!(matches!(&twice, Err(RegisterError::Duplicate { name, .. }) if name == "get_status"), "{twice:?}");
    registry.register(tool("publish").scopes(["release:write"]).build().unwrap()).unwrap();

    let subject = Subject { scopes: ["build:read".to_owned()].into(), ..Subject::default() };
    let discovery = registry.discover(&subject);
    let shown: Vec<_> = discovery.capabilities().into_iter().map(|tool| (tool.name, tool.read_only)).collect();
    assert_eq!(shown, [("get_status".to_owned(), true)]);
    let allowed = discovery.bind().allowed;
    assert_eq!(["get_status", "publish"].map(|name| allowed.permits(name)), [true, false]);
}
