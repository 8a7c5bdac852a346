//! The schema that a tool declares is the one that holds, whatever a provider is shown.

use lockgate::contract::effect::Permission;
use lockgate::executor::ArgumentErrors;
use lockgate::registry::schema::UnknownFields;

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{World, echo};
use lockgate::prelude::*;

pub(super) async fn extra_field(case: Case) {
    let world = World::in_memory();
    world.add(case.tool().permission(Permission::Allow), echo());
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(schema)"]); // R-014, R-070
    assert!(ran.audit(0).contains("is_admin"), "{}", ran.audit(0));
    assert!(!ran.told(0).contains("is_admin"), "{}", ran.told(0)); // R-181
    assert!(world.entered().is_empty());
}

/// A tool with the line's schema; calls with these arguments, and whether they are let through.
async fn check_schema(case: &Case, arguments: &[(&str, bool)]) -> serde_json::Value {
    let schema = case.at("/input/input_schema").to_document();
    let mut world = World::in_memory();
    world.add(ToolSpec::builder("take").effect(Effect::Read).input_schema(schema.clone()), echo());
    let calls = arguments.iter().map(|(text, _)| proposed("c", "take", text)).collect();
    let wire = Wire::asking_for(calls);
    world.model = Some(wire.model());
    let ran = world.run(Vec::new()).await;
    let expected: Vec<_> =
        arguments.iter().map(|(_, fits)| if *fits { "ok" } else { "invalid_arguments(schema)" }).collect();
    assert_eq!(ran.codes(), expected, "{schema}");
    // What a neutral adapter is shown is the original, byte for byte.
    world.model = None;
    world.run(Vec::new()).await;
    assert_eq!(world.requests()[0].tools[0].input_schema.text(), schema.text());
    let request = wire.last_request();
    request["tools"][0]["function"].clone()
}

