use lockgate_contract::document::Limits;
use lockgate_contract::tool::OutputContent;
use lockgate_host::files;
use tempfile::TempDir;

use super::*;

fn open(folder: &TempDir, target: &str) -> Result<Arc<Record>, Problem> {
    let data = Document::parse(target, Limits::OWN).unwrap();
    let record = Record::open(&Target {
        tool: "notify",
        data: &data,
        input_schema: None,
        output_schema: None,
        folder: &files::resolve(folder.path()).unwrap(),
        entered_before: &|_| 0,
    });
    record.map(Arc::new)
}

async fn enter(record: &Arc<Record>, arguments: &str) -> String {
    let arguments = Arguments::parse(arguments, Limits::ARGUMENTS).unwrap();
    match Arc::clone(record).enter(arguments).await.unwrap().content {
        OutputContent::Value(value) => value.text().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_call_is_one_line_with_exact_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let record = open(&folder, r#"{"file": "out/notes.jsonl", "count_file": "notes.count"}"#).unwrap();
    assert_eq!(enter(&record, r#"{"n": 123456789012345678901234567890, "m": 1.50}"#).await, r#"{"recorded":true}"#);
    enter(&record, "{\n  \"text\":\r\n\"two\\nlines\"\n}").await;
    assert_eq!(
        files::read_to_string(&folder.path().join("out/notes.jsonl")).unwrap(),
        "{\"tool\":\"notify\",\"arguments\":{\"n\": 123456789012345678901234567890, \"m\": 1.50}}\n\
         {\"tool\":\"notify\",\"arguments\":{   \"text\":  \"two\\nlines\" }}\n"
    );
    assert_eq!(files::read(&folder.path().join("notes.count")).unwrap().len(), 2);
}

#[tokio::test]
async fn it_answers_what_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let record = open(&folder, r#"{"returns": {"ticket": 1.0}}"#).unwrap();
    assert_eq!(enter(&record, "{}").await, r#"{"ticket": 1.0}"#);
    let record = open(&folder, r#"{"returns": null}"#).unwrap();
    assert_eq!(enter(&record, "{}").await, "null");
}

#[tokio::test]
async fn a_disk_that_takes_nothing_is_a_broken_environment_of_unknown_effect() {
    let folder = tempfile::tempdir().unwrap();
    let record = open(&folder, r#"{"file": "taken"}"#).unwrap();
    files::create_dir_all(&folder.path().join("taken")).unwrap();
    let failure = record.enter(Arguments::empty()).await;
    let Err(Failure::Environment { message, nothing_happened }) = failure else { panic!("{failure:?}") };
    assert!(message.starts_with("the call could not be written down: "), "{message}");
    assert!(!nothing_happened);
}

#[test]
fn targets_that_leave_the_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (target, expected) in [
        (r#"{"file": "../notes.jsonl"}"#, "`file = \"../notes.jsonl\"` is refused: it climbs with `..`"),
        (r#"{"count_file": "/tmp/notes.count"}"#, "`count_file = \"/tmp/notes.count\"` is refused: it is absolute"),
        (r#"{"files": "notes.jsonl"}"#, "unknown key `files` in `/target`"),
    ] {
        assert_eq!(open(&folder, target).unwrap_err().to_string(), expected);
    }
}
