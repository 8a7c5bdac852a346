//! What a name is to a run: {registered, allowed, digest} and the reason.

use super::*;

#[test]
fn every_combination_has_its_answer() {
    let registry = registry(&["kept", "changed", "hidden", "gone"]);
    let all = bound(&registry);
    let allowed = AllowedTools::new(
        "subject:demo/alice/helper",
        ["kept", "changed", "gone"].map(|name| (name.to_owned(), all.definition(name).unwrap())),
    );
    registry.replace(version("changed", "2.0"), ReplacementRule::Stop).unwrap();
    registry.revoke("gone");

    // C-1, C-5, R-149: (registered?, allowed?, same definition?) -> reason, version for the audit (C-10), text.
    for (name, reason, version, text) in [
        ("kept", "ok", None, String::new()),
        (
            "changed",
            "definition_changed",
            Some("2.0"),
            format!(
                "tool `changed` changed: the run is bound to {}, registered is {}",
                all.definition("changed").unwrap(),
                registry.get("changed").unwrap().spec().definition(),
            ),
        ),
        (
            "hidden",
            "not_allowed",
            Some("1.0"),
            "tool `hidden` 1.0 is not in the allowed set of subject:demo/alice/helper".to_owned(),
        ),
        ("gone", "revoked", None, "tool `gone` was revoked".to_owned()),
        ("absent", "not_registered", None, "no tool `absent` is registered".to_owned()),
        ("KEPT", "not_registered", None, "no tool `KEPT` is registered".to_owned()), // R-067: no fuzzy names
        ("", "not_registered", None, "no tool `` is registered".to_owned()),
    ] {
        match registry.resolve(name, &allowed) {
            Ok(tool) => {
                assert_eq!(("ok", name), (reason, tool.spec().name()));
                assert_eq!(tool.spec().definition(), allowed.definition(name).unwrap());
            }
            Err(error) => {
                assert_eq!(error.reason(), reason, "{name}");
                assert_eq!(error.registered_version(), version, "{name}");
                assert_eq!(error.to_string(), text, "{name}");
            }
        }
    }
}

#[test]
fn a_registered_tool_is_callable_by_nobody_until_a_run_is_bound_to_it() {
    let registry = registry(&["read"]);
    let nothing = AllowedTools::new("nobody", []);
    assert!(matches!(registry.resolve("read", &nothing), Err(ResolveError::NotAllowed { .. }))); // R-141, R-142, R-148
    assert!(registry.definitions(&nothing).is_empty());
    assert_eq!(registry.names(), ["read"]); // R-033
}

#[test]
fn a_set_bound_to_another_definition_reaches_nothing() {
    let registry = registry(&["read"]);
    let foreign = AllowedTools::new("run", [("read".to_owned(), version("read", "9").definition())]);
    assert_eq!(reached(&registry, "read", &foreign), Err("definition_changed")); // R-151
    assert!(registry.definitions(&foreign).is_empty());
}

#[test]
fn the_model_is_shown_what_resolves_and_nothing_else() {
    let registry = registry(&["a", "b", "c", "d"]);
    let allowed = bound(&registry);
    registry.register(spec("e")).unwrap();
    registry.revoke("a");
    registry.replace(version("b", "2"), ReplacementRule::Stop).unwrap();
    registry.replace(tool("c").description("New.").version("2").build().unwrap(), ReplacementRule::Finish).unwrap();
    registry.replace(tool("d").description("New.").version("2").build().unwrap(), ReplacementRule::Migrate).unwrap();
    let shown: Vec<_> = registry
        .definitions(&allowed)
        .into_iter()
        .map(|tool| (tool.name, tool.description, tool.input_schema.text().to_owned()))
        .collect();
    let none = r#"{"type":"object","additionalProperties":false}"#;
    // R-031, R-145: sorted; with the definition that a call would reach.
    assert_eq!(
        shown,
        [
            ("c".to_owned(), "The tool c.".to_owned(), none.to_owned()),
            ("d".to_owned(), "New.".to_owned(), none.to_owned()),
        ]
    );
}
