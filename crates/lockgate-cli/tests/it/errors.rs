//! What is wrong, where, and what to do.

use crate::command::Desk;

#[test]
fn a_missing_run_file() {
    insta::assert_snapshot!(Desk::new().run(&["run", "nowhere.toml"]).whole());
}

#[test]
fn an_unknown_key() {
    let desk = Desk::new();
    desk.write("typo.toml", "task = \"x\"\n\n[budget]\nmax_step = 3\n");
    insta::assert_snapshot!(desk.run(&["run", "typo.toml"]).whole());
}

#[test]
fn no_toml() {
    let desk = Desk::new();
    desk.write("broken.toml", "task = \"x\n");
    insta::assert_snapshot!(desk.run(&["run", "broken.toml"]).whole());
}

#[test]
fn no_model_and_no_task() {
    let desk = Desk::new();
    desk.write("empty.toml", "");
    insta::assert_snapshot!(desk.run(&["run", "empty.toml"]).whole());
}

#[test]
fn a_journal_of_another_kind() {
    insta::assert_snapshot!(
        Desk::new().run(&["run", "incident.toml", "--journal", "mysql://root:secret@db/x"]).whole()
    );
}

#[test]
fn a_budget_that_does_not_exist() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run(&["runs", "resume", "run-1", "--budget", "max_step=3"]).whole());
}

#[test]
fn a_missing_approval() {
    let desk = Desk::new();
    desk.run(&["run", "ticket.toml"]);
    insta::assert_snapshot!("missing_approval", desk.run(&["approvals", "approve", "apr-nowhere"]).whole());
    let call = desk.run(&["call", "ticket.toml", "create_ticket", "{}", "--approval", "apr-nowhere"]);
    insta::assert_snapshot!("missing_approval_of_a_call", call.whole());
}

#[test]
fn usage_goes_to_stderr() {
    let desk = Desk::new();
    for arguments in [&["run"][..], &["fly"], &["run", "incident.toml", "--format", "yaml"], &[]] {
        let done = desk.run(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.whole());
        assert!(!done.stderr.is_empty());
    }
}

#[test]
fn a_script_that_cannot_be_read() {
    let desk = Desk::new();
    std::fs::remove_file(desk.path("incident.json")).unwrap();
    insta::assert_snapshot!(desk.run(&["run", "incident.toml"]).whole());
}

/// What was typed and what a file says cannot drive the terminal, whatever the colours are.
#[test]
fn no_message_drives_the_terminal() {
    let desk = Desk::new();
    let hostile = "\u{1b}]0;t\u{7}\u{9b}2J\u{8}\u{202e}\u{200b}\nerror: all is well";
    desk.write("keys.toml", "task = \"x\"\n\"a\\u001b[2J\\nhint: b\" = 1\n");
    let typed: [&[&str]; 6] = [
        &["run", hostile],
        &["explain", hostile],
        &["runs", "show", hostile, "--journal", hostile],
        &["tools", "describe", "tools.toml", hostile],
        &["fly", hostile],
        &["run", "keys.toml"],
    ];
    for arguments in typed {
        for color in ["never", "always"] {
            let done = desk.run(&[arguments, &["--color", color]].concat());
            assert_eq!(done.code, Some(2), "{}", done.whole());
            let plain = done.stderr.replace("\u{1b}[", "");
            let hidden = |character: &char| character.is_control() && *character != '\n';
            assert!(
                !plain.contains(|character| hidden(&character) || "\u{202e}\u{200b}".contains(character)),
                "{plain:?}"
            );
            assert!(!done.stderr.contains("[2J\u{1b}") && !done.stderr.contains("\u{1b}[2J"), "{:?}", done.stderr);
            assert!(
                !done.stderr.lines().any(|line| line.starts_with("error: all") || line.starts_with("hint: b")),
                "{plain}"
            );
        }
    }
}
