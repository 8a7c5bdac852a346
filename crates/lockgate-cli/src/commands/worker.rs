//! `lockgate worker`: drives on whatever run of a journal is ready.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use futures_util::future::join_all;
use lockgate::assembly::{Assembly, AssemblyError, Overrides};
use lockgate::config::RunFile;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::Journal;
use lockgate::contract::run::RunStatus;
use lockgate::harness::RunResult;
use lockgate::notify::{Notifier, Reminders};
use lockgate::sources::mock::TimeSpan;
use lockgate::worker::{Prepare, Report, Worker, WorkerOptions};
use serde::Serialize;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::commands::TO_BE_TOLD;
use crate::commands::approvals::{Reminded, reminded};
use crate::commands::runs::without_servers;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::style::{NAME, of_status, styled};
use crate::signals::on_signal;
use crate::stored::{JournalArgument, Stored};

/// Drive on whatever run of a journal is ready
#[derive(Debug, Args)]
#[command(after_help = "\
A run is ready when nobody drives it and it could go on: it was enqueued, its driver died, its question was decided or ran out,
or what became of its calls was found out. Any number of workers share a journal; one process with one run needs none.

The terminate signal drains the worker: it takes no more runs, and lets go of each between two of its steps. Another worker
goes on with them.

Examples:
  lockgate run incident.toml --enqueue --journal postgres://db/lockgate
  lockgate worker --journal postgres://db/lockgate
  lockgate worker --until-idle

Exit codes:
  0  drained, or nothing is ready any more
  2  usage or configuration: nothing was started")]
pub(crate) struct Arguments {
    /// Run files whose runs it drives; without any, those of every run whose run file it can read
    #[arg(value_name = "RUNFILE")]
    run_files: Vec<PathBuf>,
    /// Runs side by side
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// How long what is under way may take once it is drained
    #[arg(long, value_name = "TIME", default_value = "30s")]
    patience: TimeSpan,
    /// End when no run is ready
    #[arg(long)]
    until_idle: bool,
    /// How what happens is printed
    #[arg(long, value_enum, default_value_t)]
    format: WorkerFormat,
    #[command(flatten)]
    journal: JournalArgument,
}

/// How a worker prints what happens.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum WorkerFormat {
    /// For people
    #[default]
    Human,
    /// One JSON value a line
    Jsonl,
}

/// What happened to a run, as JSON.
#[derive(Serialize)]
struct ReportView<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<RunStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    let Stored { journal, .. } = Stored::open_kept(arguments.journal.journal.as_deref())?;
    for run_file in &arguments.run_files {
        RunFile::read(run_file).map_err(AssemblyError::from)?;
    }
    let run_files = arguments.run_files.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>()?;
    // The MCP servers of a file are started once, whoever of its runs calls them. Those of a file that is not named are not.
    let mut servers = HashMap::new();
    for path in &run_files {
        let overrides = Overrides { journal: Some(Arc::clone(&journal)), ..Overrides::default() };
        if let Some(running) = Assembly::open(path, overrides).await?.servers {
            servers.insert(path.clone(), running);
        }
    }
    let telling: Arc<Mutex<Vec<Arc<Notifier>>>> = Arc::default();
    let prepare: Prepare = {
        let (journal, telling) = (Arc::clone(&journal), Arc::clone(&telling));
        Arc::new(move |state, options| {
            let named = state.start().run_file.as_deref().map(Path::new);
            if !run_files.is_empty() && !run_files.iter().any(|path| Some(path.as_path()) == named) {
                return Err(CliError::OtherRunFile(state.run_id().clone()).into());
            }
            let running = named.and_then(|path| servers.get(path).cloned());
            let assembly = without_servers(&journal, state, running)?;
            let mut telling = telling.lock().unwrap_or_else(PoisonError::into_inner);
            telling.retain(|notifier| !notifier.is_done() || Arc::strong_count(notifier) > 1);
            telling.push(Arc::clone(&assembly.notifier));
            drop(telling);
            Ok(assembly.runner_for(state.start().kind, options)?)
        })
    };
    let drain = CancellationToken::new();
    let draining = drain.clone();
    on_signal(output, "draining", move || draining.cancel());
    let (told, format) = (Arc::clone(output), arguments.format);
    let options = WorkerOptions {
        concurrency: usize::from(arguments.concurrency),
        drain,
        patience: arguments.patience.as_duration(),
        until_idle: arguments.until_idle,
        report: Arc::new(move |report| tell(&told, format, &report)),
        ..WorkerOptions::default()
    };
    let reminding = remind(&journal, &arguments.run_files)?;
    Worker::new(journal, prepare, options).run().await;
    reminding.iter().for_each(JoinHandle::abort);
    let telling = std::mem::take(&mut *telling.lock().unwrap_or_else(PoisonError::into_inner));
    join_all(telling.iter().map(|notifier| notifier.flush(TO_BE_TOLD))).await;
    Ok(Exit::Ok)
}

