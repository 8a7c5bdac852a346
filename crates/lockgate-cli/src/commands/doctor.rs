//! `lockgate doctor`: whether everything that a run needs is there.

use std::path::{Path, PathBuf};

use clap::Args;
use lockgate::assembly::{Assembly, Overrides, open_journal};
use lockgate::config::DEFAULT_JOURNAL;
use lockgate::harness::RunnerOptions;
use serde::Serialize;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::style::{BAD, GOOD, OPEN, styled};
use crate::render::text::{counted, hanging, one_line, padded};
use crate::render::tool::why_empty;
use crate::stored::{JournalArgument, Stored};

/// Check whether everything that a run needs is there
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is written: a journal that does not exist is not made.

Exit codes:
  0  nothing failed
  1  a check failed")]
pub(crate) struct Arguments {
    /// A run file to check (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: Option<PathBuf>,
    /// How the checks are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    verdict: Verdict,
    name: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn new(verdict: Verdict, name: &str, detail: impl Into<String>) -> Self {
        Self { verdict, name: name.to_owned(), detail: detail.into(), hint: None }
    }

    fn failed(name: &str, error: &CliError) -> Self {
        Self { hint: error.hint(), ..Self::new(Verdict::Fail, name, error.to_string()) }
    }

    fn line(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Ok => styled(GOOD, "ok  "),
            Verdict::Warn => styled(OPEN, "warn"),
            Verdict::Fail => styled(BAD, "fail"),
        };
        let hint =
            self.hint.as_deref().map(|hint| format!("{:26}hint: {}\n", "", hanging(hint, 32))).unwrap_or_default();
        format!("{verdict}  {}  {}\n{hint}", padded(&one_line(&self.name, 40), 18), hanging(&self.detail, 26))
    }
}

pub(crate) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let mut checks = vec![
        Check::new(Verdict::Ok, "version", concat!("lockgate ", env!("CARGO_PKG_VERSION"))),
        Check::new(Verdict::Ok, "platform", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
    ];
    let mut url = arguments.journal.journal;
    if let Some(run_file) = &arguments.run_file {
        match assembly(run_file).await {
            Ok(assembly) => {
                url = url.or_else(|| assembly.run_file.journal.url.clone());
                checks.extend(run_file_checks(&assembly));
            }
            Err(error) => checks.push(Check::failed("run file", &error)),
        }
    }
    checks.extend(journal_checks(url.as_deref().unwrap_or(DEFAULT_JOURNAL)).await);
    match arguments.format {
        Format::Human => checks.iter().for_each(|check| output.text(&check.line())),
        Format::Json => output.object(&checks),
        Format::Jsonl => checks.iter().for_each(|check| output.line(check)),
    }
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Ok })
}

/// The run file put together, without its journal.
async fn assembly(run_file: &Path) -> Result<Assembly, CliError> {
    let overrides = Overrides { journal: Some(open_journal("memory:")?), ..Overrides::default() };
    Ok(Assembly::open(run_file, overrides).await?)
}

fn run_file_checks(assembly: &Assembly) -> Vec<Check> {
    let registered = assembly.registry.len() as u64;
    let visible = assembly.discovery.capabilities().len();
    let tools = format!("{} registered, {visible} visible to the subject", counted(registered, "tool"));
    let mut checks = vec![
        Check::new(Verdict::Ok, "run file", assembly.path.display().to_string()),
        match why_empty(assembly.discovery.standing()) {
            None => Check::new(Verdict::Ok, "tools", tools),
            Some(why) => Check { hint: Some(why.to_owned()), ..Check::new(Verdict::Warn, "tools", tools) },
        },
        model_check(assembly),
    ];
    if assembly.run_file.task.is_none() {
        checks.push(Check::new(Verdict::Warn, "task", "the run file has no `task`: it serves `lockgate call` only"));
    }
    checks.extend(assembly.warnings.iter().map(|warning| Check::new(Verdict::Warn, "run file", warning.as_str())));
    checks
}

fn model_check(assembly: &Assembly) -> Check {
    if assembly.run_file.model.is_none() {
        return Check::new(Verdict::Warn, "model", "the run file has no `[model]`: it serves `lockgate call` only");
    }
    match assembly.runner(RunnerOptions::default()) {
        Ok(_) => Check::new(Verdict::Ok, "model", "configured; it was not asked anything"),
        Err(error) => Check::failed("model", &error.into()),
    }
}

async fn journal_checks(url: &str) -> Vec<Check> {
    let stored = match Stored::open(Some(url)) {
        Ok(stored) => stored,
        Err(CliError::NoJournal(url)) => {
            let detail = format!("`{url}` does not exist yet: the first run makes it");
            return vec![Check::new(Verdict::Warn, "journal", detail)];
        }
        Err(error) => return vec![Check::failed("journal", &error)],
    };
    let mut checks = vec![Check::new(Verdict::Ok, "journal", url)];
    match stored.journal.describe().await {
        Ok(facts) => {
            checks
                .extend(facts.iter().map(|(name, fact)| Check::new(Verdict::Ok, &format!("  {name}"), fact.as_str())));
        }
        Err(error) => checks.push(Check::failed("journal", &error.into())),
    }
    checks
}
