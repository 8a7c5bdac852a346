use lockgate_contract::tool::OutputContent;
use lockgate_registry::schema::{Role, UnknownFields};
use tempfile::TempDir;

use super::*;

const TARGET: &str =
    r#"{"rows": "rows.json", "key": "id", "missing": {"code": "row_not_found", "message": "there is no such row"}}"#;
const INPUT: &str = r#"{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#;

fn document(text: &str) -> Document {
    Document::parse(text, Limits::OWN).unwrap()
}

fn arguments(text: &str) -> Arguments {
    Arguments::parse(text, Limits::ARGUMENTS).unwrap()
}

fn folder(rows: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files::append_and_sync(&folder.path().join("rows.json"), rows.as_bytes()).unwrap();
    folder
}

fn open(rows: &str, target: &str, input: Option<&str>, output: Option<&str>) -> Result<Lookup, Problem> {
    let folder = folder(rows);
    let (data, input) = (document(target), input.map(document));
    let output =
        output.map(|schema| Schema::admit(&document(schema), Role::Output, UnknownFields::AsDeclared).unwrap());
    Lookup::open(&Target {
        tool: "find",
        data: &data,
        input_schema: input.as_ref(),
        output_schema: output.as_ref(),
        folder: &files::resolve(folder.path()).unwrap(),
        entered_before: &|_| 0,
    })
}

fn refusal(rows: &str, target: &str, input: Option<&str>, output: Option<&str>) -> String {
    open(rows, target, input, output).unwrap_err().to_string()
}

#[test]
fn a_row_is_returned_byte_for_byte() {
    let rows = r#"{"a": {"amount": 123456789012345678901234567890, "rate": 1.50, "tiny": 1e-7},  "b": [1,  2]}"#;
    let lookup = open(rows, TARGET, Some(INPUT), None).unwrap();
    for (key, expected) in
        [("a", r#"{"amount": 123456789012345678901234567890, "rate": 1.50, "tiny": 1e-7}"#), ("b", "[1,  2]")]
    {
        match lookup.answer(&arguments(&format!(r#"{{"id": "{key}"}}"#))).unwrap().content {
            OutputContent::Value(row) => assert_eq!(row.text(), expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_key_that_is_missing_is_the_named_business_failure() {
    let lookup = open(r#"{"a": 1}"#, TARGET, Some(INPUT), None).unwrap();
    let failure = lookup.answer(&arguments(r#"{"id": "A"}"#));
    let Err(Failure::Business { code, message, retryable, effect_state, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!((code.word(), message.as_str()), ("row_not_found", "there is no such row"));
    assert_eq!((retryable, effect_state), (false, EffectState::None));
}

#[test]
fn keys_are_compared_after_their_escapes() {
    let lookup = open(r#"{"\u0061": 1}"#, TARGET, Some(INPUT), None).unwrap();
    assert!(lookup.answer(&arguments(r#"{"i\u0064": "\u0061"}"#)).is_ok());
}

#[test]
fn an_argument_that_is_no_string_is_a_bug_of_the_tool() {
    let lookup = open(r#"{"1": 1}"#, TARGET, Some(INPUT), None).unwrap();
    for text in ["{}", r#"{"id": 1}"#] {
        let failure = lookup.answer(&arguments(text));
        let Err(Failure::Bug { text }) = failure else { panic!("{failure:?}") };
        assert_eq!(text, "the argument `id` is missing or no string, and the tool's input schema lets that pass");
    }
}

#[test]
fn targets_that_cannot_work_are_refused() {
    let misspelled = r#"{"type": "object", "properties": {"idd": {"type": "string"}}}"#;
    for (target, input, expected) in [
        (r#"{"rows": "rows.json", "key": "id"}"#, Some(INPUT), "`target`: missing field `missing`"),
        (r#"{"row": "rows.json"}"#, Some(INPUT), "unknown key `row` in `/target`"),
        ("[]", Some(INPUT), "`target` must be a table"),
        (
            r#"{"rows": "rows.json", "key": "id", "missing": {"code": "x", "massage": ""}}"#,
            Some(INPUT),
            "unknown key `massage` in `/target/missing`",
        ),
        (
            r#"{"rows": "rows.json", "key": "id", "missing": {"code": "unknown_tool", "message": ""}}"#,
            Some(INPUT),
            "`unknown_tool` is one of Lockgate's own codes: choose another word",
        ),
        (
            TARGET,
            Some(misspelled),
            "`key` names the argument `id`, which the input schema does not have; did you mean `idd`?",
        ),
        (TARGET, None, "`key` names the argument `id`, which the input schema does not have"),
    ] {
        assert_eq!(refusal("{}", target, input, None), expected, "{target}");
    }
}

#[test]
fn a_schema_that_lists_no_properties_is_taken_on_trust() {
    assert!(open("{}", TARGET, Some(r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}"##), None).is_ok());
}

#[test]
fn data_files_that_cannot_be_used_are_refused_with_their_path() {
    for (rows, expected) in [
        ("[]", "must hold one object, from key to row"),
        ("{", "is refused: the text is not JSON, at byte 1"),
        (r#"{"a": 1, "a": 2}"#, "is refused: an object has one key twice, at byte 9 at `/a`"),
        (r#"{"a": {"n": 1}, "b": {"n": "1"}}"#, "has a row `b` that does not fit the output schema: `/n`: "),
    ] {
        let output = r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#;
        let problem = open(rows, TARGET, Some(INPUT), Some(output)).unwrap_err();
        let Problem::Data { path, detail } = problem else { panic!("{problem:?}") };
        assert!(path.ends_with("rows.json"), "{}", path.display());
        assert!(detail.starts_with(expected), "{detail}");
    }
    let absent = TARGET.replace("rows.json", "rose.json");
    let message = refusal("{}", &absent, Some(INPUT), None);
    assert!(message.starts_with("the data file `"), "{message}");
    assert!(message.contains("rose.json` cannot be read: "), "{message}");
}
