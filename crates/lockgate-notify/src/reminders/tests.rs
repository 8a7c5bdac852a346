use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::time::Timestamp;

use super::Reminders;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn question(id: &str, asked: i64, state: ApprovalState) -> Approval {
    let text = format!(
        r#"{{"approval_id":"{id}","run_id":"r","call_id":"r:c","step":0,"tool_name":"pay","tool_version":"1","arguments":{{}},
        "definition":"{0}","arguments_digest":"{0}","digest":"{0}","effect":"write","tenant":"t","user":"u","agent":"a",
        "shown_text":"","requested_at":"{1}","expires_at":"{2}","state":"{3}"}}"#,
        format_args!("sha256:{}", "0".repeat(64)),
        at(asked),
        at(600),
        state.word(),
    );
    Document::parse(text, lockgate_contract::document::Limits::OWN).unwrap().decode().unwrap()
}

#[test]
fn each_time_that_passes_is_one_reminder() {
    let open = [question("apr-1", 0, ApprovalState::Pending), question("apr-2", 50, ApprovalState::Pending)];
    let mut reminders = Reminders::every(Duration::from_mins(1));
    let mut due = |seconds| -> Vec<String> {
        reminders.due(&open, at(seconds)).into_iter().map(|due| due.approval_id.to_string()).collect()
    };
    assert!(due(59).is_empty());
    assert_eq!(due(60), ["apr-1"]);
    assert!(due(61).is_empty());
    assert_eq!(due(110), ["apr-2"]);
    assert_eq!(due(130), ["apr-1"]);
    // Nobody can answer it any more.
    assert!(due(600).is_empty());
}

#[test]
fn nobody_is_reminded_of_what_is_decided() {
    for state in [ApprovalState::Granted, ApprovalState::Denied, ApprovalState::Consumed, ApprovalState::Withdrawn] {
        let decided = [question("apr-1", 0, state)];
        assert!(Reminders::every(Duration::from_secs(1)).due(&decided, at(100)).is_empty(), "{state:?}");
    }
}
