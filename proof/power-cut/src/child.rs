//! The program that is watched: it writes a journal, and says on its standard output what it was told.
//!
//! ```text
//!   ack RUN SEQ TAG      the journal answered for this event, or showed it after an answer that left it open
//!   refused RUN TAG      the journal said that it did not write it, or did not show it after such an answer
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Event, EventType, NewEvent};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Claim, ClaimRefused, Journal, JournalError, Lease, NewRun, RunFilter, Settling};
use lockgate_contract::run::RunKind;
use lockgate_host::clock::SystemClock;
use lockgate_journal::SqliteJournal;

use crate::Failure;

/// How many write at once.
const CALLERS: u32 = 8;

/// Long enough for the journal to empty its log.
const REST: Duration = Duration::from_millis(900);

/// Writes so many rounds for each caller, rests in the middle, and goes on with the journal closed and opened again.
#[expect(clippy::print_stdout, reason = "its answers are its output")]
pub async fn write(path: &Path, rounds: u32) -> Result<(), Failure> {
    let mut journal = Arc::new(SqliteJournal::open(path, Arc::new(SystemClock))?);
    // As another process has it open: so that closing the journal after a failure does not empty its log by itself.
    let neighbour = SqliteJournal::open(path, Arc::new(SystemClock))?;
    let mut leases = Vec::new();
    for caller in 0..CALLERS {
        let run = RunId::new(format!("run-{caller}"));
        match journal.create_run(new_run(&run, caller)?).await {
            Ok((hold, events)) => {
                // Of a direct run the beginning counts once something came after it: without a gap, or not at all.
                if kind(caller) == RunKind::Agent {
                    println!("{}", acknowledged(&events, &format!("tag-{caller}-start")));
                }
                leases.push(hold.lease().clone());
            }
            // After an answer that leaves it open one would look; without a run there is nothing more to see here.
            Err(error) => println!("gave-up {run} {error}"),
        }
    }
    neighbour.runs(RunFilter::default()).await?;
    for half in [0..rounds / 2, rounds / 2..rounds] {
        let mut callers = Vec::new();
        for lease in leases.clone() {
            let (journal, half) = (Arc::clone(&journal), half.clone());
            callers.push(tokio::spawn(async move {
                for round in half {
                    step(&*journal, &lease, round).await?;
                }
                Ok::<_, Failure>(())
            }));
        }
        for caller in callers {
            caller.await??;
        }
        tokio::time::sleep(REST).await;
        drop(journal);
        journal = Arc::new(SqliteJournal::open(path, Arc::new(SystemClock))?);
    }
    Ok(())
}

/// An event of its own, or, each fourth time, an intent and its result.
async fn step(journal: &dyn Journal, lease: &Lease, round: u32) -> Result<(), Failure> {
    if round % 4 != 3 {
        let tag = format!("tag-{}-{round}", lease.run_id);
        let told = journal.append(lease, vec![event("x.event", &tag, round)?]).await;
        return report(journal, lease, &tag, told).await.map(drop);
    }
    let tag = format!("tag-{}-{round}-claim", lease.run_id);
    let told = match journal.claim(lease, claim(lease, round, &tag), vec![event("x.claimed", &tag, round)?]).await {
        Err(ClaimRefused::Journal(error)) => Err(error),
        told => Ok(told?),
    };
    if !report(journal, lease, &tag, told).await? {
        return Ok(());
    }
    let tag = format!("tag-{}-{round}-settle", lease.run_id);
    let settling = Settling { call_id: lease.call(round, 0), attempt: 1, late: false, artifact: None };
    let told = journal.settle(lease, settling, vec![event("x.settled", &tag, round)?]).await;
    report(journal, lease, &tag, told).await.map(drop)
}

/// Says what became of an event, and answers whether it is there. Where that was left open, it looks.
#[expect(clippy::print_stdout, reason = "its answers are its output")]
async fn report(
    journal: &dyn Journal,
    lease: &Lease,
    tag: &str,
    told: Result<Vec<Event>, JournalError>,
) -> Result<bool, Failure> {
    match told {
        Ok(events) => {
            println!("{}", acknowledged(&events, tag));
            Ok(true)
        }
        Err(JournalError::Unavailable(cause)) => {
            println!("refused {} {tag} {cause}", lease.run_id);
            Ok(false)
        }
        Err(JournalError::CommitUnknown(cause)) => {
            println!("unknown {} {tag} {cause}", lease.run_id);
            for _ in 0..100 {
                if let Ok(events) = journal.events(lease, 0).await {
                    let found: Vec<Event> = events.into_iter().filter(|event| is_tagged(event, tag)).collect();
                    if found.is_empty() {
                        println!("refused {} {tag} it is not there", lease.run_id);
                    } else {
                        println!("{}", acknowledged(&found, tag));
                    }
                    // Time for the others to look as well, before anybody writes over what the failure left.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    return Ok(!found.is_empty());
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err("the journal cannot be read after a failed commit".into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether an event carries a tag.
pub(crate) fn is_tagged(event: &Event, tag: &str) -> bool {
    event.data.text().contains(&format!("\"{tag}\""))
}

fn acknowledged(events: &[Event], tag: &str) -> String {
    let lines: Vec<String> = events.iter().map(|event| format!("ack {} {} {tag}", event.run_id, event.seq)).collect();
    lines.join("\n")
}

/// The first attempt of the call of a round.
pub(crate) fn claim(run: &RunId, round: u32, tag: &str) -> Claim {
    Claim {
        call_id: run.call(round, 0),
        step: round,
        attempt: 1,
        tool_name: "pay".to_owned(),
        effect: Effect::External,
        arguments_digest: Digest::of_text("power-cut", tag),
        idempotency_key: tag.to_owned(),
        approval: None,
        caller_key: None,
        subject: "subject:default/local/agent".to_owned(),
        quotas: Vec::new(),
        seen: Vec::new(),
    }
}

/// Every other run is a direct call's.
fn kind(caller: u32) -> RunKind {
    if caller.is_multiple_of(2) { RunKind::Agent } else { RunKind::Direct }
}

pub(crate) fn new_run(run: &RunId, caller: u32) -> Result<NewRun, Failure> {
    Ok(NewRun {
        run_id: run.clone(),
        tenant: "tenant".to_owned(),
        kind: kind(caller),
        title: String::new(),
        chained: false,
        started: event("run.started", &format!("tag-{caller}-start"), 0)?,
    })
}

/// An event of any size, from one that shares its page with others to one that needs three.
pub(crate) fn event(kind: &str, tag: &str, round: u32) -> Result<NewEvent, Failure> {
    let filler = "x".repeat(usize::try_from(round * 2_477 % 12_000)?);
    let data = Document::parse(format!("{{\"tag\":\"{tag}\",\"filler\":\"{filler}\"}}"), Limits::OUTPUT)?;
    Ok(NewEvent { kind: EventType::from_word(kind), step: 0, call_id: None, data: data.into() })
}
