//! `lockgate policy backtest`: what rules would have decided about the calls of a journal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use lockgate::assembly::Assembly;
use lockgate::config::DEFAULT_JOURNAL;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{JournalError, PolicyVerdict, RunFilter};
use lockgate::contract::time::{Timestamp, read_span};
use lockgate::harness::{Past, PastCall, PastDecision};
use serde::Serialize;

use super::judge::{Judge, Unknown, again, named};
use super::looking;
use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::policy::{changed, tested, unjudged};
use crate::stored::{JournalArgument, Stored};

/// Say what the rules of a run file would have decided about the journal's past calls
#[derive(Debug, Args)]
#[command(after_help = "\
Each call that a policy decided about is decided about again, on the facts that the journal has of
it: whom it was for, the model turn, the arguments, the time. Nothing runs, nothing is recorded and
nobody is asked. Answers are compared, not what they demand besides. What cannot be judged is named
with its reason, and never guessed. Rules that `mode = \"shadow\"` only tries are tried here, too.
A decision point is told that nothing follows, and is asked about today's time.

The runs are read one after the other. `--format json` holds every difference until the end, the
other formats print each as it is found.

Examples:
  lockgate policy backtest payments.toml
  lockgate policy backtest stricter.toml --since 30d --format jsonl
  lockgate policy backtest stricter.toml --runs run-34c5 run-77aa

Exit codes:
  0  every call that can be judged gets the answer that it got
  1  a call would get another answer
  2  usage or configuration, or the journal cannot be read")]
pub(super) struct Arguments {
    /// The run file (TOML) with the rules and the tools
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// Only the calls of these runs: their ids, or the starts of them
    #[arg(long, value_name = "RUN", num_args = 1..)]
    runs: Vec<String>,
    /// Only what was decided since then: a time, or how long ago, such as `30d`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// A call that would get another answer.
#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) call_id: String,
    pub(crate) tool: String,
    pub(crate) recorded: &'static str,
    pub(crate) now: &'static str,
    /// The policies that determined the recorded answer.
    pub(crate) policies: Vec<String>,
    /// Those that determine the answer now.
    pub(crate) policies_now: Vec<String>,
    pub(crate) reason: String,
}

/// A call of which nobody can say.
#[derive(Debug, Serialize)]
pub(crate) struct Unjudged {
    pub(crate) call_id: String,
    pub(crate) tool: String,
    /// Absent where a hook stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<&'static str>,
    /// A stable word.
    pub(crate) why: &'static str,
    pub(crate) text: String,
}

/// What came out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tested {
    pub(crate) runs: u64,
    /// Calls that a policy had decided about.
    pub(crate) calls: u64,
    pub(crate) same: u64,
    /// How many, by what became of what: `allow->ask`.
    pub(crate) changed: BTreeMap<String, u64>,
    /// How many, by why.
    pub(crate) unjudged: BTreeMap<&'static str, u64>,
    /// Runs whose events make no run.
    pub(crate) unreadable: Vec<String>,
}

/// One line of `jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Changed(&'a Changed),
    Unjudged(&'a Unjudged),
    Summary(&'a Tested),
}

/// The whole as one object.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    summary: &'a Tested,
    differences: &'a [Changed],
    not_judged: &'a [Unjudged],
}

pub(super) async fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let assembly = Assembly::open(&arguments.run_file, looking()?).await?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let since = arguments.since.as_deref().map(|text| since(text, assembly.gate.clock().now())).transpose()?;
    let url = arguments.journal.journal.as_deref().or(assembly.run_file.journal.url.as_deref());
    let stored = Stored::open(Some(url.unwrap_or(DEFAULT_JOURNAL)))?;
    let mut test = Test {
        judge: Judge::set(&assembly),
        assembly: &assembly,
        stored: &stored,
        since,
        format: arguments.format,
        output,
        tested: Tested::default(),
        differences: Vec::new(),
        not_judged: Vec::new(),
    };
    for run in runs(&stored, &arguments.runs, since).await? {
        test.run(&run).await?;
    }
    Ok(test.end())
}

/// The runs that were named, or those in which something happened since then; oldest first.
async fn runs(stored: &Stored, named: &[String], since: Option<Timestamp>) -> Result<Vec<RunId>, CliError> {
    if !named.is_empty() {
        return stored.runs(named).await;
    }
    let all = stored.journal.runs(RunFilter { limit: u32::MAX, ..RunFilter::default() }).await?;
    let recent = all.into_iter().rev().filter(|run| since.is_none_or(|since| run.updated_at >= since));
    Ok(recent.map(|run| run.run_id).collect())
}

