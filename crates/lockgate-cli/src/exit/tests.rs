use lockgate::contract::ids::CallId;
use lockgate::contract::outcome::{Code, Outcome, Status, TABLE};
use lockgate::contract::result::{Meta, ToolError, ToolResult};
use lockgate::contract::run::RunStatus;

use super::Exit;

fn failed(code: Outcome) -> ToolResult {
    ToolResult {
        call_id: CallId::new("run-000000000001:step-0:call-0"),
        tool_name: "create_ticket".to_owned(),
        tool_version: None,
        ok: false,
        data: None,
        error: Some(ToolError { code, reason: None, message: String::new(), retryable: false, details: None }),
        meta: Meta::default(),
    }
}

#[test]
fn every_stop_state_has_the_documented_number() {
    let numbers = [
        (RunStatus::Completed, 0),
        (RunStatus::WaitingForApproval, 3),
        (RunStatus::LimitReached, 4),
        (RunStatus::NeedsReconciliation, 5),
        (RunStatus::Failed, 6),
        (RunStatus::Cancelled, 130),
    ];
    for (status, number) in numbers {
        assert_eq!(Exit::of_run(Some(status)) as u8, number, "{status}");
    }
}

#[test]
fn what_did_not_run_is_refused_unless_it_waits_or_was_cancelled() {
    for row in TABLE.iter().filter(|row| row.status == Status::NotExecuted) {
        let exit = Exit::of_call(&failed(row.code.into()), Some(Status::NotExecuted));
        let expected = match row.code {
            Code::ApprovalRequired => Exit::Waiting,
            Code::Cancelled => Exit::Cancelled,
            _ => Exit::Refused,
        };
        assert_eq!(exit, expected, "{}", row.word);
    }
}

#[test]
fn what_ran_is_never_called_refused() {
    for row in TABLE.iter().filter(|row| row.status != Status::NotExecuted) {
        let exit = Exit::of_call(&failed(row.code.into()), Some(row.status));
        assert!(matches!(exit, Exit::Failed | Exit::Unknown | Exit::Environment), "{}: {exit:?}", row.word);
    }
}

#[test]
fn a_tools_own_code_is_a_failure_of_the_tool() {
    assert_eq!(Exit::of_call(&failed("service_not_found".parse().unwrap()), Some(Status::Executed)), Exit::Failed);
}

#[test]
fn a_stale_approval_is_refused_while_its_call_stays_open() {
    assert_eq!(Exit::of_call(&failed(Code::ApprovalStale.into()), None), Exit::Refused);
}
