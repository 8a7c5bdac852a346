use lockgate_contract::approval::Proof;
use lockgate_contract::document::Document;
use lockgate_contract::event::{ApprovalEdited, ToolRelaxed};

use super::*;

#[test]
fn what_the_old_arguments_proved_says_nothing_of_new_ones() {
    let digest = Digest::of("test", &Document::null());
    let mut call = PastCall::new(CallId::new("run-1:step-0:call-0"), 0, "pay".to_owned(), "{}".to_owned());
    let (from, to) = (Permission::Ask, Permission::Allow);
    call.take(Body::ToolRelaxed(ToolRelaxed { tool_name: "pay".to_owned(), from, to }), Timestamp::default(), None);
    assert_eq!(call.relaxed, Some(Permission::Allow));
    let edited = ApprovalEdited {
        approval_id: ApprovalId::new("appr-1"),
        edited_as: ApprovalId::new("appr-2"),
        digest,
        arguments_text: r#"{"amount":7}"#.to_owned(),
        arguments_digest: digest,
        edited_by: "bob".to_owned(),
        roles: Vec::new(),
        proof: Proof::default(),
    };
    call.take(Body::ApprovalEdited(Box::new(edited)), Timestamp::default(), None);
    assert_eq!((call.relaxed, call.edited_since), (None, true));
}
