//! What a program leaves behind, and that nothing is left.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockgate_sandbox::{Level, Patience, Pipes, Program, Tree, register, spawn};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

/// Leaves the group, ignores being asked to end, and writes its number on the machine into a file again and again.
const STUBBORN: &str = r#"trap '' TERM HUP INT
( trap '' TERM HUP INT; setsid sh -c 'trap "" TERM HUP INT; while :; do date +%s.%N > "$0"; sleep 0.05; done' "$1" ) &
( trap '' TERM HUP INT; while :; do date +%s.%N > "$2"; sleep 0.05; done ) &
echo ready
while :; do sleep 1; done"#;

fn helper() {
    register(PathBuf::from(env!("CARGO_BIN_EXE_lockgate-sandbox-init")));
}

fn patience() -> Patience {
    Patience { after_close: Duration::from_millis(100), after_request: Duration::from_millis(200) }
}

fn shell(script: &str, arguments: &[&Path]) -> Vec<String> {
    let mut command = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned(), "sh".to_owned()];
    command.extend(arguments.iter().map(|path| path.display().to_string()));
    command
}

fn start(command: &[String]) -> (Tree, Pipes) {
    let environment = ["PATH".to_owned()];
    spawn(&Program { command, environment: &environment, variables: &[], folder: None }, patience()).unwrap()
}

/// Whether the processes that write these files are gone within two seconds: their files stand still.
fn are_gone(files: &[&Path]) -> bool {
    let end = Instant::now() + Duration::from_secs(2);
    let read = || files.iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect::<Vec<_>>();
    while Instant::now() < end {
        let before = read();
        std::thread::sleep(Duration::from_millis(400));
        if before == read() {
            return true;
        }
    }
    false
}

/// Says so where the machine has no namespaces: what has left the group escapes there, and that is what the fence says.
fn reaches_everything(tree: &Tree) -> bool {
    let fence = tree.fence();
    if fence.level == Level::PidNamespace {
        return true;
    }
    println!("skipped: {}: {}", fence.level.word(), fence.why_not_more.as_deref().unwrap_or_default());
    false
}

async fn first_line(pipes: &mut Pipes) -> String {
    let mut line = String::new();
    BufReader::new(&mut pipes.stdout).read_line(&mut line).await.unwrap();
    line
}

// anthropics/claude-code#26658, openai/codex#18881, hermes-agent#57228, QwenPaw#4105: orphaned children
#[tokio::test]
async fn nothing_is_left_after_a_stop() {
    helper();
    let folder = tempfile::tempdir().unwrap();
    let files = [folder.path().join("left"), folder.path().join("stayed")];
    let (mut tree, mut pipes) = start(&shell(STUBBORN, &[&files[0], &files[1]]));
    assert_eq!(first_line(&mut pipes).await, "ready\n");
    if !reaches_everything(&tree) {
        return;
    }
    drop(pipes);
    let began = Instant::now();
    tree.stop().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(are_gone(&[&files[0], &files[1]]));
}

// anthropics/claude-code#26658, openai/codex#18881
#[tokio::test]
async fn nothing_is_left_after_a_drop() {
    helper();
    let folder = tempfile::tempdir().unwrap();
    let files = [folder.path().join("left"), folder.path().join("stayed")];
    let (tree, mut pipes) = start(&shell(STUBBORN, &[&files[0], &files[1]]));
    assert_eq!(first_line(&mut pipes).await, "ready\n");
    if !reaches_everything(&tree) {
        return;
    }
    drop(tree);
    assert!(are_gone(&[&files[0], &files[1]]));
}

/// Not a test by itself: the process that is killed in the next one.
#[tokio::test]
async fn victim() {
    let Some(folder) = std::env::var_os("SANDBOX_VICTIM").map(PathBuf::from) else { return };
    helper();
    let (tree, mut pipes) = start(&shell(STUBBORN, &[&folder.join("left"), &folder.join("stayed")]));
    first_line(&mut pipes).await;
    let word = if reaches_everything(&tree) { "ready" } else { "cannot" };
    std::fs::write(folder.join("word"), word).unwrap();
    std::future::pending::<()>().await;
}

// anthropics/claude-code#26658, hermes-agent#57228: the parent is killed, and its children go on
#[test]
fn nothing_is_left_after_the_parent_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "trees::victim", "--nocapture"])
        .env("SANDBOX_VICTIM", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let word = loop {
        match std::fs::read_to_string(folder.path().join("word")) {
            Ok(word) if !word.is_empty() => break word,
            _ => assert!(Instant::now() < end, "the victim does not start"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    parent.kill().unwrap();
    parent.wait().unwrap();
    if word == "cannot" {
        println!("skipped: no process namespaces here");
        return;
    }
    assert!(are_gone(&[&folder.path().join("left"), &folder.path().join("stayed")]));
}

#[tokio::test]
async fn a_program_is_spoken_with_and_ends_when_its_input_does() {
    helper();
    let (mut tree, mut pipes) = start(&shell("cat; echo bye >&2; exit 3", &[]));
    pipes.stdin.write_all(b"hello\n").await.unwrap();
    assert_eq!(first_line(&mut pipes).await, "hello\n");
    drop(pipes.stdin);
    let status = tree.stop().await.unwrap();
    assert_eq!(status.code(), Some(3));
    let mut last = String::new();
    pipes.stderr.read_to_string(&mut last).await.unwrap();
    assert_eq!(last, "bye\n");
}

#[tokio::test]
async fn a_program_that_closes_its_output_is_heard_closing_it() {
    helper();
    let (_tree, mut pipes) = start(&shell("exec >&-; sleep 30", &[]));
    let mut all = String::new();
    let read = tokio::time::timeout(Duration::from_secs(5), pipes.stdout.read_to_string(&mut all)).await;
    assert_eq!(read.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn a_program_that_listens_is_asked_before_it_is_killed() {
    helper();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("asked");
    let (mut tree, mut pipes) =
        start(&shell(r#"trap 'echo asked > "$1"; exit 0' TERM; echo ready; while :; do sleep 0.05; done"#, &[&file]));
    first_line(&mut pipes).await;
    assert_eq!(tree.stop().await.unwrap().code(), Some(0));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "asked\n");
}

#[tokio::test]
async fn the_environment_and_the_folder_are_those_that_were_named() {
    helper();
    let folder = tempfile::tempdir().unwrap();
    let command = shell("pwd; env", &[]);
    let variables = [("OWN".to_owned(), "1".to_owned())];
    let program = Program { command: &command, environment: &[], variables: &variables, folder: Some(folder.path()) };
    let (_tree, mut pipes) = spawn(&program, patience()).unwrap();
    let mut all = String::new();
    pipes.stdout.read_to_string(&mut all).await.unwrap();
    let mut lines: Vec<_> = all.lines().collect();
    assert_eq!(Path::new(lines.remove(0)), folder.path().canonicalize().unwrap());
    // The shell adds these by itself.
    lines.retain(|line| !["PWD=", "SHLVL=", "_="].iter().any(|own| line.starts_with(own)));
    assert_eq!(lines, ["OWN=1"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_at_once() {
    let command = ["no-such-program-anywhere".to_owned()];
    let program = Program { command: &command, environment: &[], variables: &[], folder: None };
    let error = spawn(&program, patience()).unwrap_err();
    assert_eq!(error.to_string(), "the program `no-such-program-anywhere` is not found");
}
