//! The two views of every tool.

use std::collections::BTreeSet;

use lockgate_contract::document::Document;

use super::*;

fn keys(view: &impl serde::Serialize) -> BTreeSet<String> {
    Document::from_serialize(view).unwrap().root().members().map(|(key, _)| key.into_owned()).collect()
}

/// A tool with every optional field set, so that none is hidden by being absent.
fn full(name: &str) -> ToolSpec {
    tool(name)
        .permission_reason("It reads.")
        .output_schema_text(r#"{"type":"string"}"#)
        .scopes(["files"])
        .timeout(std::time::Duration::from_secs(1))
        .resource_keys(["disk"])
        .pre_check(|_| Ok(()))
        .harmless_when(|_| true)
        .build()
        .unwrap()
}

#[test]
fn the_views_share_the_name_and_nothing_else() {
    let registry = Registry::default();
    registry.register(full("b")).unwrap();
    registry.register(without_handler("a").build().unwrap()).unwrap();
    let description = registry.describe();
    for (model, internal) in description.model.iter().zip(&description.internal) {
        let (model, internal) = (keys(model), keys(internal));
        assert_eq!(model.intersection(&internal).collect::<Vec<_>>(), ["name"]); // R-015, R-224
        assert_eq!(model, BTreeSet::from(["description", "input_schema", "name"].map(str::to_owned)));
        for held_back in ["source", "definition", "scopes", "permission", "has_handler", "abilities", "output_schema"] {
            assert!(internal.contains(held_back), "{held_back}"); // R-021
        }
    }
}

#[test]
fn both_views_have_exactly_the_registered_names() {
    let registry = registry(&["c", "a", "b"]);
    registry.revoke("b");
    let description = registry.describe();
    let model: Vec<_> = description.model.iter().map(|view| view.name.clone()).collect();
    let internal: Vec<_> = description.internal.iter().map(|view| view.name.clone()).collect();
    assert_eq!(model, registry.names()); // R-039, R-032, R-250
    assert_eq!(internal, registry.names()); // R-250
    assert!(Registry::default().describe().model.is_empty());
}

#[test]
fn abilities_and_handlers_are_data() {
    let registry = Registry::default();
    registry.register(full("b")).unwrap();
    registry.register(without_handler("a").build().unwrap()).unwrap();
    let internal = registry.describe().internal;
    // R-153, R-161: shown, whichever a tool has.
    assert_eq!(internal[0].abilities, <[&str; 0]>::default());
    assert_eq!(internal[1].abilities, ["pre_check", "harmless_when"]);
    assert_eq!([internal[0].has_handler, internal[1].has_handler], [false, true]);
    assert_eq!(internal[1].timeout_ms, Some(1000));
    assert_eq!(internal[1].definition, registry.get("b").unwrap().spec().definition());
}

#[test]
fn a_registry_and_its_schemas_can_be_shown() {
    let registry = Registry::default();
    assert!(registry.is_empty());
    assert!(format!("{registry:?}").starts_with("Registry { rules: RegistryRules { unknown_fields: AsDeclared }"));
    registry.register(full("b")).unwrap();
    assert!(!registry.is_empty());
    assert!(format!("{registry:?}").contains(r#"name: "b""#), "{registry:?}");
    let output = registry.get("b").unwrap().output().cloned().unwrap();
    assert_eq!(format!("{output:?}"), r#"Schema({"type":"string"})"#);
}

#[test]
fn a_tool_has_the_schemas_that_it_declares() {
    let registry = Registry::default();
    registry.register(full("b")).unwrap();
    registry.register(spec("a")).unwrap();
    let output = |name: &str, value: &str| {
        let tool = registry.get(name).unwrap();
        tool.output().map(|schema| schema.validate(&Document::from_serialize(value).unwrap()).is_ok())
    };
    assert_eq!(output("a", "text"), None);
    assert_eq!(output("b", "text"), Some(true));
    let tool = registry.get("b").unwrap();
    assert!(tool.output().unwrap().validate(&Document::from_serialize(&7).unwrap()).is_err()); // R-007
}

#[test]
fn the_model_sees_the_same_in_the_view_and_in_its_request() {
    let registry = registry(&["b", "a"]);
    let shown = registry.definitions(&bound(&registry));
    let viewed = registry.describe().model;
    assert_eq!(shown.len(), viewed.len());
    for (shown, viewed) in shown.iter().zip(&viewed) {
        assert_eq!((&shown.name, &shown.description), (&viewed.name, &viewed.description)); // R-031
        assert_eq!(shown.input_schema.text(), viewed.input_schema.text());
    }
}
