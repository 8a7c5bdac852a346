//! Our documents, numbers and plain form against the validator's own reading of `serde_json` values.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20i64..20).prop_map(Value::from),
        (-40i64..40).prop_map(|halves| json!(f64::from(i32::try_from(halves).unwrap()) / 2.0)),
        "[abc]{0,3}".prop_map(Value::from),
    ]
}

fn instance() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn keyword(name: &'static str, value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<(String, Value)> {
    value.prop_map(move |value| (name.to_owned(), value)).boxed()
}

fn leaf_keyword() -> impl Strategy<Value = (String, Value)> {
    let kind = || prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let bound = || (-10i64..10).prop_map(Value::from);
    let small = || (0u64..3).prop_map(Value::from);
    prop_oneof![
        keyword("type", kind().prop_map(Value::from)),
        keyword("minimum", bound()),
        keyword("maximum", bound()),
        keyword("exclusiveMinimum", bound()),
        keyword("exclusiveMaximum", bound()),
        keyword("multipleOf", prop::sample::select(vec![json!(1), json!(2), json!(0.5), json!(3)])),
        keyword("minLength", small()),
        keyword("maxLength", small()),
        keyword("minItems", small()),
        keyword("maxItems", small()),
        keyword("uniqueItems", any::<bool>().prop_map(Value::from)),
        keyword("minProperties", small()),
        keyword("const", instance()),
        keyword("enum", prop::collection::vec(instance(), 1..4).prop_map(Value::from)),
        keyword("pattern", prop::sample::select(vec![json!("^a"), json!("b$"), json!("[ab]c?")])),
        keyword("required", prop::sample::subsequence(vec!["a", "b", "c"], 0..3).prop_map(Value::from)),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::collection::vec(leaf_keyword(), 0..3)
        .prop_map(|keywords| Value::Object(keywords.into_iter().collect::<Map<_, _>>()));
    leaf.prop_recursive(3, 24, 3, |inner| {
        let one = inner.clone();
        let list = move || prop::collection::vec(one.clone(), 1..3).prop_map(Value::from);
        let one = inner.clone();
        let map = move || {
            prop::collection::btree_map("[abc]", one.clone(), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect()))
        };
        let applied = prop_oneof![
            keyword("allOf", list()),
            keyword("anyOf", list()),
            keyword("oneOf", list()),
            keyword("not", inner.clone()),
            keyword("if", inner.clone()),
            keyword("then", inner.clone()),
            keyword("else", inner.clone()),
            keyword("properties", map()),
            keyword("patternProperties", map()),
            keyword("additionalProperties", inner.clone()),
            keyword("additionalProperties", any::<bool>().prop_map(Value::from)),
            keyword("propertyNames", inner.clone()),
            keyword("items", inner.clone()),
            keyword("contains", inner.clone()),
            keyword("$ref", Just(json!("#/$defs/d"))),
            leaf_keyword(),
        ];
        prop::collection::vec(applied, 0..4)
            .prop_map(|keywords| Value::Object(keywords.into_iter().collect::<Map<_, _>>()))
    })
}

/// Anything, with words of JSON Schema in it.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{0,3}",
        Just("#".to_owned()),
        Just("#/properties/a".to_owned()),
        Just("object".to_owned()),
        Just("(".to_owned()),
    ];
    let leaf = prop_oneof![scalar(), text.prop_map(Value::from)];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let key = prop::sample::select(vec![
            "$ref",
            "$dynamicRef",
            "$id",
            "$anchor",
            "$defs",
            "definitions",
            "$schema",
            "properties",
            "items",
            "prefixItems",
            "allOf",
            "anyOf",
            "not",
            "if",
            "then",
            "type",
            "enum",
            "const",
            "pattern",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "dependencies",
            "dependentSchemas",
            "required",
            "minimum",
            "multipleOf",
            "maxLength",
            "format",
            "contains",
            "a",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn plain_schemas_mean_what_the_validator_means(
        mut schema in schema(),
        definition in schema().prop_filter("no circle", |schema| !schema.to_string().contains("$ref")),
        instances in prop::collection::vec(instance(), 1..6),
        old in any::<bool>(),
    ) {
        let members = schema.as_object_mut().unwrap();
        members.insert("$defs".to_owned(), json!({ "d": definition }));
        if old {
            members.insert("$schema".to_owned(), json!(DRAFT_7));
        }
        let Ok(ours) = admit(&schema.to_string()) else {
            // Siblings of `$ref`, which is another test's matter.
            prop_assume!(old);
            return Ok(());
        };
        let theirs = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        for instance in instances {
            let answer = ours.validate(&document(&instance.to_string()));
            prop_assert_eq!(answer.is_ok(), theirs.is_valid(&instance), "{} {}", schema, instance);
        }
    }

    #[test]
    fn admission_never_panics(schema in any_json(), instance in instance()) {
        for rules in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
            for role in [Role::Input, Role::Output] {
                if let Ok(schema) = Schema::admit(&document(&schema.to_string()), role, rules) {
                    _ = schema.validate(&document(&instance.to_string()));
                }
            }
        }
    }

    #[test]
    fn closing_only_refuses_more(schema in schema(), definition in schema(), instance in instance()) {
        let mut schema = schema;
        schema.as_object_mut().unwrap().insert("$defs".to_owned(), json!({ "d": definition }));
        let text = schema.to_string();
        // `oneOf` may be met once instead of twice when its branches are closed.
        prop_assume!(!text.contains("oneOf") && !text.contains("if") && !text.contains("not"));
        let closed = Schema::admit(&document(&text), Role::Output, UnknownFields::Refuse);
        if let (Ok(closed), Ok(open)) = (closed, admit(&text)) {
            let instance = document(&instance.to_string());
            prop_assert!(closed.validate(&instance).is_err() || open.validate(&instance).is_ok());
        }
    }

    #[test]
    fn declared_paths_hold_nothing_of_the_value(
        schema in schema(),
        mut instance in instance(),
        key in "KEY[0-9]{6}",
        value in "VALUE[0-9]{6}",
    ) {
        fn plant(instance: &mut Value, key: &str, value: &str) {
            match instance {
                Value::Object(members) => {
                    members.values_mut().for_each(|member| plant(member, key, value));
                    members.insert(key.to_owned(), json!({ key: value }));
                }
                Value::Array(elements) => elements.iter_mut().for_each(|element| plant(element, key, value)),
                scalar => *scalar = Value::from(value),
            }
        }
        plant(&mut instance, &key, &value);
        let text = format!(r#"{{"$defs":{{"d":{{"type":"integer"}}}},"allOf":[{schema}]}}"#);
        let closed = Schema::admit(&document(&text), Role::Output, UnknownFields::Refuse).unwrap();
        if let Err(violations) = closed.validate(&document(&instance.to_string())) {
            if let Some((pointer, keyword)) = violations.declared_path() {
                prop_assert!(!pointer.contains(&key) && !pointer.contains(&value), "{}", pointer);
                prop_assert!(!keyword.contains(&key) && !keyword.contains(&value));
            }
            for violation in violations.iter() {
                prop_assert!(!violation.message.contains(&value), "{}", violation.message);
            }
        }
    }
}