/// Tells again of the questions of these files' runs that stand for long, where the files want that.
fn remind(journal: &Arc<dyn Journal>, run_files: &[PathBuf]) -> Result<Vec<JoinHandle<()>>, CliError> {
    let mut reminding = Vec::new();
    for path in run_files {
        let overrides = Overrides { journal: Some(Arc::clone(journal)), ..Overrides::default() };
        let assembly = Assembly::load(path, overrides)?;
        let Some(after) = assembly.run_file.approvals.remind_after.map(TimeSpan::as_duration) else {
            continue;
        };
        if assembly.notifier.is_silent() {
            continue;
        }
        let mut reminders = Reminders::every(after);
        reminding.push(tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_FOR_REMINDERS).await;
                match reminded(&assembly, &mut reminders).await {
                    Ok(Reminded { failed, .. }) => {
                        for (approval, error) in failed {
                            tracing::warn!(%approval, %error, "nobody was reminded");
                        }
                    }
                    Err(error) => tracing::warn!(%error, "nobody was reminded"),
                }
            }
        }));
    }
    Ok(reminding)
}

/// How often a worker looks whom to remind.
const LOOK_FOR_REMINDERS: Duration = Duration::from_secs(1);

/// As the runs of these files name them.
fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|cause| CliError::Path { path: path.to_owned(), cause })
}

fn tell(output: &Output, format: WorkerFormat, report: &Report) {
    let view = ReportView::of(report);
    match format {
        WorkerFormat::Jsonl => output.line(&view),
        WorkerFormat::Human => match (view.run_id, view.message) {
            (None, message) => output.warning(message.unwrap_or_default()),
            (Some(run), Some(message)) => output.warning(format!("{run}: {message}")),
            (Some(run), None) => {
                let run = styled(NAME, run.as_str());
                let word = view.status.map_or(view.kind, RunStatus::word);
                let reason = view.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
                let word = if view.kind == "left" { styled(of_status(view.status), word) } else { word.to_owned() };
                output.text(&format!("{run}  {word}{reason}\n"));
            }
        },
    }
}

impl<'a> ReportView<'a> {
    fn of(report: &'a Report) -> Self {
        let view = |kind, run_id| Self { kind, run_id, status: None, reason: None, message: None };
        match report {
            Report::Taken(run) => view("taken", Some(run)),
            Report::Left(state) => {
                let RunResult { status, reason, .. } = RunResult::of(state);
                Self { status, reason, ..view("left", Some(state.run_id())) }
            }
            Report::Unfit { run_id, cause } => Self { message: Some(cause.to_string()), ..view("unfit", Some(run_id)) },
            Report::Failed(run, error) => Self { message: Some(error.to_string()), ..view("failed", Some(run)) },
            Report::BrokenOff(run) => {
                let message = "it was broken off in the middle: what was under way may be unknown".to_owned();
                Self { message: Some(message), ..view("broken_off", Some(run)) }
            }
            Report::Journal(error) => Self { message: Some(error.to_string()), ..view("journal", None) },
        }
    }
}
