//! Right calls with one thing made wrong: none of them passes.

use super::bfcl::functions;
use crate::world::{World, code_of};
use lockgate::contract::document::{Kind, Node};
use lockgate::prelude::*;
use lockgate::registry::schema::UnknownFields;

/// A way of making a right call wrong: how it is refused, and the new arguments where it can be done.
struct Mutation {
    name: &'static str,
    refusal: &'static str,
    apply: fn(schema: Node<'_>, arguments: Node<'_>) -> Option<String>,
}

const MUTATIONS: &[Mutation] = &[
    Mutation { name: "required field dropped", refusal: "invalid_arguments(schema)", apply: drop_required },
    Mutation { name: "type changed", refusal: "invalid_arguments(schema)", apply: change_type },
    Mutation { name: "number as string", refusal: "invalid_arguments(schema)", apply: number_as_string },
    Mutation { name: "key twice", refusal: "invalid_arguments(duplicate_key)", apply: key_twice },
    Mutation { name: "unknown field", refusal: "invalid_arguments(schema)", apply: unknown_field },
    Mutation { name: "text cut off", refusal: "invalid_arguments(not_json)", apply: cut_off },
];

#[tokio::test]
async fn no_mutated_call_passes() {
    let refuse = RegistryRules { unknown_fields: UnknownFields::Refuse };
    let mut tried = vec![0; MUTATIONS.len()];
    for function in functions() {
        let world = function.world(World::in_memory().with_rules(refuse));
        // One call of each function: more of them only take longer.
        for call in function.calls.iter().take(1) {
            let arguments = super::document(&call.arguments);
            for (index, mutation) in MUTATIONS.iter().enumerate() {
                let Some(mutated) = (mutation.apply)(function.input.root(), arguments.root()) else { continue };
                let answer = world.direct(&function.name, &mutated).await;
                assert_eq!(code_of(&answer), mutation.refusal, "{}: {} {mutated}", mutation.name, function.name);
                tried[index] += 1;
            }
        }
        assert!(world.entered().is_empty(), "{}", function.name);
    }
    let tried: Vec<_> = MUTATIONS.iter().map(|mutation| mutation.name).zip(tried).collect();
    assert_eq!(
        tried,
        [
            ("required field dropped", 1123),
            ("type changed", 1126),
            ("number as string", 522),
            ("key twice", 1154),
            ("unknown field", 1172),
            ("text cut off", 1172),
        ]
    );
}

/// The object with one member left out, or written otherwise.
fn with(arguments: Node<'_>, name: &str, value: Option<&str>) -> String {
    let members = arguments.members().filter_map(|(key, member)| {
        let text = if key == name { value? } else { member.raw() };
        Some(format!("{}:{text}", Document::string(&key).text()))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The first member of which the schema says one of these types and that has it.
fn typed<'a>(schema: Node<'a>, arguments: Node<'a>, wanted: &[&str]) -> Option<(String, Node<'a>)> {
    let properties = schema.get("properties")?;
    arguments.members().find_map(|(key, value)| {
        let kind = properties.get(&key)?.get("type")?.as_str()?;
        let fits = match value.kind() {
            Kind::Null => false,
            Kind::Bool => kind == "boolean",
            Kind::Number => kind == "integer" || kind == "number",
            Kind::String => kind == "string",
            Kind::Array => kind == "array",
            Kind::Object => kind == "object",
        };
        (fits && wanted.contains(&&*kind)).then(|| (key.into_owned(), value))
    })
}

fn drop_required(schema: Node<'_>, arguments: Node<'_>) -> Option<String> {
    let name = schema.get("required")?.elements().next()?.as_str()?.into_owned();
    arguments.get(&name)?;
    Some(with(arguments, &name, None))
}

fn change_type(schema: Node<'_>, arguments: Node<'_>) -> Option<String> {
    let (name, value) = typed(schema, arguments, &["string", "integer", "number", "boolean", "array", "object"])?;
    let wrong = if value.kind() == Kind::Object { "[]" } else { "{}" };
    Some(with(arguments, &name, Some(wrong)))
}

fn number_as_string(schema: Node<'_>, arguments: Node<'_>) -> Option<String> {
    let (name, value) = typed(schema, arguments, &["integer", "number"])?;
    Some(with(arguments, &name, Some(&format!("\"{}\"", value.raw()))))
}

fn key_twice(_: Node<'_>, arguments: Node<'_>) -> Option<String> {
    let (key, value) = arguments.members().next()?;
    let member = format!("{}:{}", Document::string(&key).text(), value.raw());
    Some(format!("{{{member},{}", arguments.raw().strip_prefix('{')?))
}

fn unknown_field(_: Node<'_>, arguments: Node<'_>) -> Option<String> {
    let comma = if arguments.is_empty() { "" } else { "," };
    Some(format!("{{\"no such field\":1{comma}{}", arguments.raw().strip_prefix('{')?))
}

fn cut_off(_: Node<'_>, arguments: Node<'_>) -> Option<String> {
    arguments.raw().strip_suffix('}').map(str::to_owned)
}
