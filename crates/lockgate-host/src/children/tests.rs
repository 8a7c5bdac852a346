use std::time::Duration;

use super::{Child, Ended};

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
    let child = Child { command: &command, environment: &words(&["HOME", "LOCKGATE_NOT_SET"]), input: b"{\"n\":1}\n" };
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
        Child { command: &command, environment: &[], input: b"x" }.run(patience).await
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
    let child = Child { command: &command, environment: &[], input: &input };
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
        let child = Child { command: &command, environment: &[], input: b"" };
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
