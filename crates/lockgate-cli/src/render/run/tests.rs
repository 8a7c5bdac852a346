use lockgate::contract::ids::RunId;
use lockgate::contract::ports::RunRecord;
use lockgate::contract::run::{RunKind, RunStatus};
use lockgate::contract::time::Timestamp;
use lockgate::harness::RunResult;

use super::{Commands, ending, table};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn result(status: Option<RunStatus>, reason: Option<&str>, answer: Option<&str>) -> RunResult {
    RunResult {
        run_id: RunId::new("run-34c559713956"),
        status,
        reason: reason.map(str::to_owned),
        answer: answer.map(str::to_owned),
        steps: 3,
        valid_actions: 1,
        completed_by: None,
        calls: Vec::new(),
        model_messages: None,
    }
}

#[test]
fn the_answer_stands_above_the_status() {
    let result = result(Some(RunStatus::Completed), Some("final_answer"), Some("team-auth\u{1b}[2J\nowns it.\n"));
    let expected = "\nteam-auth\\u{1b}[2J\nowns it.\n\n\
                    status completed (final_answer) · 3 steps · 1 valid action · run-34c559713956\n";
    assert_eq!(plain(&ending(&result)), expected);
}

#[test]
fn a_run_that_nobody_drives_is_running() {
    let expected = "\nstatus running · 3 steps · 1 valid action · run-34c559713956\n";
    assert_eq!(plain(&ending(&result(None, None, None))), expected);
}

#[test]
fn a_command_names_the_journal_that_the_run_is_in() {
    let default = Commands::default();
    assert_eq!(plain(&default.command(&["runs", "resume", "run-1"])), "lockgate runs resume run-1");
    let other = Commands { journal: Some("sqlite:my runs.db".to_owned()) };
    assert_eq!(plain(&other.command(&["runs", "list"])), "lockgate runs list --journal 'sqlite:my runs.db'");
}

#[test]
fn a_table_of_runs() {
    let record = |id: &str, kind, status, title: &str| RunRecord {
        run_id: RunId::new(id),
        tenant: "demo".to_owned(),
        kind,
        title: title.to_owned(),
        status,
        last_seq: 3,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(1500),
        head: None,
    };
    let runs = [
        record("run-34c559713956", RunKind::Agent, Some(RunStatus::WaitingForApproval), "Who owns it?\nTell me."),
        record("run-000000000002", RunKind::Direct, None, "call lookup"),
    ];
    insta::assert_snapshot!(plain(&table(&runs)), @r"
    run               status                kind    created                   updated                   title
    run-34c559713956  waiting_for_approval  agent   1970-01-01T00:00:00.000Z  1970-01-01T00:00:01.500Z  Who owns it?\u{a}Tell me.
    run-000000000002  running               direct  1970-01-01T00:00:00.000Z  1970-01-01T00:00:01.500Z  call lookup
    ");
}
