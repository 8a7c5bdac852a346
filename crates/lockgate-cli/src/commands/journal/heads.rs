//! `lockgate journal heads`: the last hash of each run, to be kept elsewhere; and what `check --head` makes of it.

use clap::Args;
use lockgate::contract::digest::Digest;
use lockgate::contract::event::Event;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::RunFilter;
use lockgate::harness::check::{Defect, Invariant};
use serde::Serialize;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::defect::CheckedRun;
use crate::stored::{JournalArgument, Stored};

/// Print the hash of the last event of each chained run
#[derive(Debug, Args)]
#[command(after_help = "\
A run is chained whose run file says `chain = true` in `[journal]`. Keep what is printed where nobody
who can write into the journal can write: `lockgate journal check --head RUN=HASH` compares it.

Examples:
  lockgate journal heads
  lockgate journal heads --format jsonl")]
pub(super) struct Arguments {
    /// How the hashes are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

#[derive(Debug, Serialize)]
struct Head {
    run_id: RunId,
    seq: u64,
    hash: Digest,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let all = RunFilter { limit: u32::MAX, ..RunFilter::default() };
    let runs = stored.journal.runs(all).await?.into_iter().rev();
    let heads: Vec<Head> =
        runs.filter_map(|run| run.head.map(|hash| Head { run_id: run.run_id, seq: run.last_seq, hash })).collect();
    match arguments.format {
        // As `--head` takes it.
        Format::Human => heads.iter().for_each(|head| output.text(&format!("{}={}\n", head.run_id, head.hash))),
        Format::Json => output.object(&heads),
        Format::Jsonl => heads.iter().for_each(|head| output.line(head)),
    }
    Ok(Exit::Ok)
}

/// `run-34c559713956=sha256:…`
pub(super) fn expected(text: &str) -> Result<(RunId, Digest), String> {
    let (run, hash) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is not `RUN=HASH`"))?;
    Ok((RunId::new(run), hash.parse().map_err(|error| format!("{error}"))?))
}

/// What is wrong where a run has another last hash than it had. One that went on since has the hash further up.
pub(super) fn differing(heads: &[(RunId, Digest)], run: &RunId, events: &[Event]) -> Option<Defect> {
    let is_missing = |hash: &Digest| !events.iter().any(|event| event.hash == Some(*hash));
    let (_, hash) = heads.iter().find(|(known, hash)| known == run && is_missing(hash))?;
    Some(Defect {
        invariant: Invariant::Chain,
        seqs: events.last().map(|event| event.seq).into_iter().collect(),
        call_id: None,
        text: format!("no event has the hash {hash}: the run is not the one that had it"),
    })
}

/// Runs whose hash was given, and that are not there.
pub(super) fn missing(heads: &[(RunId, Digest)], runs: &[CheckedRun]) -> Vec<CheckedRun> {
    let is_missing = |run: &RunId| !runs.iter().any(|checked| checked.run_id == *run);
    let of = |run: &RunId| CheckedRun {
        run_id: run.clone(),
        events: 0,
        defects: differing(heads, run, &[]).into_iter().collect(),
    };
    heads.iter().map(|(run, _)| run).filter(|run| is_missing(run)).map(of).collect()
}
