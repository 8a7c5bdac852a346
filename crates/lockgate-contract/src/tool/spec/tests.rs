#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;

use super::*;
use crate::document::Limits;
use crate::tool::Failure;

fn document(text: &str) -> Document {
    Document::parse(text, Limits::OWN).unwrap()
}

fn handler() -> Handler {
    Handler::typed(|_: serde::de::IgnoredAny| async { Ok::<_, Failure>(()) })
}

#[test]
fn what_is_not_said() {
    let spec = ToolSpec::builder("t").build().unwrap();
    assert_eq!(spec.name(), "t"); // R-002
    assert_eq!(spec.description(), "");
    assert_eq!(spec.input_schema().text(), r#"{"type":"object","additionalProperties":false}"#); // R-014, S-61
    assert!(spec.output_schema().is_none()); // R-007
    assert_eq!(spec.version(), "1.0"); // R-005
    assert_eq!(spec.effect(), Effect::External); // R-006, C-7
    assert_eq!(spec.replay(), ReplayPolicy::Never); // R-008
    assert!(!spec.completes_run()); // R-009
    assert!(spec.handler().is_none()); // R-010
    assert_eq!(spec.permission(), Permission::Ask); // R-017, R-163
    assert_eq!(spec.permission_reason(), None);
    assert_eq!(spec.idempotency(), Idempotency::None);
    assert!(spec.scopes().is_empty() && spec.resource_keys().is_empty());
    assert_eq!(spec.deferral(), Deferral::Never); // R-156
    assert_eq!(spec.timeout(), None);
    assert_eq!(spec.on_duplicate(), OnDuplicate::RunEach);
    assert_eq!(spec.source(), "native");
    assert_eq!(spec.audience(), &Audience::default());
    assert_eq!(spec.error_text(), ErrorText::Hidden); // C-4
    assert!(spec.pre_check().is_none() && spec.harmless_when().is_none() && spec.abilities().is_empty()); // R-153
}

#[test]
fn what_is_said_is_kept() {
    let audience = Audience {
        tenants: ["demo".to_owned()].into(),
        agents: ["helper".to_owned()].into(),
        domain: Some("hr".to_owned()),
    };
    let spec = ToolSpec::builder("t")
        .description("Does it.")
        .input_schema(document(r#"{"type":"object"}"#))
        .output_schema_text(r#"{"type":"string"}"#)
        .version("2.1")
        .effect(Effect::Write)
        .replay(ReplayPolicy::Never)
        .completes_run(true)
        .handler(handler().blocking())
        .permission(Permission::Deny)
        .permission_reason("It writes.")
        .idempotency(Idempotency::Provider)
        .scopes(["b", "a", "b"])
        .resource_keys(["disk"])
        .deferral(Deferral::Eligible)
        .timeout(Duration::from_secs(3))
        .on_duplicate(OnDuplicate::Reject)
        .source("catalog:tools.toml")
        .audience(audience.clone())
        .error_text(ErrorText::Vouched)
        .build()
        .unwrap();
    // R-001, R-003, R-004.
    assert_eq!((spec.description(), spec.version(), spec.source()), ("Does it.", "2.1", "catalog:tools.toml"));
    assert_eq!(spec.input_schema().text(), r#"{"type":"object"}"#);
    assert_eq!(spec.output_schema().unwrap().text(), r#"{"type":"string"}"#);
    assert_eq!(
        (spec.effect(), spec.replay(), spec.idempotency()),
        (Effect::Write, ReplayPolicy::Never, Idempotency::Provider)
    );
    assert!(spec.completes_run() && spec.handler().unwrap().may_block());
    assert_eq!((spec.permission(), spec.permission_reason()), (Permission::Deny, Some("It writes.")));
    assert_eq!(spec.scopes().iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(spec.resource_keys().iter().collect::<Vec<_>>(), ["disk"]);
    assert_eq!((spec.deferral(), spec.timeout()), (Deferral::Eligible, Some(Duration::from_secs(3))));
    assert_eq!((spec.on_duplicate(), spec.error_text()), (OnDuplicate::Reject, ErrorText::Vouched));
    assert_eq!(spec.audience(), &audience);
}

#[test]
fn attached_abilities_are_the_ones_that_are_called() {
    let spec = ToolSpec::builder("t")
        .pre_check(|arguments| arguments.root().get("a").map(drop).ok_or_else(|| "Give an `a`.".to_owned()))
        .harmless_when(|arguments| arguments.root().get("dry").is_some())
        .build()
        .unwrap();
    let arguments = |text: &str| Arguments::parse(text, Limits::ARGUMENTS).unwrap();
    let check = spec.pre_check().unwrap();
    assert_eq!(check(&arguments("{}")), Err("Give an `a`.".to_owned())); // R-158
    assert_eq!(check(&arguments(r#"{"a":1}"#)), Ok(()));
    let harmless = spec.harmless_when().unwrap();
    assert!(harmless(&arguments(r#"{"dry":true}"#)) && !harmless(&arguments("{}"))); // R-159, R-164
    assert_eq!(spec.abilities(), ["pre_check", "harmless_when"]);
}

/// C-7: {effect, idempotency, declared} -> the policy, or a refusal.
#[test]
fn replay_follows_from_effect_and_idempotency() {
    use Idempotency::{Declared, None as Nobody, Provider};
    use ReplayPolicy::{Never, Safe};
    for (effect, idempotency, declared, expected) in [
        (Effect::Read, Nobody, None, Some(Safe)),
        (Effect::Read, Nobody, Some(Never), Some(Never)),
        (Effect::Read, Nobody, Some(Safe), Some(Safe)),
        (Effect::Write, Nobody, None, Some(Never)),
        (Effect::Write, Nobody, Some(Never), Some(Never)),
        (Effect::Write, Nobody, Some(Safe), None),
        (Effect::Write, Declared, None, Some(Safe)),
        (Effect::Write, Declared, Some(Never), Some(Never)),
        (Effect::Write, Declared, Some(Safe), Some(Safe)),
        (Effect::Write, Provider, None, Some(Never)),
        (Effect::Write, Provider, Some(Safe), Some(Safe)),
        (Effect::External, Nobody, None, Some(Never)),
        (Effect::External, Nobody, Some(Safe), None),
        (Effect::External, Declared, None, Some(Safe)),
        (Effect::External, Provider, None, Some(Never)),
    ] {
        let mut builder = ToolSpec::builder("t").effect(effect).idempotency(idempotency);
        if let Some(declared) = declared {
            builder = builder.replay(declared);
        }
        match (builder.build(), expected) {
            (Ok(spec), Some(expected)) => assert_eq!(spec.replay(), expected, "{effect} {idempotency} {declared:?}"),
            (Err(error), None) => {
                assert_eq!(error, InvalidSpec::UnsafeReplay { tool: "t".to_owned(), effect });
                assert_eq!(
                    error.to_string(),
                    format!("`t` has effect {effect} and cannot be replayed as `safe` unless it declares idempotency")
                );
            }
            (built, expected) => panic!("{effect} {idempotency} {declared:?}: {built:?}, not {expected:?}"),
        }
    }
}

#[test]
fn only_a_read_is_allowed_by_default() {
    for (effect, permission) in
        [(Effect::Read, Permission::Allow), (Effect::Write, Permission::Ask), (Effect::External, Permission::Ask)]
    {
        assert_eq!(ToolSpec::builder("t").effect(effect).build().unwrap().permission(), permission); // R-017
    }
}

#[test]
fn a_schema_that_is_not_json_is_refused_with_its_place() {
    let input = ToolSpec::builder("t").input_schema_text("{\"a\":}").build().unwrap_err();
    assert!(matches!(&input, InvalidSpec::Schema { which: "input", .. }));
    assert!(input.to_string().starts_with("the input schema of `t` is not JSON: "), "{input}");
    let output = ToolSpec::builder("t").output_schema_text("{\"a\":1,\"a\":2}").build().unwrap_err();
    assert!(matches!(&output, InvalidSpec::Schema { which: "output", .. }), "{output}");
}

type Setter = fn(ToolSpecBuilder) -> ToolSpecBuilder;

/// Every setter with a value that is none of the defaults.
fn setters() -> Vec<(&'static str, Setter)> {
    fn audience(change: fn(&mut Audience)) -> Audience {
        let mut audience = Audience::default();
        change(&mut audience);
        audience
    }
    vec![
        ("description", |tool| tool.description("Other.")),
        ("input schema", |tool| tool.input_schema_text(r#"{"type":"object"}"#)),
        ("output schema", |tool| tool.output_schema_text("{}")),
        ("replay", |tool| tool.effect(Effect::Read).replay(ReplayPolicy::Never)),
        ("completes_run", |tool| tool.completes_run(true)),
        ("version", |tool| tool.version("1.1")),
        ("effect", |tool| tool.effect(Effect::Write)),
        ("effect, all else equal", |tool| {
            tool.effect(Effect::Read).replay(ReplayPolicy::Never).permission(Permission::Ask)
        }),
        ("idempotency", |tool| tool.idempotency(Idempotency::Provider)),
        ("idempotency and replay", |tool| tool.idempotency(Idempotency::Declared)),
        ("permission", |tool| tool.permission(Permission::Deny)),
        ("permission, relaxed", |tool| tool.permission(Permission::Allow)),
        ("permission reason", |tool| tool.permission_reason("Because.")),
        ("scopes", |tool| tool.scopes(["a", "b"])),
        ("scopes, joined", |tool| tool.scopes(["a,b"])),
        ("deferral", |tool| tool.deferral(Deferral::Eligible)),
        ("deferral, active", |tool| tool.deferral(Deferral::Deferred)),
        ("timeout", |tool| tool.timeout(Duration::from_millis(1))),
        ("resource keys", |tool| tool.resource_keys(["a", "b"])),
        ("on_duplicate", |tool| tool.on_duplicate(OnDuplicate::ShareResult)),
        ("source", |tool| tool.source("mcp:server")),
        ("tenants", |tool| tool.audience(audience(|audience| audience.tenants = ["a".to_owned()].into()))),
        ("agents", |tool| tool.audience(audience(|audience| audience.agents = ["a".to_owned()].into()))),
        ("domain", |tool| tool.audience(audience(|audience| audience.domain = Some("a".to_owned())))),
        ("error text", |tool| tool.error_text(ErrorText::Vouched)),
        ("pre-check", |tool| tool.pre_check(|_| Ok(()))),
        ("harmless_when", |tool| tool.harmless_when(|_| false)),
        ("binds_files", |tool| tool.binds_files(|_| Ok(BTreeMap::new()))),
        ("both abilities", |tool| tool.pre_check(|_| Ok(())).harmless_when(|_| false)),
    ]
}

#[test]
fn the_definition_covers_everything_that_a_model_or_a_policy_can_see() {
    let mut seen = BTreeMap::new();
    let base = ToolSpec::builder("t").build().unwrap().definition();
    seen.insert(base.to_string(), "nothing");
    let renamed = ToolSpec::builder("u").build().unwrap().definition();
    assert!(seen.insert(renamed.to_string(), "name").is_none());
    for (setter, set) in setters() {
        let once = set(ToolSpec::builder("t")).build().unwrap().definition();
        let again = set(ToolSpec::builder("t")).build().unwrap().definition();
        assert_eq!(once, again, "{setter}");
        // Architecture section 4: each change shows, and no two changes look alike.
        if let Some(other) = seen.insert(once.to_string(), setter) {
            panic!("`{setter}` and `{other}` have one definition");
        }
    }
}

#[test]
fn the_definition_is_of_the_schemas_values_not_of_their_spelling() {
    let definition = |input: &str, output: &str| {
        ToolSpec::builder("t")
            .input_schema(document(input))
            .output_schema(document(output))
            .build()
            .unwrap()
            .definition()
    };
    let base = definition(r#"{"type":"object","maxProperties":10}"#, r#"{"a":"é"}"#);
    assert_eq!(definition(" { \"maxProperties\" : 1e1, \"type\" : \"object\" } ", r#"{"a":"\u00e9"}"#), base);
    assert_ne!(definition(r#"{"type":"object","maxProperties":11}"#, r#"{"a":"é"}"#), base);
    // Numbers that a double cannot tell apart.
    assert_ne!(definition(r#"{"const":9007199254740992}"#, "{}"), definition(r#"{"const":9007199254740993}"#, "{}"));
    // The order of an array is part of its value.
    assert_ne!(definition(r#"{"enum":[1,2]}"#, "{}"), definition(r#"{"enum":[2,1]}"#, "{}"));
    // Input and output do not stand in for each other.
    assert_ne!(definition("{}", r#"{"a":1}"#), definition(r#"{"a":1}"#, "{}"));
    // Given as text or parsed.
    let text = ToolSpec::builder("t").input_schema_text("{}").build().unwrap().definition();
    assert_eq!(ToolSpec::builder("t").input_schema(document("{}")).build().unwrap().definition(), text);
}

#[test]
fn the_code_behind_a_tool_is_not_part_of_its_definition() {
    let without = ToolSpec::builder("t").build().unwrap().definition();
    assert_eq!(ToolSpec::builder("t").handler(handler()).build().unwrap().definition(), without);
    assert_eq!(ToolSpec::builder("t").handler(handler().blocking()).build().unwrap().definition(), without);
}

#[test]
fn a_schema_as_deep_as_can_be_still_has_its_own_definition() {
    let nested = |inside: &str| {
        let depth = Limits::DEEPEST;
        let text = format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
        ToolSpec::builder("t").input_schema(document(&text)).build().unwrap().definition()
    };
    assert_ne!(nested("1"), nested("2"));
    assert_eq!(nested("1"), nested("1"));
}

#[test]
fn the_definition_never_changes_by_accident() {
    // A changed digest voids every open approval and stops every bound run: change it knowingly, with a new tag.
    assert_eq!(
        ToolSpec::builder("t").build().unwrap().definition(),
        Digest::of_text(
            "lockgate.definition.v1",
            concat!(
                r#"{"abilities":[],"audience":{"agents":[],"domain":null,"tenants":[]},"completes_run":false,"#,
                r#""deferral":"never","description":"","effect":"external","error_text":"hidden","idempotency":"none","#,
                r#""input_schema":{"additionalProperties":false,"type":"object"},"name":"t","on_duplicate":"run_each","#,
                r#""output_schema":null,"permission":"ask","permission_reason":null,"replay":"never","resource_keys":[],"#,
                r#""scopes":[],"source":"native","timeout_ms":null,"version":"1.0"}"#,
            ),
        )
    );
}
