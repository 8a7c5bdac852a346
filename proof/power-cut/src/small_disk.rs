//! A disk that is really full, and one that is really read only: what can be shown without a recorder.
//!
//! It runs on a file system of 8 MiB in memory, which `unshare` gives to an ordinary user, too.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use lockgate_contract::ids::{ArtifactId, RunId};
use lockgate_contract::ports::{ClaimRefused, Journal as _, JournalError, Lease, RunFilter, Settling, StoredArtifact};
use lockgate_host::clock::SystemClock;
use lockgate_journal::SqliteJournal;

use crate::Failure;
use crate::child::{claim, event, new_run};

/// Fills the disk around a journal, and sees what still works.
pub async fn fill(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().ok_or("the journal lies nowhere")?;
    let reserve = path.with_file_name("journal.db.reserve");
    let journal = open(path)?;
    let run = journal.create_run(new_run(&RunId::new("run-a"), 0)?).await?.0.lease().clone();
    for round in 0..2 {
        journal.claim(&run, claim(&run, round, "claimed"), vec![event("x.claimed", "claimed", 1)?]).await?;
    }
    must(reserve.exists(), "the reserve is there")?;

    let filler = fill_up(folder, "filler-1")?;
    let told = journal.append(&run, vec![event("x.large", "large", 4)?]).await;
    must(is_unavailable(&told), "nothing more is written")?;
    let told = journal.claim(&run, claim(&run, 2, "late"), vec![event("x.claimed", "late", 4)?]).await;
    must(matches!(told, Err(ClaimRefused::Journal(JournalError::Unavailable(_)))), "nothing more begins")?;
    must(reserve.exists(), "none of this takes the reserve")?;
    journal.settle(&run, settling(&run, 0), vec![event("x.settled", "settled-0", 4)?]).await?;
    must(!reserve.exists(), "a result takes the reserve")?;

    // Somebody else takes all but a little of what was given up.
    let second = fill_up(folder, "filler-2")?;
    std::fs::OpenOptions::new().write(true).open(&second)?.set_len(std::fs::metadata(&second)?.len() - (300 << 10))?;
    let told = journal.create_run(new_run(&RunId::new("run-b"), 1)?).await.map(drop);
    must(is_unavailable(&told), "nothing begins without a reserve")?;
    must(told.is_err_and(|error| error.to_string().contains("results of calls")), "and that is why")?;
    journal.settle(&run, settling(&run, 1), vec![event("x.settled", "settled-1", 4)?]).await?;
    drop(journal);
    fill_up(folder, "filler-3")?;

    // Another process on the full disk: SQLite has no room for its shared memory.
    let journal = open(path)?;
    let shown = read(&journal, &run).await?;
    must(shown == 1 + 2 + 2, "everything is read on the full disk")?;
    for file in [&filler, &second] {
        std::fs::remove_file(file)?;
    }
    journal.create_run(new_run(&RunId::new("run-b"), 1)?).await?;
    must(reserve.exists(), "with room the reserve is made again, and work begins")?;
    must(read(&journal, &run).await? == 5, "nothing was lost")
}

/// Reads a journal that cannot be written.
pub async fn read_only(path: &Path) -> Result<(), Failure> {
    let journal = open(path)?;
    let run = Lease::first(RunId::new("run-a"));
    must(read(&journal, &run).await? == 5, "everything is read on a medium that is read only")?;
    let told = journal.append(&run, vec![event("x.event", "late", 1)?]).await;
    must(is_unavailable(&told), "nothing is written there")?;
    must(is_unavailable(&journal.describe().await), "and a journal that cannot be written does not look well")
}

/// Writes a journal and goes away without closing it, as a process does that is killed: what was written is in the log only.
pub async fn leave(path: &Path) -> Result<(), Failure> {
    let journal = open(path)?;
    let run = journal.create_run(new_run(&RunId::new("run-a"), 0)?).await?.0.lease().clone();
    for round in 0..4 {
        journal.append(&run, vec![event("x.event", "left", round)?]).await?;
    }
    std::mem::forget(journal);
    Ok(())
}

fn open(path: &Path) -> Result<SqliteJournal, Failure> {
    Ok(SqliteJournal::open(path, Arc::new(SystemClock))?)
}

/// How many events a run has, read in every way that commands read.
async fn read(journal: &SqliteJournal, run: &RunId) -> Result<usize, Failure> {
    must(!journal.runs(RunFilter::default()).await?.is_empty(), "runs are listed")?;
    let record = journal.run(run).await?.ok_or("the run is not there")?;
    let events = journal.events(run, 0).await?;
    must(record.last_seq == events.len() as u64, "the run is whole")?;
    Ok(events.len())
}

fn settling(run: &RunId, round: u32) -> Settling {
    let artifact = StoredArtifact { artifact_id: ArtifactId::new(format!("art-{round}")), text: "x".repeat(50_000) };
    Settling { call_id: run.call(round, 0), attempt: 1, late: false, artifact: Some(artifact) }
}

/// Takes all the room that there is.
fn fill_up(folder: &Path, name: &str) -> Result<std::path::PathBuf, Failure> {
    let path = folder.join(name);
    let mut file = std::fs::File::create(&path)?;
    let block = [1; 4096];
    while file.write_all(&block).is_ok() {}
    Ok(path)
}

fn is_unavailable<T>(told: &Result<T, JournalError>) -> bool {
    matches!(told, Err(JournalError::Unavailable(_)))
}

fn must(holds: bool, what: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(format!("it does not hold that {what}").into()) }
}
