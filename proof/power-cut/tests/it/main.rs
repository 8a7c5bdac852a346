//! A small part of `cargo xtask power-cut`, each time the same cuts.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stderr, reason = "a test that cannot be run here says so")]
#![expect(clippy::disallowed_methods, reason = "other processes, and a file system of their own")]

use std::path::Path;
use std::process::Command;

use power_cut::{Fault, Promise, Recorder, Tally, cut};

const PROGRAM: &str = env!("CARGO_BIN_EXE_power-cut");
const ROUNDS: u32 = 16;

/// The recorder, or a word about why it is not there.
fn recorder() -> Option<Recorder> {
    let recorder = Recorder::compile().unwrap();
    if recorder.is_none() {
        eprintln!("skipped: the power-cut proof needs Linux and a C compiler (`cc`)");
    }
    recorder
}

fn assert_clean(tally: &Tally, case: &str) {
    assert!(tally.is_clean(), "{case}: {tally:#?}");
}

#[tokio::test]
async fn no_acknowledged_event_is_lost() {
    let Some(recorder) = recorder() else { return };
    let recording = recorder.record(Path::new(PROGRAM), ROUNDS, Fault::None).unwrap();
    // 12 plain events and 4 calls of two for each of 8 callers, and the runs of half of them: the beginning of a direct call's run
    // counts with what comes after it.
    assert_eq!(recording.said("ack").count(), 4 + 8 * (12 + 4 * 2));
    let tally = cut(&recording, Promise::Full, 30, 7).await.unwrap();
    assert_eq!(tally.images, 30);
    assert!(tally.acknowledged > 1_000, "the cuts come too early: {tally:#?}");
    assert_clean(&tally, "FULL");
    // Were the commits not synced, the same cuts would show it.
    let tally = cut(&recording, Promise::Normal, 30, 7).await.unwrap();
    assert!(tally.with_losses >= 3, "the proof sees nothing: {tally:#?}");
}

#[tokio::test]
async fn on_a_full_disk_what_was_refused_is_not_there_and_what_was_begun_ends() {
    let Some(recorder) = recorder() else { return };
    for room in [4_700_000, 5_300_001] {
        let recording = recorder.record(Path::new(PROGRAM), ROUNDS, Fault::Capacity(room)).unwrap();
        let (told, refused) = (recording.said("ack").count(), recording.said("refused").count());
        assert!(told > 8 && refused > 8, "{room}: {told} acknowledged, {refused} refused");
        assert_eq!(recording.said("unknown").count(), 0, "{room}: a full disk is no mystery");
        assert_eq!(recording.owed(), 0, "{room}: calls without their results");
        assert_clean(&cut(&recording, Promise::Full, 12, 7).await.unwrap(), "full");
    }
}

#[tokio::test]
async fn after_a_sync_that_failed_nothing_is_said_that_a_power_cut_makes_wrong() {
    let Some(recorder) = recorder() else { return };
    let mut unknown = 0;
    for number in [20, 31, 40] {
        let recording = recorder.record(Path::new(PROGRAM), ROUNDS, Fault::Sync(number)).unwrap();
        unknown += recording.said("unknown").count();
        assert_clean(&cut(&recording, Promise::Full, 12, 7).await.unwrap(), &format!("sync {number}"));
    }
    assert!(unknown > 0, "no commit failed");
}

#[tokio::test]
async fn a_write_that_stops_halfway_is_survived() {
    let Some(recorder) = recorder() else { return };
    let recording = recorder.record(Path::new(PROGRAM), ROUNDS, Fault::Write(301)).unwrap();
    assert!(recording.said("ack").count() > 8);
    assert_clean(&cut(&recording, Promise::Full, 12, 7).await.unwrap(), "write 301");
}

/// On a real file system of 8 MiB, in a name space of its own.
#[test]
fn a_journal_on_a_full_or_read_only_disk_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--mount", "sh", "-c"]);
    let is_allowed = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=8m none \"$0\""])
        .arg(folder.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !is_allowed {
        eprintln!("skipped: this needs `unshare` and the right to mount in a name space of one's own");
        return;
    }
    let steps = "set -e
        mount -t tmpfs -o size=8m none \"$0\"
        \"$1\" fill \"$0/journal.db\"
        rm \"$0/\"filler-* \"$0/journal.db.reserve\"
        \"$1\" leave \"$0/left.db\"
        rm \"$0/left.db.reserve\"
        \"$1\" leave \"$0/moved.db\"
        rm \"$0/moved.db-shm\"
        test -s \"$0/moved.db-wal\" && test -s \"$0/left.db-shm\" && test ! -e \"$0/journal.db-wal\"
        mount -o remount,ro \"$0\"
        for name in journal left moved; do \"$1\" read-only \"$0/$name.db\"; done";
    let output = unshare.arg(steps).arg(folder.path()).arg(PROGRAM).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