pub(super) async fn definitions_kept(case: Case) {
    let arguments = [
        (r#"{"q":{"ids":["a","b"]}}"#, true),
        (r#"{"q":{"child":{"child":{"ids":[]}}}}"#, true),
        (r#"{"q":{"ids":"a"}}"#, false),
        (r#"{"q":{"child":{"child":{"ids":[1]}}}}"#, false),
        (r#"{"q":{"ids":null}}"#, false),
        (r#"{"q":5}"#, false),
        ("{}", false),
    ];
    let shown = check_schema(&case, &arguments).await;
    // Whatever refers to something finds it in what is sent.
    let parameters = &shown["parameters"];
    let text = parameters.to_string();
    for reference in text.split(r##""$ref":"#"##).skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(parameters.pointer(pointer).is_some(), "{pointer} of {text}");
    }
    assert!(text.contains("$ref"), "kept, not cut");
}

pub(super) async fn no_strict_claim(case: Case) {
    let arguments = [
        ("{}", true),
        (r#"{"a":null}"#, true),
        (r#"{"a":{}}"#, true),
        (r#"{"a":{"b":"x","c":1}}"#, true),
        (r#"{"a":{"b":1}}"#, false),
        (r#"{"a":5}"#, false),
    ];
    let shown = check_schema(&case, &arguments).await;
    assert!(shown.get("strict").is_none_or(|strict| strict == false), "{shown}");
    // Nor is the contract changed on the way: nothing is closed or required that was not.
    assert!(!shown.to_string().contains("additionalProperties") && !shown.to_string().contains("required"), "{shown}");
}

/// Schemas that a server would refuse at the root, and that still hold as they were declared.
#[tokio::test]
async fn any_root_reaches_the_wire_as_an_object() {
    let schemas = [
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":["object","null"]}"#,
        r#"{"anyOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{},"b":{}}}"#,
        r##"{"$ref":"#/$defs/X","$defs":{"X":{"type":"object","properties":{"a":{"type":"string"}}}}}"##,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"integer"}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":[1,2]}},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"__proto__":{"type":"string"}}}"#,
        r#"{"type":"object","properties":{},"x-vendor":{"strict":true}}"#,
    ];
    let mut world = World::in_memory();
    for (n, schema) in schemas.iter().enumerate() {
        let tool = ToolSpec::builder(format!("t{n}")).effect(Effect::Read);
        world.add(tool.input_schema_text(*schema), echo());
    }
    let wire = Wire::start(vec![Box::new(|_| super::wire::done())]);
    world.model = Some(wire.model());
    world.run(Vec::new()).await;
    let request = wire.last_request();
    assert_eq!(request["tools"].as_array().unwrap().len(), schemas.len());
}

/// A schema, arguments, and what becomes of them as declared and with open objects closed.
const UNKNOWN: &[(&str, &str, bool, bool)] = &[
    (r#"{"type":"object","properties":{"a":{}}}"#, r#"{"a":1,"b":2}"#, true, false),
    (r#"{"type":"object","properties":{"a":{}}}"#, r#"{"a":1}"#, true, true),
    (
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"x":{}}}}}"#,
        r#"{"a":{"x":1,"y":2}}"#,
        true,
        false,
    ),
    (
        r#"{"type":"object","properties":{"a":{"items":{"properties":{"x":{}}}}}}"#,
        r#"{"a":[{"x":1},{"y":2}]}"#,
        true,
        false,
    ),
    (r#"{"type":"object","properties":{"a":{}},"additionalProperties":true}"#, r#"{"a":1,"b":2}"#, true, true),
    (r#"{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, r#"{"b":"x"}"#, true, true),
    (r#"{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, r#"{"b":2}"#, false, false),
    (r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#, r#"{"A":1}"#, false, false),
    (r#"{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":false}"#, r#"{"x-a":1}"#, true, true),
    (r#"{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":false}"#, r#"{"y-a":1}"#, false, false),
    (
        r#"{"type":"object","properties":{"constructor":{}},"additionalProperties":false}"#,
        r#"{"__proto__":1}"#,
        false,
        false,
    ),
    (r#"{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}"#, r#"{"b":1}"#, false, false),
    (r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, r#"{"a":null}"#, true, true),
];

#[tokio::test]
async fn undeclared_fields_are_never_dropped() {
    for (schema, arguments, as_declared, closed) in UNKNOWN {
        for (unknown_fields, fits) in [(UnknownFields::AsDeclared, *as_declared), (UnknownFields::Refuse, *closed)] {
            let mut world = World::in_memory();
            world.registry = Arc::new(Registry::new(RegistryRules { unknown_fields }));
            world.add(ToolSpec::builder("take").effect(Effect::Read).input_schema_text(*schema), echo());
            let ran = world.run(vec![proposed("c", "take", arguments)]).await;
            assert_eq!(ran.codes(), [if fits { "ok" } else { "invalid_arguments(schema)" }], "{schema} {arguments}");
            // Let through or refused, whole: the handler sees every field that a reviewer sees.
            assert_eq!(world.entered(), if fits { vec![*arguments] } else { Vec::new() });
        }
    }
}

/// Arguments of the transfer tool, and what `declared_paths` tells the model about them.
const TOLD: &[(&str, Option<&str>)] = &[
    (r#"{"to":"sk-hidden","amount":"sk-hidden"}"#, Some("/amount")),
    (r#"{"to":{"sk-hidden":1},"amount":5}"#, Some("/to")),
    // An undeclared name is the model's own text: it is not told back.
    (r#"{"to":"bob","amount":5,"sk-hidden":1}"#, None),
];

#[tokio::test]
async fn declared_paths_name_declared_properties_only() {
    for (arguments, path) in TOLD {
        for rule in [ArgumentErrors::Code, ArgumentErrors::DeclaredPaths] {
            let mut world = World::in_memory();
            world.options.argument_errors = rule;
            let tool = Case::named("args-extra-field").tool().permission(Permission::Allow);
            world.add(tool, echo());
            let told = world.run(vec![proposed("c", "transfer", arguments)]).await.told(0);
            assert!(!told.contains("sk-hidden"), "{told}"); // R-181
            let shows = rule == ArgumentErrors::DeclaredPaths && path.is_some();
            assert_eq!(path.is_some_and(|path| told.contains(path)), shows, "{told}"); // R-090, C-3
        }
    }
}
