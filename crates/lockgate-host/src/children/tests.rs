use std::time::Duration;

use super::{Answer, Child, Ended};

const PATIENCE: Duration = Duration::from_secs(20);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(unix)]
#[tokio::test]
async fn it_reads_its_input_and_knows_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seen");
    // A shell of its own: none is started for it.
    let script = format!("cat > {0}; env >> {0}", file.display());
    let command = words(&["/bin/sh", "-c", &script, "$(touch never)"]);
    let child = Child {
        command: &command,
        environment: &words(&["HOME", "LOCKGATE_NOT_SET"]),
        variables: &[],
        folder: None,
        input: b"{\"n\":1}\n",
    };
    assert_eq!(child.run(PATIENCE).await.unwrap(), Ended::Well);
    let seen = std::fs::read_to_string(file).unwrap();
    assert!(seen.starts_with("{\"n\":1}\n"), "{seen}");
    // The shell sets some of its own.
    let given = |line: &str| ["PWD=", "SHLVL=", "_=", "OLDPWD=", "HOME="].iter().any(|name| line.starts_with(name));
    assert!(seen.lines().skip(1).all(given), "{seen}");
    assert!(std::env::var_os("PATH").is_some() && !seen.contains("CARGO"), "{seen}");
}

#[cfg(unix)]
#[tokio::test]
async fn how_it_ended() {
    let run = async |command: &[&str], patience| {
        let command = words(command);
        Child { command: &command, environment: &[], variables: &[], folder: None, input: b"x" }.run(patience).await
    };
    assert!(
        matches!(run(&["/bin/sh", "-c", "exit 3"], PATIENCE).await.unwrap(), Ended::Badly(how) if how.contains('3'))
    );
    assert_eq!(run(&["/bin/sh", "-c", "sleep 60"], Duration::from_millis(50)).await.unwrap(), Ended::TimedOut);
    assert!(run(&["/no/such/program"], PATIENCE).await.is_err());
    assert!(run(&[], PATIENCE).await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_reads_nothing_is_no_failure() {
    let input = vec![b'x'; 1 << 20];
    let command = words(&["/bin/sh", "-c", "exit 0"]);
    let child = Child { command: &command, environment: &[], variables: &[], folder: None, input: &input };
    assert_eq!(child.run(PATIENCE).await.unwrap(), Ended::Well);
}

/// Its time is up, or nobody waits for it any more: what it started ends too.
#[cfg(unix)]
#[tokio::test]
async fn what_it_started_is_killed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for is_dropped in [false, true] {
        let file = folder.path().join(if is_dropped { "dropped" } else { "timed_out" });
        // A process of the shell's that goes on for ten seconds by itself, and says so.
        let script =
            format!("(i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo x >> {}; sleep 0.1; done) & wait", file.display());
        let command = words(&["/bin/sh", "-c", &script]);
        let child = Child { command: &command, environment: &[], variables: &[], folder: None, input: b"" };
        let soon = Duration::from_secs(1);
        if is_dropped {
            assert!(tokio::time::timeout(soon, child.run(PATIENCE)).await.is_err());
        } else {
            assert_eq!(child.run(soon).await.unwrap(), Ended::TimedOut);
        }
        // A signal is not instant.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let then = std::fs::read(&file).unwrap().len();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(std::fs::read(&file).unwrap().len(), then, "dropped: {is_dropped}");
        assert!(then > 0);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_it_prints_is_read_as_far_as_it_may() {
    let answer = async |script: &str| {
        let command = words(&["/bin/sh", "-c", script]);
        let variables = [("DEPTH", "7".to_owned())];
        let child = Child { command: &command, environment: &[], variables: &variables, folder: None, input: b"in\n" };
        child.run_and_read(PATIENCE, 10).await.unwrap()
    };
    let said = |text: &str| Answer { ended: Ended::Well, printed: Some(text.to_owned()) };
    assert_eq!(answer("echo no >&2; cat; echo $DEPTH").await, said("in\n7\nno\n"));
    assert_eq!(answer("printf 0123456789").await, said("0123456789"));
    // Half of a text is none, however much there is.
    for script in ["printf 0123456789x", "head -c 1000000 /dev/zero >&2"] {
        assert_eq!(answer(script).await, Answer { ended: Ended::Well, printed: None }, "{script}");
    }
    assert!(matches!(answer("echo no; exit 3").await,
        Answer { ended: Ended::Badly(how), printed: Some(text) } if how.contains('3') && text == "no\n"));
    // What it started holds on to its output, and nobody waits for that.
    assert_eq!(answer("echo gone; sleep 60 &").await, said("gone\n"));
}

/// It works in its folder, and a program that is named by a path is the one there.
#[cfg(unix)]
#[tokio::test]
async fn it_works_in_its_folder() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("bin")).unwrap();
    std::fs::write(folder.join("text"), "here\n").unwrap();
    for program in ["said", "bin/said"] {
        std::fs::write(folder.join(program), "#!/bin/sh\necho $0; cat text\n").unwrap();
        std::fs::set_permissions(folder.join(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let answer = async |command: &[&str]| {
        let command = words(command);
        let child = Child { command: &command, environment: &[], variables: &[], folder: Some(&folder), input: b"" };
        child.run_and_read(PATIENCE, 1000).await.map(|answer| answer.printed.unwrap())
    };
    let expected = |program: &str| format!("{}\nhere\n", folder.join(program).display());
    assert_eq!(answer(&["./said"]).await.unwrap(), expected("./said"));
    assert_eq!(answer(&["bin/said"]).await.unwrap(), expected("bin/said"));
    assert_eq!(answer(&["/bin/sh", "said"]).await.unwrap(), "said\nhere\n");
    // A bare name is none of this folder.
    assert_eq!(answer(&["sh", "said"]).await.unwrap(), "said\nhere\n");
    assert!(answer(&["said"]).await.is_err());
    let gone = folder.join("gone");
    let command = words(&["/bin/sh", "-c", "exit 0"]);
    let child = Child { command: &command, environment: &[], variables: &[], folder: Some(&gone), input: b"" };
    assert!(child.run(PATIENCE).await.is_err());
}
