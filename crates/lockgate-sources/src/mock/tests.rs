use lockgate_contract::arguments::Arguments;
use lockgate_contract::effect::{Effect, ErrorText, Idempotency, OnDuplicate, Permission, ReplayPolicy};
use lockgate_contract::tool::{Failure, OutputContent};
use lockgate_host::files;

use super::*;

fn mock(toml: &str) -> MockTool {
    toml::from_str(toml).unwrap()
}

fn spec(toml: &str) -> ToolSpec {
    mock(toml).into_spec(Path::new("."), 0).unwrap()
}

fn unreadable(toml: &str) -> String {
    toml::from_str::<MockTool>(toml).unwrap_err().message().to_owned()
}

fn refusal(toml: &str) -> SourceError {
    mock(toml).into_spec(Path::new("."), 0).unwrap_err()
}

fn script(mock: MockTool, base_dir: &Path, entered_before: u32) -> Script {
    let count_file = mock.acting.count_file.map(|path| CountFile::new(base_dir.join(path)));
    Script::new(mock.acting.behaviour, count_file, entered_before).unwrap()
}

async fn enter(script: &Script) -> String {
    match script.enter(&Arguments::empty()).await.unwrap().content {
        OutputContent::Value(value) => value.text().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_documented_table_is_read_whole() {
    let spec = spec(
        r#"
        name = "create_ticket"
        version = "2.1"
        description = "Create a ticket."
        effect = "write"
        replay = "never"
        permission = "ask"
        permission_reason = "tickets wake people"
        completes_run = true
        on_duplicate = "reject"
        error_text = "vouched"
        scopes = ["ticket:write", "incident:read"]
        tenants = ["demo"]
        agents = ["incident-helper"]
        domain = "operations"
        timeout = "2s"
        input_schema = { type = "object", properties = { title = { type = "string" } }, required = ["title"], additionalProperties = false }
        output_schema = { type = "object" }
        behaviour = [
          { returns = { id = "T-1" } },
          { fails = { code = "quota_exceeded", message = "try tomorrow", retryable = true } },
          { environment_error = "ticket service is down", effect_state = "none" },
          { panics = "bug" },
          { errors = "internal: /srv/app/x.py line 3" },
          { sleeps = "5s", returns = {} },
          { echoes = true },
          { returns_text = "…" , repeat = 100000 },
          { returns_raw = "{\"mean\": NaN}" },
          { returns_hex = "ff" },
        ]
        count_file = "create_ticket.count"
        "#,
    );
    assert_eq!(spec.name(), "create_ticket");
    assert_eq!(spec.version(), "2.1");
    assert_eq!(spec.description(), "Create a ticket.");
    assert_eq!(spec.effect(), Effect::Write);
    assert_eq!(spec.replay(), ReplayPolicy::Never);
    assert_eq!(spec.idempotency(), Idempotency::None);
    assert_eq!(spec.permission(), Permission::Ask);
    assert_eq!(spec.permission_reason(), Some("tickets wake people"));
    assert!(spec.completes_run());
    assert_eq!(spec.on_duplicate(), OnDuplicate::Reject);
    assert_eq!(spec.error_text(), ErrorText::Vouched);
    assert_eq!(spec.scopes().iter().collect::<Vec<_>>(), ["incident:read", "ticket:write"]);
    assert_eq!(spec.audience().tenants.iter().collect::<Vec<_>>(), ["demo"]);
    assert_eq!(spec.audience().agents.iter().collect::<Vec<_>>(), ["incident-helper"]);
    assert_eq!(spec.audience().domain.as_deref(), Some("operations"));
    assert_eq!(spec.timeout(), Some(std::time::Duration::from_secs(2)));
    assert_eq!(
        spec.input_schema().text(),
        r#"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}"#
    );
    assert_eq!(spec.output_schema().unwrap().text(), r#"{"type":"object"}"#);
    assert_eq!(spec.source(), "mock");
    assert!(spec.handler().is_some_and(|handler| !handler.may_block()));
}

#[test]
fn a_name_is_enough_and_the_rest_is_careful() {
    let spec = spec("name = \"anything\"");
    assert_eq!((spec.version(), spec.effect()), ("1.0", Effect::External));
    assert_eq!((spec.replay(), spec.permission()), (ReplayPolicy::Never, Permission::Ask));
    assert_eq!((spec.on_duplicate(), spec.error_text()), (OnDuplicate::RunEach, ErrorText::Hidden));
    assert_eq!((spec.completes_run(), spec.timeout()), (false, None));
    assert_eq!(spec.input_schema().text(), r#"{"type":"object"}"#);
    assert!(spec.scopes().is_empty() && spec.output_schema().is_none() && spec.handler().is_some());
}

#[test]
fn replay_and_permission_follow_the_effect() {
    let read = spec("name = \"a\"\neffect = \"read\"");
    assert_eq!((read.replay(), read.permission()), (ReplayPolicy::Safe, Permission::Allow));
    assert_eq!(read.idempotency(), Idempotency::None);
    let write = spec("name = \"a\"\neffect = \"write\"\nreplay = \"safe\"");
    assert_eq!((write.replay(), write.idempotency()), (ReplayPolicy::Safe, Idempotency::Declared));
}

#[test]
fn an_open_schema_stays_open() {
    let spec = spec("name = \"a\"\ninput_schema = { type = \"object\" }");
    assert_eq!(spec.input_schema().text(), r#"{"type":"object"}"#);
}

#[test]
fn unknown_keys_and_wrong_types_are_refused_with_the_tools_name() {
    for (toml, expected) in [
        ("name = \"a\"\nefect = \"read\"", "mock tool `a`: unknown key `efect`; did you mean `effect`?"),
        (
            "name = \"a\"\neffect = \"reed\"",
            "mock tool `a`: unknown variant `reed`, expected one of `read`, `write`, `external` at `/effect`",
        ),
        ("effect = \"read\"", "mock tool ``: missing field `name`"),
        ("name = \"a\"\nversion = 1.0", "mock tool `a`: invalid type: number `1.0`, expected a string at `/version`"),
        (
            "name = \"a\"\ntimeout = \"2 seconds\"",
            "mock tool `a`: `2 seconds` is not a duration: write a whole number and `ms`, `s`, `m`, `h` or `d`, such as `500ms` at `/timeout`",
        ),
        (
            "name = \"a\"\nbehaviour = [{ return = {} }]",
            "mock tool `a`: unknown key `return` in `/behaviour/0`; did you mean `returns`?",
        ),
        (
            "name = \"a\"\nbehaviour = [{ echoes = true }, { fails = { kode = \"x\" } }]",
            "mock tool `a`: unknown key `kode` in `/behaviour/1/fails`; did you mean `code`?",
        ),
        (
            "name = \"a\"\nbehaviour = [1]",
            "mock tool `a`: invalid type: number `1`, expected struct Entry at `/behaviour/0`",
        ),
    ] {
        assert_eq!(unreadable(toml), expected, "{toml}");
    }
    let far = unreadable("name = \"a\"\nzzz = 1");
    assert!(
        far.starts_with("mock tool `a`: unknown key `zzz`; the keys are `name`, `version`, `description`, "),
        "{far}"
    );
    assert!(far.ends_with("`behaviour`, `count_file`, `reconcile`"), "{far}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_tools_name_and_the_entrys_number() {
    for (toml, expected) in [
        ("name = \"\"", "mock tool ``: the name is empty"),
        ("name = \"a\"\nbehaviour = []", "mock tool `a`: `behaviour` is an empty list"),
        ("name = \"a\"\ntimeout = \"0s\"", "mock tool `a`: `timeout` is zero, so no call could succeed"),
        ("name = \"a\"\noutput_schema = \"object\"", "mock tool `a`: the output schema is refused: it must be a table"),
        (
            "name = \"a\"\nbehaviour = [{ returns = {} }, { returns = {}, errors = \"x\" }]",
            "mock tool `a`: behaviour entry 2 has two outcomes, `returns` and `errors`",
        ),
        ("name = \"a\"\nbehaviour = [{}]", "mock tool `a`: behaviour entry 1 says nothing"),
    ] {
        assert_eq!(refusal(toml).to_string(), expected, "{toml}");
    }
    assert_eq!(refusal("name = \"a\"\nbehaviour = []").hint().as_deref(), Some("leave `behaviour` out to return `{}`"));
}

#[tokio::test]
async fn one_entry_a_call_and_the_last_one_repeats() {
    let script = script(mock("name = \"a\"\nbehaviour = [{ returns = 1 }, { returns = 2 }]"), Path::new("."), 0);
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(enter(&script).await);
    }
    assert_eq!(answers, ["1", "2", "2", "2"]);
}

#[tokio::test]
async fn a_resumed_run_goes_on_with_the_right_entry() {
    let mock = mock("name = \"a\"\nbehaviour = [{ returns = 1 }, { returns = 2 }, { returns = 3 }]");
    for (entered_before, expected) in [(0, "1"), (1, "2"), (2, "3"), (3, "3"), (u32::MAX, "3")] {
        assert_eq!(enter(&script(mock.clone(), Path::new("."), entered_before)).await, expected);
    }
    let last = script(mock, Path::new("."), u32::MAX);
    assert_eq!((enter(&last).await.as_str(), enter(&last).await.as_str()), ("3", "3"));
}

#[tokio::test]
async fn without_behaviour_it_returns_an_empty_object() {
    assert_eq!(enter(&script(mock("name = \"a\""), Path::new("."), 0)).await, "{}");
}

#[tokio::test]
async fn each_entry_is_counted_on_disk_even_if_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mock = mock("name = \"a\"\nbehaviour = [{ returns = 1 }, { errors = \"x\" }]\ncount_file = \"counts/a.count\"");
    let script = script(mock, folder.path(), 0);
    let count = || files::read(&folder.path().join("counts/a.count")).unwrap().len();
    enter(&script).await;
    assert_eq!(count(), 1);
    assert!(script.enter(&Arguments::empty()).await.is_err());
    assert_eq!(count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_is_counted_before_it_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let mock = mock("name = \"a\"\nbehaviour = [{ sleeps = \"1h\" }]\ncount_file = \"a.count\"");
    let script = script(mock, folder.path(), 0);
    let arguments = Arguments::empty();
    let sleeper = script.enter(&arguments);
    assert!(tokio::time::timeout(std::time::Duration::from_mins(1), sleeper).await.is_err());
    assert_eq!(files::read(&folder.path().join("a.count")).unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_counted_does_not_act() {
    let folder = tempfile::tempdir().unwrap();
    let mock = mock("name = \"a\"\nbehaviour = [{ panics = \"it acted\" }]\ncount_file = \".\"");
    let failure = script(mock, folder.path(), 0).enter(&Arguments::empty()).await;
    let Err(Failure::Environment { message, nothing_happened }) = failure else { panic!("{failure:?}") };
    assert!(message.starts_with("the call could not be written down: "), "{message}");
    assert!(!nothing_happened);
}

#[test]
fn the_json_schema_is_closed_and_knows_the_words() {
    let schema = schemars::schema_for!(MockTool);
    let at = |pointer: &str| schema.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at("/additionalProperties"), false);
    assert_eq!(at("/required"), serde_json::json!(["name"]));
    assert_eq!(at("/properties/effect/enum"), serde_json::json!(["read", "write", "external"]));
    assert_eq!(at("/properties/replay/enum"), serde_json::json!(["safe", "never"]));
    assert_eq!(at("/properties/permission/enum"), serde_json::json!(["allow", "ask", "deny"]));
    assert_eq!(at("/$defs/Entry/additionalProperties"), false);
    assert_eq!(at("/$defs/Entry/properties/effect_state/enum"), serde_json::json!(["none", "done", "unknown"]));
}

#[test]
fn numbers_of_a_json_row_stay_exact() {
    let row = r#"{"name": "a", "behaviour": [{"returns": {"n": 123456789012345678901234567890, "m": 1.50}}]}"#;
    let mock: MockTool = serde_json::from_str(row).unwrap();
    let step = mock.acting.behaviour.into_iter().next().unwrap();
    assert!(format!("{step:?}").contains(r#"{"n": 123456789012345678901234567890, "m": 1.50}"#));
}
