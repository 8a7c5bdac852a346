//! `lockgate redact`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::command::Desk;

const RULES: &str = r#"
version = 1
[[rule]]
id = "acme_key"
keywords = ["acme-"]
charset = "a-z0-9"
min_length = 16
positive = ["acme-{hex:16}"]
negative = ["acme-corporation"]
"#;

fn token() -> String {
    "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
}

fn log() -> String {
    format!(
        "cloning https://deploy:{}@github.com/o/r\nDATABASE_PASSWORD=correct-horse-7\nkey acme-0f1e2d3c4b5a6978\n\
         commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nwarn: Authorization: Bearer abcdefgh12345678\n",
        token()
    )
}

#[test]
fn a_text_on_stdin() {
    insta::assert_snapshot!(Desk::new().run_with_input(&["redact"], log().as_bytes()).whole());
}

#[test]
fn a_file_with_rules_of_its_own() {
    let desk = Desk::new();
    desk.write("build.log", &log());
    desk.write("acme.toml", RULES);
    insta::assert_snapshot!(desk.run(&["redact", "build.log", "--rules", "acme.toml"]).whole());
}

#[test]
fn values_of_the_environment_go_in_any_encoding() {
    let desk = Desk::new();
    let mut command = desk.command(&["redact", "text", "--secrets-from-env", "SWORD"]);
    desk.write("text", "a swordfish b c3dvcmRmaXNo c 73776f726466697368 d sword%66ish\n");
    let done = crate::command::Done::of(&["redact"], &command.env("SWORD", "swordfish").output().unwrap());
    insta::assert_snapshot!(done.whole());
}

#[test]
fn a_check_prints_nothing_and_says_it_with_its_code() {
    let desk = Desk::new();
    desk.write("dirty", &log());
    desk.write("clean", "nothing to see\n");
    insta::assert_snapshot!("a_check_that_finds", desk.run(&["redact", "dirty", "--check"]).whole());
    let clean = desk.run(&["redact", "clean", "--check"]);
    assert_eq!((clean.code, clean.stdout.as_str(), clean.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn bytes_that_are_no_text_pass() {
    let desk = Desk::new();
    let mut command = desk.command(&["redact"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\xff\xfe a \x00\n\xc3").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"\xff\xfe a \x00\n\xc3");
}

#[test]
fn a_line_is_printed_before_the_next_one_comes() {
    let desk = Desk::new();
    let mut command = desk.command(&["redact"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        input.write_all(format!("line {number}: TOKEN=abcdef12345{number}\n").as_bytes()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("line {number}: TOKEN=[redacted:token#")), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_who_goes_away_ends_it() {
    let desk = Desk::new();
    let mut command = desk.command(&["redact", "/dev/zero"]);
    if !std::path::Path::new("/dev/zero").exists() {
        return;
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_used_is_named() {
    let desk = Desk::new();
    desk.write("text", "a\n");
    desk.write("bad.toml", &RULES.replace("acme-{hex:16}", "acme-{hex:15}"));
    insta::assert_snapshot!("a_bad_rule", desk.run(&["redact", "text", "--rules", "bad.toml"]).whole());
    insta::assert_snapshot!("no_such_file", desk.run(&["redact", "absent"]).whole());
    let mut short = desk.command(&["redact", "text", "--secrets-from-env", "PIN"]);
    let done = crate::command::Done::of(&["redact"], &short.env("PIN", "1234").output().unwrap());
    insta::assert_snapshot!("a_short_secret", done.whole());
}

/// Without its value a secret would stay in the text.
#[test]
fn a_secret_that_is_not_there_is_a_mistake() {
    let desk = Desk::new();
    desk.write("text", "a swordfish b\n");
    for (value, problem) in [(None, "not set"), (Some(""), "empty")] {
        let mut command = desk.command(&["redact", "text", "--secrets-from-env", "SWORD", "SHIELD"]);
        command.env("SWORD", "swordfish").env_remove("SHIELD").envs(value.map(|value| ("SHIELD", value)));
        let done = crate::command::Done::of(&["redact"], &command.output().unwrap());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.whole());
        let told = format!("`--secrets-from-env` names `SHIELD`, which is {problem}");
        assert!(done.stderr.contains(&told), "{}", done.whole());
    }
}

#[test]
fn a_run_file_names_rules_and_values_that_stay() {
    let desk = Desk::new();
    desk.write("acme.toml", RULES);
    let shown = |redaction: &str| {
        let tools = "[[tools.mock]]\nname = \"say\"\nversion = \"1.0\"\ndescription = \"Says it.\"\neffect = \"read\"\n\
                     input_schema = { type = \"object\" }\nbehaviour = [{ echoes = true }]\n";
        desk.write("run.toml", &format!("[redaction]\n{redaction}\n{tools}"));
        desk.run(&["call", "run.toml", "say", "{\"a\":\"acme-0f1e2d3c4b5a6978 acme-ffffffffffffffff\"}"])
    };
    let both = shown("rules = [\"acme.toml\"]").whole();
    assert_eq!(both.matches("[redacted:acme_key#").count(), 2, "{both}");
    // printf %s acme-ffffffffffffffff | sha256sum
    let digest = "fb39480f26f663101804f30c34fd4297b5053e8897c68bc77266cda07a155b87";
    let one = shown(&format!("rules = [\"acme.toml\"]\nallow = [\"{digest}\"]")).whole();
    assert!(one.matches("[redacted:acme_key#").count() == 1 && one.contains("acme-ffffffffffffffff"), "{one}");
    assert!(shown("").whole().contains("acme-0f1e2d3c4b5a6978"));
    insta::assert_snapshot!("a_run_file_with_absent_rules", shown("rules = [\"absent.toml\"]").whole());
    insta::assert_snapshot!("a_run_file_with_a_bad_digest", shown("allow = [\"abc\"]").whole());
}
