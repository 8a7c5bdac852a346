//! `lockgate journal prune`: old runs go.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lockgate::contract::export::Writer;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Compaction, JournalError, Prune, Pruned, WhyKept};
use serde::Serialize;

use super::export::Archive;
use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::counted;
use crate::stored::{JournalArgument, Stored};

/// Remove runs that ended long ago
#[derive(Debug, Args)]
#[command(after_help = "\
Only whole runs go, and only those that are completed, failed, cancelled or at a limit. A run stays
that waits, is driven or needs reconciliation, and one with an open question, with an effect that
nobody knows, or with a caller's key that has not run out. With `--archive` the runs are exported,
and the file is on the disk, before the first one is removed.

Calls of a run that is gone are counted no more: not by quotas, and not by rules that apply so often
only. What is remembered of approvals lasts 90 days at most: keep runs for as long.

SQLite gives the room back where a quarter of the file is free, by writing the file anew: whoever
writes waits meanwhile. PostgreSQL uses the room again by itself.

Examples:
  lockgate journal prune --older-than 90d --dry-run
  lockgate journal prune --older-than 90d --archive 2026-11.jsonl")]
pub(super) struct Arguments {
    /// How old the last event of a run must be, such as `90d`, `12h` or `30m`
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Duration,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Export the runs into this new file first
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    archive: Option<PathBuf>,
    /// How it is told what was done
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let mut report = Report { dry_run: arguments.dry_run, ..Report::default() };
    let mut old = Vec::new();
    for run_id in stored.runs(&[]).await? {
        let prune = Prune { run_id, older_than: arguments.older_than, last_seq: None, dry_run: true };
        match judge(&stored, prune.clone()).await? {
            Some(Pruned::Removed) => old.push(prune),
            Some(Pruned::Kept(why)) => report.keep(why),
            None => {}
        }
    }
    if arguments.dry_run {
        report.removed = old.len() as u64;
    } else {
        if let Some(path) = &arguments.archive {
            archive(&stored, path, &mut old).await?;
        }
        for prune in old {
            match judge(&stored, Prune { dry_run: false, ..prune }).await? {
                Some(Pruned::Removed) => report.removed += 1,
                Some(Pruned::Kept(why)) => report.keep(why),
                None => {}
            }
        }
        if report.removed > 0 {
            report.room = stored.journal.upkeep().compact().await?.map(Room::from);
        }
    }
    match arguments.format {
        Format::Human => output.text(&report.text()),
        Format::Json => output.object(&report),
        Format::Jsonl => output.line(&report),
    }
    Ok(Exit::Ok)
}

/// What becomes of a run; nothing where somebody else removed it.
async fn judge(stored: &Stored, prune: Prune) -> Result<Option<Pruned>, CliError> {
    match stored.journal.upkeep().prune_run(prune).await {
        Ok(pruned) => Ok(Some(pruned)),
        Err(JournalError::NoSuchRun(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Exports the runs, and notes of each which event is its last in the archive: what comes later keeps the run.
async fn archive(stored: &Stored, path: &std::path::Path, runs: &mut [Prune]) -> Result<(), CliError> {
    let mut file = Archive::create(path)?;
    let mut writer = Writer::default();
    file.write(&writer.begin())?;
    for prune in runs {
        let run: &RunId = &prune.run_id;
        match stored.journal.upkeep().export_run(run).await {
            Ok(kept) => {
                file.write(&writer.run(&kept))?;
                prune.last_seq = Some(kept.events.len() as u64);
            }
            Err(JournalError::NoSuchRun(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    file.write(&writer.end())?;
    file.finish()
}

/// What was done.
#[derive(Debug, Default, Serialize)]
struct Report {
    dry_run: bool,
    removed: u64,
    kept: BTreeMap<&'static str, u64>,
    /// The size of the journal, where room was given back.
    room: Option<Room>,
}

#[derive(Debug, Serialize)]
struct Room {
    before_bytes: u64,
    after_bytes: u64,
}

impl From<Compaction> for Room {
    fn from(compaction: Compaction) -> Self {
        Self { before_bytes: compaction.before, after_bytes: compaction.after }
    }
}

impl Report {
    fn keep(&mut self, why: WhyKept) {
        *self.kept.entry(why.word()).or_default() += 1;
    }

    fn text(&self) -> String {
        let done = if self.dry_run { "would be removed" } else { "removed" };
        let mut text = format!("{} {done}\n", counted(self.removed, "run"));
        for why in WhyKept::ALL {
            if let Some(count) = self.kept.get(why.word()) {
                let _ = writeln!(text, "{} kept: {}", counted(*count, "run"), because(*why));
            }
        }
        if let Some(room) = &self.room {
            let _ = writeln!(text, "{} bytes before, {} bytes now", room.before_bytes, room.after_bytes);
        }
        text
    }
}

fn because(why: WhyKept) -> &'static str {
    match why {
        WhyKept::Recent => "the last event is younger",
        WhyKept::Open => "it has not ended",
        WhyKept::Waiting => "it waits for a person",
        WhyKept::NeedsReconciliation => "a person has to find out what happened",
        WhyKept::Driven => "somebody drives it",
        WhyKept::OpenQuestion => "a question is open",
        WhyKept::UnknownEffect => "nobody knows what a call has changed",
        WhyKept::LiveKey => "a caller's key has not run out",
    }
}

/// `90d`, `12h`, `30m`, `10s`
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not an age such as `90d`, `12h` or `30m`");
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text.strip_suffix(unit).and_then(|count| count.parse().ok()).ok_or_else(wrong)?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::age;

    #[test]
    fn an_age_is_a_number_with_its_unit() {
        assert_eq!(age("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(age("30m"), Ok(Duration::from_mins(30)));
        for wrong in ["", "90", "d", "-1d", "1.5h", "90w", "99999999999999999999d", "999999999999999999d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
