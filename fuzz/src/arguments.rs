//! Argument text, as a model sends it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use lockgate::contract::approval::{Circumstances, shown_text};
use lockgate::contract::arguments::{Arguments, ArgumentsFault};
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::effect::Effect;
use lockgate::registry::schema::{Role, Schema, UnknownFields};
use serde_json::Value;

/// A number's canonical form is at most so much longer than the number (`Number::decimal`).
const LONGEST_NUMBER_GROWTH: usize = 43;

/// Schemas of every kind of keyword.
static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    [
        r#"{"type":"object","required":["incident_id"],"additionalProperties":false,
            "properties":{"incident_id":{"type":"string","pattern":"^INC-[0-9]{3,}$"}}}"#,
        r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},
            "$defs":{"node":{"type":["object","null"],"properties":{"left":{"$ref":"#/$defs/node"},"right":{"$ref":"#/$defs/node"}}}}}"##,
        r#"{"type":"object","properties":{"amount":{"type":"number","multipleOf":0.01,"exclusiveMinimum":0,"maximum":1e9},
            "count":{"type":"integer","minimum":-9007199254740993},"when":{"type":"string","format":"date-time"},
            "to":{"type":"string","format":"email","maxLength":40},"link":{"type":"string","format":"uri"}}}"#,
        r#"{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]}],
            "patternProperties":{"^[a-c]$":{"enum":[1,1.5,"x",null,[],{"k":true}]}},"propertyNames":{"maxLength":8},
            "unevaluatedProperties":false,"minProperties":1}"#,
        r#"{"type":"object","properties":{"list":{"type":"array","prefixItems":[{"const":1},{"type":"string"}],"items":{"type":"number"},
            "uniqueItems":true,"contains":{"type":"number","minimum":5},"maxContains":3,"maxItems":50}},
            "dependentRequired":{"list":["kind"]},"if":{"required":["kind"]},"then":{"properties":{"kind":{"type":"string"}}}}"#,
    ]
    .into_iter()
    .map(|text| {
        let document = Document::parse(text, Limits::OWN).unwrap();
        Schema::admit(&document, Role::Input, UnknownFields::AsDeclared).unwrap()
    })
    .collect()
});

/// Parses the text; what is accepted keeps its value in every form that it takes.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Arguments::parse(text, Limits::ARGUMENTS) {
        Ok(arguments) => check(text, &arguments),
        Err(error) => {
            assert!(error.offset() <= text.len(), "{error}");
            if error.reason() == ArgumentsFault::NotJson {
                assert!(serde_json::from_str::<Value>(text).is_err(), "another parser takes {text:?}");
            }
        }
    }
}

fn check(text: &str, arguments: &Arguments) {
    let document = arguments.document();
    let blank = text.trim_ascii().is_empty();
    assert_eq!(arguments.text(), if blank { "{}" } else { text });
    if let Err(error) = serde_json::from_str::<Value>(arguments.text()) {
        assert!(error.to_string().contains("recursion limit"), "another parser refuses {text:?}: {error}");
    }

    let canonical = arguments.canonical();
    assert!(canonical.len() <= (LONGEST_NUMBER_GROWTH + 1) * arguments.text().len());
    let again = Arguments::parse(&canonical, Limits { max_bytes: usize::MAX, ..Limits::ARGUMENTS }).unwrap();
    assert_eq!(again.canonical(), canonical);
    assert_eq!(again.digest(), arguments.digest());
    assert!(again.document().same_value(document));

    let written = serde_json::to_string(arguments).unwrap();
    assert_eq!(Document::parse(written, Limits::OWN).unwrap().canonical(), canonical);
    assert_eq!(Document::from_serialize(arguments).unwrap().canonical(), canonical);
    let members: Result<BTreeMap<String, Document>, _> = arguments.decode();
    if let Ok(members) = members {
        assert_eq!(Document::from_serialize(&members).unwrap().canonical(), canonical);
    }
    let copied = Document::from_json_value(&document.to_json_value());
    assert_eq!(copied.root().len(), document.root().len());

    let shown =
        shown_text("tool", "1.0", Effect::Write, ["tenant", "user", "agent"], &Circumstances::default(), document);
    assert!(shown.chars().all(|character| character == '\n' || !character.is_control()), "{shown:?}");
    for schema in &*SCHEMAS {
        if let Err(violations) = schema.validate(document) {
            assert!(violations.iter().count() > 0, "{violations}");
        }
    }
}

/// Real calls, the arguments of recorded provider traffic, and the texts of the tests of this program's own cases.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let calls = super::text(&root.join("testdata/bfcl/calls.jsonl"));
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for line in calls.lines().step_by(40) {
        let line = Document::parse(line, Limits::OWN).unwrap();
        seeds.push(line.root().get("arguments").unwrap().raw().as_bytes().to_vec());
    }
    seeds.extend(super::script::turns().into_iter().map(String::into_bytes));
    for edge in [
        r#"{"n":9007199254740993,"m":-0.0,"e":1e-400,"f":1.50E+10,"g":123456789012345678901234567890123456789}"#,
        r#"{"a":"\u00e9\ud83d\ude00\\\/\b","\u0061b":[[[[]]],{}],"tree":{"left":{"right":null}}}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":NaN}"#,
        " \n",
    ] {
        seeds.push(edge.as_bytes().to_vec());
    }
    seeds
}