/// A time, or how long ago.
fn since(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let ago = || {
        let span = i64::try_from(read_span(text)?.as_millis()).ok()?;
        Some(Timestamp::from_millis(now.as_millis().saturating_sub(span)))
    };
    text.parse().ok().or_else(ago).ok_or_else(|| CliError::NoTime(text.to_owned()))
}

/// One pass over a journal.
struct Test<'a> {
    judge: Judge,
    assembly: &'a Assembly,
    stored: &'a Stored,
    since: Option<Timestamp>,
    format: Format,
    output: &'a Output,
    tested: Tested,
    differences: Vec<Changed>,
    not_judged: Vec<Unjudged>,
}

impl Test<'_> {
    async fn run(&mut self, run: &RunId) -> Result<(), CliError> {
        let events = match self.stored.journal.events(run, 0).await {
            // Somebody removed it since it was listed.
            Err(JournalError::NoSuchRun(_)) => return Ok(()),
            events => events?,
        };
        self.tested.runs += 1;
        let past = match Past::of(&events) {
            Ok(past) => past,
            Err(error) => {
                self.output.warning(CliError::fold(run)(error));
                self.tested.unreadable.push(run.to_string());
                return Ok(());
            }
        };
        drop(events);
        for call in past.calls() {
            let decided = call.decision.as_ref().map(|decision| decision.at);
            if let Some(at) = decided.or(call.stopped_by.as_ref().map(|veto| veto.at))
                && self.since.is_none_or(|since| at >= since)
            {
                self.call(&past, call).await?;
            }
        }
        Ok(())
    }

    async fn call(&mut self, past: &Past, call: &PastCall) -> Result<(), CliError> {
        self.tested.calls += 1;
        let (call_id, tool) = (call.call_id.to_string(), call.tool_name.clone());
        let (decision, verdict) = match self.judged(past, call).await? {
            Ok(judged) => judged,
            Err(unknown) => {
                *self.tested.unjudged.entry(unknown.word()).or_default() += 1;
                let recorded = call.decision.as_ref().map(|decision| decision.answer.word());
                let text = self.assembly.gate.scrub(&unknown.sentence()).into_owned();
                self.not_judged(Unjudged { call_id, tool, recorded, why: unknown.word(), text });
                return Ok(());
            }
        };
        let recorded = decision.answer.word();
        if verdict.decision == decision.answer {
            self.tested.same += 1;
            return Ok(());
        }
        let now = verdict.decision.word();
        *self.tested.changed.entry(format!("{recorded}->{now}")).or_default() += 1;
        self.differs(Changed {
            call_id,
            tool,
            recorded,
            now,
            policies: named(decision.acting()).0,
            policies_now: named(verdict.policies.iter().map(String::as_str)).0,
            reason: self.assembly.gate.scrub(&verdict.reason).into_owned(),
        });
        Ok(())
    }

    /// What was answered, and what is answered now.
    async fn judged<'p>(
        &self,
        past: &'p Past,
        call: &'p PastCall,
    ) -> Result<Result<(&'p PastDecision, PolicyVerdict), Unknown>, CliError> {
        let decision = match (&call.decision, &call.stopped_by) {
            (Some(decision), _) => decision,
            (None, veto) => {
                let hook = veto.as_ref().map(|veto| veto.hook.clone());
                return Ok(Err(Unknown::Stopped(hook.unwrap_or_default())));
            }
        };
        let considered = match again(self.stored.journal.as_ref(), self.assembly, call).await? {
            Ok(considered) => considered,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let subject = &past.start.subject;
        let verdict = self.judge.whatever_was_counted(&considered, subject, call.step, decision.at).await;
        Ok(verdict.map(|verdict| (decision, verdict)))
    }

    fn differs(&mut self, call: Changed) {
        match self.format {
            Format::Human => self.output.text(&changed(&call)),
            Format::Json => self.differences.push(call),
            Format::Jsonl => self.output.line(&Line::Changed(&call)),
        }
    }

    fn not_judged(&mut self, call: Unjudged) {
        match self.format {
            Format::Human => self.output.text(&unjudged(&call)),
            Format::Json => self.not_judged.push(call),
            Format::Jsonl => self.output.line(&Line::Unjudged(&call)),
        }
    }

    fn end(self) -> Exit {
        let Self { tested: summary, differences, not_judged, .. } = self;
        match self.format {
            Format::Human => self.output.text(&tested(&summary)),
            Format::Json => {
                let whole = Whole { summary: &summary, differences: &differences, not_judged: &not_judged };
                self.output.object(&whole);
            }
            Format::Jsonl => self.output.line(&Line::Summary(&summary)),
        }
        if summary.changed.is_empty() { Exit::Ok } else { Exit::Failed }
    }
}
