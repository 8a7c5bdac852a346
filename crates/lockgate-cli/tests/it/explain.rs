//! `lockgate explain`.

use crate::command::Desk;

#[test]
fn a_code() {
    insta::assert_snapshot!(Desk::new().run(&["explain", "invalid_arguments"]).whole());
}

#[test]
fn all_codes() {
    insta::assert_snapshot!(Desk::new().run(&["explain"]).whole());
}

#[test]
fn a_reason_word_leads_to_its_code() {
    let done = Desk::new().run(&["explain", "duplicate_key", "--format", "json"]);
    assert_eq!(done.json()["code"], "invalid_arguments");
}

#[test]
fn a_slip_and_a_tools_own_code() {
    let desk = Desk::new();
    insta::assert_snapshot!("mistyped_code", desk.run(&["explain", "unknwon_tool"]).whole());
    insta::assert_snapshot!("a_tools_own_code", desk.run(&["explain", "quota_exceeded"]).whole());
}
