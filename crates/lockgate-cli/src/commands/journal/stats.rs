//! `lockgate journal stats`: what there is.

use clap::Args;
use lockgate::contract::ports::JournalStats;
use lockgate::contract::run::RunStatus;
use lockgate::contract::time::Timestamp;
use serde::Serialize;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::padded;
use crate::stored::{JournalArgument, Stored};

/// Count what a journal holds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate journal stats
  lockgate journal stats --format json")]
pub(super) struct Arguments {
    /// How the counts are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let view = StatsView::of(&stored.journal.upkeep().stats().await?);
    match arguments.format {
        Format::Human => output.text(&view.text()),
        Format::Json => output.object(&view),
        Format::Jsonl => output.line(&view),
    }
    Ok(Exit::Ok)
}

#[derive(Debug, Serialize)]
struct StatsView {
    runs: Vec<RunsView>,
    events: u64,
    artifacts: u64,
    artifact_bytes: u64,
    open_questions: u64,
    unknown_effects: u64,
    caller_keys: u64,
    oldest: Option<Timestamp>,
    newest: Option<Timestamp>,
    size_bytes: Option<u64>,
    schema_version: Option<u32>,
}

#[derive(Debug, Serialize)]
struct RunsView {
    status: Option<RunStatus>,
    count: u64,
}

impl StatsView {
    fn of(stats: &JournalStats) -> Self {
        Self {
            runs: stats.runs.iter().map(|(status, count)| RunsView { status: *status, count: *count }).collect(),
            events: stats.events,
            artifacts: stats.artifacts,
            artifact_bytes: stats.artifact_bytes,
            open_questions: stats.open_questions,
            unknown_effects: stats.unknown_effects,
            caller_keys: stats.keys,
            oldest: stats.oldest,
            newest: stats.newest,
            size_bytes: stats.size_bytes,
            schema_version: stats.schema_version,
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![("runs".to_owned(), self.runs.iter().map(|runs| runs.count).sum::<u64>().to_string())];
        for runs in &self.runs {
            let status = runs.status.map_or("running", RunStatus::word);
            lines.push((format!("  {status}"), runs.count.to_string()));
        }
        for (name, count) in [
            ("events", Some(self.events)),
            ("artifacts", Some(self.artifacts)),
            ("artifact bytes", Some(self.artifact_bytes)),
            ("open questions", Some(self.open_questions)),
            ("unknown effects", Some(self.unknown_effects)),
            ("callers' keys", Some(self.caller_keys)),
            ("bytes on the disk", self.size_bytes),
            ("schema version", self.schema_version.map(u64::from)),
        ] {
            lines.extend(count.map(|count| (name.to_owned(), count.to_string())));
        }
        for (name, time) in [("oldest run", self.oldest), ("last event", self.newest)] {
            lines.extend(time.map(|time| (name.to_owned(), time.to_string())));
        }
        let lines: Vec<String> = lines.iter().map(|(name, fact)| format!("{}  {fact}", padded(name, 24))).collect();
        format!("{}\n", lines.join("\n"))
    }
}
