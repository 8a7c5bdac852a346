//! What may be registered, and what becomes of what may not.

use super::*;

#[test]
fn names_that_cannot_be_reviewed_are_refused() {
    let long = "n".repeat(257);
    for (name, problem) in [
        ("", "it is empty"), // R-023
        (" ", "it is empty"),
        ("\u{3000}\n", "it is empty"),
        (" read", "it begins or ends with white space"),
        ("read\n", "it begins or ends with white space"),
        (&long, "it is longer than 256 bytes"),
        ("re\u{200b}ad", "it holds characters that cannot be seen, or what would pass for one that is shown"),
        ("read\u{202e}", "it holds characters that cannot be seen, or what would pass for one that is shown"),
        ("re\u{7}ad", "it holds characters that cannot be seen, or what would pass for one that is shown"),
        ("re\u{e0041}ad", "it holds characters that cannot be seen, or what would pass for one that is shown"),
        (r"re\u{200b}ad", "it holds characters that cannot be seen, or what would pass for one that is shown"),
    ] {
        let registry = registry(&["kept"]);
        let error = registry.register(spec(name)).unwrap_err();
        assert!(matches!(&error, RegisterError::Name { problem: found, .. } if *found == problem), "{name:?}: {error}");
        assert_eq!(error.word(), "name");
        assert_eq!(registry.names(), ["kept"]);
    }
    let registry = registry(&[]);
    for name in ["read", "server.read-file_2", "ns/read", "über", "a b", &"n".repeat(256)] {
        registry.register(spec(name)).unwrap();
    }
}

#[test]
fn a_refused_name_is_printed_short_and_plain() {
    let registry = Registry::default();
    let error = registry.register(spec("a\u{1b}[2J\u{202e}b")).unwrap_err().to_string();
    assert!(error.starts_with(r"`a\u{1b}[2J\u{202e}b` is not a tool name: "), "{error}");
    let error = registry.register(spec(&"é".repeat(10_000))).unwrap_err().to_string();
    assert_eq!(error, format!("`{}…` is not a tool name: it is longer than 256 bytes", "é".repeat(64)));
}

#[test]
fn a_duplicate_is_refused_and_the_old_one_stays() {
    let registry = Registry::default();
    registry.register(tool("read").source("core:read").version("1.0").build().unwrap()).unwrap();
    let before = registry.get("read").unwrap();
    let error =
        registry.register(tool("read").source("catalog:tools.toml").version("2.0").build().unwrap()).unwrap_err();
    // R-025: both sources and the name.
    assert_eq!(
        error.to_string(),
        "tool `read` is registered already, from core:read; the one from catalog:tools.toml is refused"
    );
    assert_eq!(error.word(), "duplicate");
    // R-022, R-028: what a run is bound to is still what it reaches.
    assert!(Arc::ptr_eq(&registry.get("read").unwrap(), &before));
    assert_eq!(reached(&registry, "read", &bound(&registry)), Ok("1.0".to_owned()));
    assert_eq!(registry.len(), 1);
    // R-026: the refusal stands in the record, after what it would have overwritten.
    let changes = registry.changes();
    assert!(matches!(&changes[..], [
        Change::Registered { name, definition },
        Change::Refused { name: refused, error: RegisterError::Duplicate { .. } },
    ] if name == "read" && *definition == before.spec().definition() && refused == "read"));
}

#[test]
fn even_the_very_same_tool_is_a_duplicate() {
    let registry = registry(&["read"]);
    assert!(matches!(registry.register(spec("read")), Err(RegisterError::Duplicate { .. }))); // R-022
}

#[test]
fn schemas_that_cannot_be_enforced_are_refused() {
    let registry = registry(&[]);
    let input = tool("a").input_schema_text(r#"{"type":"string"}"#).build().unwrap();
    let output = tool("b").output_schema_text(r#"{"type":"nonsense"}"#).build().unwrap();
    let ignored = tool("c").input_schema_text(r#"{"type":"object","dependencies":{}}"#).build().unwrap();
    for (spec, which) in [(input, "input"), (output, "output"), (ignored, "input")] {
        let name = spec.name().to_owned();
        let error = registry.register(spec).unwrap_err();
        assert!(matches!(&error, RegisterError::Schema { tool, which: found, .. } if *tool == name && *found == which));
        assert!(error.to_string().starts_with(&format!("the {which} schema of `{name}` is refused: ")), "{error}");
    }
    assert!(registry.is_empty());
    assert_eq!(registry.changes().len(), 3); // R-026
}

#[test]
fn the_rule_for_unknown_fields_reaches_the_schemas() {
    let open = || tool("read").input_schema_text(r#"{"type":"object","properties":{"a":true}}"#).build().unwrap();
    for (rule, fits) in [(UnknownFields::AsDeclared, true), (UnknownFields::Refuse, false)] {
        let registry = Registry::new(RegistryRules { unknown_fields: rule });
        registry.register(open()).unwrap();
        let extra = lockgate_contract::arguments::Arguments::parse(
            r#"{"b":1}"#,
            lockgate_contract::document::Limits::ARGUMENTS,
        )
        .unwrap();
        let restricted = registry.restrict_to(["read"]).unwrap();
        for registry in [&registry, &restricted] {
            assert_eq!(registry.get("read").unwrap().input().validate(extra.document()).is_ok(), fits); // R-014
        }
        restricted
            .replace(
                tool("read")
                    .version("2")
                    .input_schema_text(r#"{"type":"object","properties":{"a":true}}"#)
                    .build()
                    .unwrap(),
                ReplacementRule::Stop,
            )
            .unwrap();
        assert_eq!(restricted.get("read").unwrap().input().validate(extra.document()).is_ok(), fits);
    }
}

#[test]
fn an_unknown_name_gives_nothing() {
    let registry = registry(&["read"]);
    for name in ["", "rea", "READ", "read ", "reads", "core::read", "*"] {
        assert!(registry.get(name).is_none(), "{name}"); // R-019, R-020, R-029
    }
}

#[test]
fn names_and_tools_are_sorted() {
    let registry = registry(&["b", "a.z", "a", "B", "a_b", "ä"]);
    let names = registry.names();
    assert_eq!(names, ["B", "a", "a.z", "a_b", "b", "ä"]); // R-030
    assert_eq!(registry.tools().iter().map(|tool| tool.spec().name().to_owned()).collect::<Vec<_>>(), names); // R-042
}
