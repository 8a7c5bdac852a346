//! `lockgate token`.

use crate::command::{Desk, Done};

/// What was printed, without the token.
fn without(secret: &str, done: &Done) -> String {
    done.whole().replace(secret, "TOKEN")
}

/// The token that was printed.
fn secret(done: &Done) -> String {
    done.stdout.trim_end().to_owned()
}

#[test]
fn made_listed_and_revoked() {
    let desk = Desk::empty();
    let agents =
        ["token", "create", "ci", "--user", "alice", "--agent", "ci-bot", "--scope", "tickets", "--level", "write"];
    let made = desk.run(&agents);
    let token = secret(&made);
    insta::assert_snapshot!("created", without(&token, &made));
    assert!(token.starts_with("lgt_ci_") && token.len() == "lgt_ci_".len() + 43, "{token}");
    let persons =
        ["token", "create", "bob-phone", "--user", "bob", "--role", "sre", "--never-expires", "--note", "his phone"];
    let person = secret(&desk.run(&persons));
    insta::assert_snapshot!("listed", desk.run(&["token", "list"]).whole());
    let file = std::fs::read_to_string(desk.path(".lockgate/tokens.toml")).unwrap();
    for token in [&token, &person] {
        assert!(!file.contains(token.rsplit('_').next().unwrap()), "{file}");
    }
    let listed = desk.run(&["token", "list", "--format", "json"]).json();
    assert_eq!((&listed[0]["agent"], &listed[1]["roles"][0]), (&"ci-bot".into(), &"sre".into()));
    insta::assert_snapshot!("twice", desk.run(&agents).whole());
    insta::assert_snapshot!("revoked", desk.run(&["token", "revoke", "ci"]).whole());
    insta::assert_snapshot!("unknown", desk.run(&["token", "revoke", "ci"]).whole());
    assert_eq!(desk.run(&["token", "list", "--format", "json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_meant() {
    let desk = Desk::empty();
    for typed in [
        &["token", "create", "CI", "--user", "alice", "--agent", "a"][..],
        &["token", "create", "ci", "--user", "alice", "--agent", "a", "--role", "sre"],
        &["token", "create", "ci", "--user", "alice", "--scope", "tickets"],
        &["token", "create", "ci", "--user", "alice", "--expires", "0s"],
        &["token", "run", "run-1", "--ttl", "0s"],
        &["token", "run", "run-1"],
    ] {
        let done = desk.run(typed);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.whole());
    }
    assert!(!desk.path(".lockgate/tokens.toml").exists(), "nothing was written");
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_read_is_not_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::empty();
    let create = |id| desk.run(&["token", "create", id, "--user", "alice", "--tokens", "tokens.toml"]);
    assert_eq!(create("one").code, Some(0));
    std::fs::set_permissions(desk.path("tokens.toml"), std::fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!("open_to_others", create("two").whole());
}

#[test]
fn a_token_of_a_run() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["run", "ticket.toml"]).code, Some(3));
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    let made = desk.run(&["token", "run", &run[..8], "--ttl", "15m"]);
    let token = secret(&made);
    insta::assert_snapshot!("of_a_run", without(&token, &made).replace(&run[..8], "RUN"));
    assert!(token.starts_with("lgt_RUN_"), "{token}");
    let key = std::fs::read_to_string(desk.path(".lockgate/run-tokens.key")).unwrap();
    assert_eq!(key.trim_end().len(), 64);
    assert_ne!(secret(&desk.run(&["token", "run", &run, "--ttl", "16m"])), token);
    assert_eq!(std::fs::read_to_string(desk.path(".lockgate/run-tokens.key")).unwrap(), key, "the key stays");
    std::fs::write(desk.path(".lockgate/run-tokens.key"), "none").unwrap();
    insta::assert_snapshot!("no_key", desk.run(&["token", "run", &run]).whole().replace(&run, "RUN"));
}
