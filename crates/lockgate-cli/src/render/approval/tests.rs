use lockgate::contract::approval::{Approval, ApprovalState, Circumstances, shown_text};
use lockgate::contract::digest::Digest;
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::effect::Effect;
use lockgate::contract::ids::{ApprovalId, RunId};
use lockgate::contract::time::Timestamp;

use super::{decided, show, table};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn approval() -> Approval {
    let run_id = RunId::new("run-34c559713956");
    let arguments = Document::parse("{\"title\":\"a\u{202e}b\",\"amount\":1.10}", Limits::ARGUMENTS).unwrap();
    Approval {
        approval_id: ApprovalId::new("apr-0123456789abcdef"),
        call_id: run_id.call(0, 0),
        run_id,
        step: 0,
        tool_name: "create_ticket".to_owned(),
        tool_version: "1.0".to_owned(),
        definition: Digest::from_bytes([1; 32]),
        arguments_digest: Digest::from_bytes([2; 32]),
        circumstances: Circumstances::default(),
        effect: Effect::Write,
        tenant: "demo".to_owned(),
        user: "alice".to_owned(),
        agent: "helper".to_owned(),
        shown_text: shown_text(
            "create_ticket",
            "1.0",
            Effect::Write,
            ["demo", "alice", "helper"],
            &Circumstances::default(),
            &arguments,
        ),
        arguments,
        digest: Digest::from_bytes([3; 32]),
        requested_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(600_000),
        state: ApprovalState::Granted,
        yeses: Vec::new(),
        attempt: 1,
        because: None,
        approvers: None,
        edited: None,
        decided_by: Some("bob".to_owned()),
        decided_at: Some(Timestamp::from_millis(1000)),
        reason: Some("fine\u{1b}[2J".to_owned()),
        consumed_at: None,
    }
}

#[test]
fn what_a_person_decides_on() {
    insta::assert_snapshot!(plain(&show(&approval(), None, Timestamp::from_millis(2000))), @r#"
    apr-0123456789abcdef is granted

      create_ticket 1.0 wants to run with effect write
      for alice of tenant demo, asked by agent helper
      arguments:
        title: "a\u{202e}b"
        amount: 1.10

    run         run-34c559713956
    call        run-34c559713956:step-0:call-0
    digest      sha256:0303030303030303030303030303030303030303030303030303030303030303
    definition  sha256:0101010101010101010101010101010101010101010101010101010101010101
    requested   1970-01-01T00:00:00.000Z
    expires     1970-01-01T00:10:00.000Z (in 9m 58s)
    decided by  bob
    decided     1970-01-01T00:00:01.000Z
    reason      fine\u{1b}[2J
    "#);
}

#[test]
fn one_line_each() {
    insta::assert_snapshot!(plain(&table(&[approval()])), @r"
    approval              state    tool               effect  expires                   call                            decided by
    apr-0123456789abcdef  granted  create_ticket 1.0  write   1970-01-01T00:10:00.000Z  run-34c559713956:step-0:call-0  bob
    ");
    assert_eq!(
        plain(&decided(&approval())),
        "granted apr-0123456789abcdef by bob: create_ticket 1.0 (write) of call run-34c559713956:step-0:call-0\n",
    );
}
