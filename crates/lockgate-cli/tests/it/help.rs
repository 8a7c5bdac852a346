//! The help texts.

use crate::command::Desk;

#[test]
fn the_commands() {
    insta::assert_snapshot!(Desk::new().run(&["--help"]).whole());
}

#[test]
fn a_run() {
    insta::assert_snapshot!(Desk::new().run(&["run", "--help"]).whole());
}

#[test]
fn a_call() {
    insta::assert_snapshot!(Desk::new().run(&["call", "--help"]).whole());
}

#[test]
fn a_resume() {
    insta::assert_snapshot!(Desk::new().run(&["runs", "resume", "--help"]).whole());
}

#[test]
fn the_version() {
    let done = Desk::new().run(&["--version"]);
    assert_eq!(done.stdout, concat!("lockgate ", env!("CARGO_PKG_VERSION"), "\n"));
}
