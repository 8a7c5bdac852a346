//! `lockgate runs`: the runs in the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use lockgate::assembly::{Assembly, AssemblyError, Overrides, Servers, entered, without_tools};
use lockgate::config::{BudgetChange, ConfigError, RunFile};
use lockgate::contract::event::Finding;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Journal, RunFilter, RunRecord};
use lockgate::contract::run::{Budget, RunKind, RunStatus};
use lockgate::contract::time::Timestamp;
use lockgate::harness::{Reconciliation, Resume, RunResult, RunState, RunnerOptions, Stop};
use serde::Serialize;

use crate::arguments::Format;
use crate::commands::TO_BE_TOLD;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::person::{session_user, somebody};
use crate::printer::{Include, RunFormat, RunPrinter, RunView};
use crate::render::run::table;
use crate::signals::on_signal;
use crate::stored::{JournalArgument, Stored};

/// List, show and resume runs
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Show(Show),
    Resume(ResumeArguments),
    Reconcile(ReconcileArguments),
}

/// List runs, newest first
#[derive(Debug, Args)]
struct List {
    /// Only those that stopped like this
    #[arg(long, value_enum)]
    status: Option<StatusWord>,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Show the events and the result of a run
#[derive(Debug, Args)]
struct Show {
    /// The run's id, or the start of it
    run: String,
    /// Go on with what happens, until the run stops
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    view: RunView,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Take a run up again
#[derive(Debug, Args)]
#[command(after_help = "\
A run that has ended prints its result, and runs nothing.

Examples:
  lockgate runs resume run-34c559713956
  lockgate runs resume 34c5 --budget max_steps=40 --budget deadline=30m

Exit codes:
  0    completed
  2    usage or configuration: nothing was started
  3    waiting for approval
  4    a limit is reached
  5    it is not known whether a call took effect
  6    failed
  130  cancelled")]
struct ResumeArguments {
    /// The run's id, or the start of it
    run: String,
    /// The run file with the handlers; without it, the one that the run names
    #[arg(value_name = "RUNFILE")]
    run_file: Option<PathBuf>,
    /// Another limit from here on, such as `max_steps=40`
    #[arg(long, value_name = "KEY=VALUE")]
    budget: Vec<String>,
    #[command(flatten)]
    view: RunView,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Say what became of a call whose effect is unknown
#[derive(Debug, Args)]
#[command(after_help = "\
It runs nothing: resuming the run does, once no call of it is unknown any more. A call that was not done is open again; where
a person is asked about it, it needs a new approval.

Examples:
  lockgate runs reconcile run-34c559713956:step-0:call-0 done --reason 'ticket T-7 is there'
  lockgate runs reconcile run-34c559713956:step-0:call-0 not-done

Exit codes:
  0  written down
  2  usage or configuration, or no such call has an unknown effect")]
struct ReconcileArguments {
    /// The call's id, as `runs show` has it
    #[arg(value_name = "CALL")]
    call: String,
    /// What you found out
    #[arg(value_enum)]
    finding: FindingWord,
    /// Who says so [default: the user of this session]
    #[arg(long, value_name = "NAME", value_parser = somebody)]
    by: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    view: RunView,
    #[command(flatten)]
    journal: JournalArgument,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FindingWord {
    /// It took effect: it is not run again
    Done,
    /// It did not take effect, and will not: it may run again
    NotDone,
    /// Nobody will find out: the run goes on without knowing
    Abandon,
}

impl From<FindingWord> for Finding {
    fn from(word: FindingWord) -> Self {
        match word {
            FindingWord::Done => Self::Done,
            FindingWord::NotDone => Self::NotDone,
            FindingWord::Abandon => Self::Abandoned,
        }
    }
}

/// How a run stopped.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum StatusWord {
    Completed,
    LimitReached,
    WaitingForApproval,
    NeedsReconciliation,
    Failed,
    Cancelled,
}

impl From<StatusWord> for RunStatus {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Completed => Self::Completed,
            StatusWord::LimitReached => Self::LimitReached,
            StatusWord::WaitingForApproval => Self::WaitingForApproval,
            StatusWord::NeedsReconciliation => Self::NeedsReconciliation,
            StatusWord::Failed => Self::Failed,
            StatusWord::Cancelled => Self::Cancelled,
        }
    }
}

/// A run of the list as JSON.
#[derive(Debug, Serialize)]
struct RecordView<'a> {
    run_id: &'a RunId,
    status: Option<RunStatus>,
    kind: RunKind,
    title: &'a str,
    tenant: &'a str,
    last_seq: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'a> RecordView<'a> {
    fn of(run: &'a RunRecord) -> Self {
        Self {
            run_id: &run.run_id,
            status: run.status,
            kind: run.kind,
            title: &run.title,
            tenant: &run.tenant,
            last_seq: run.last_seq,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    match arguments.command {
        Command::List(arguments) => list(arguments, output).await,
        Command::Show(arguments) => show(arguments, output).await,
        Command::Resume(arguments) => Box::pin(resume(arguments, output)).await,
        Command::Reconcile(arguments) => reconcile(arguments, output).await,
    }
}

async fn list(arguments: List, output: &Output) -> Result<Exit, CliError> {
    let filter = RunFilter { status: arguments.status.map(RunStatus::from), limit: arguments.limit };
    let runs = match Stored::open(arguments.journal.journal.as_deref()) {
        Ok(stored) => stored.journal.runs(filter).await?,
        // A journal that nobody made yet has no runs.
        Err(error @ CliError::NoJournal(_)) => {
            output.warning(error);
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    let views = || runs.iter().map(RecordView::of);
    match arguments.format {
        Format::Human if runs.is_empty() => output.note("no runs\n"),
        Format::Human => output.text(&table(&runs)),
        Format::Json => output.object(&views().collect::<Vec<_>>()),
        Format::Jsonl => views().for_each(|view| output.line(&view)),
    }
    Ok(Exit::Ok)
}

async fn show(arguments: Show, output: &Arc<Output>) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let run = stored.find_run(&arguments.run).await?;
    let (events, mut state) = stored.state(&run).await?;
    let mut view = arguments.view;
    if view.format == RunFormat::Json {
        // To show a run is to show its events.
        view.include.push(Include::Events);
    }
    let printer = RunPrinter::new(output, view);
    printer.events(&events);
    while arguments.follow && state.stop().is_none() {
        let events = stored.journal.follow(&run, state.last_seq()).await?;
        printer.events(&events);
        for event in &events {
            state.apply(event).map_err(CliError::fold(&run))?;
        }
    }
    printer.ending(&state, stored.journal.as_ref(), &stored.commands()).await;
    Ok(Exit::Ok)
}

async fn resume(arguments: ResumeArguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    let changes: Vec<BudgetChange> = arguments.budget.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let url = match (&arguments.journal.journal, &arguments.run_file) {
        (Some(url), _) => Some(url.clone()),
        (None, Some(run_file)) => RunFile::read(run_file).map_err(AssemblyError::from)?.journal.url,
        (None, None) => None,
    };
    let stored = Stored::open(url.as_deref())?;
    let run = stored.find_run(&arguments.run).await?;
    let (events, state) = stored.state(&run).await?;
    let budget = changed(state.budget(), &changes);
    let commands = stored.commands();
    if has_ended(&state, budget.is_some()) {
        let printer = RunPrinter::new(output, arguments.view);
        printer.events(&events);
        printer.ending(&state, stored.journal.as_ref(), &commands).await;
        return Ok(Exit::of_run(RunResult::of(&state).status));
    }
    if let (RunKind::Direct, Some(Stop::WaitingForApproval(approvals))) = (state.start().kind, state.stop())
        && let Some(approval) = approvals.first()
    {
        return Err(CliError::DirectWaits { run, approval: approval.clone() });
    }
    let assembly = handlers(arguments.run_file.as_deref(), &stored.journal, &state).await?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let printer = RunPrinter::new(output, arguments.view);
    let runner = assembly.runner_for(state.start().kind, printer.options())?;
    let cancel = runner.cancel().clone();
    on_signal(output, "cancelling", move || cancel.cancel());
    printer.events(&events);
    let state = runner.resume(&run, Resume { budget }).await?;
    printer.ending(&state, stored.journal.as_ref(), &commands).await;
    assembly.notifier.flush(TO_BE_TOLD).await;
    Ok(Exit::of_run(RunResult::of(&state).status))
}

async fn reconcile(arguments: ReconcileArguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let (run, call_id) = stored.find_call(&arguments.call).await?;
    let by = arguments.by.map_or_else(session_user, Ok)?;
    let found = Reconciliation { call_id, finding: arguments.finding.into(), by, reason: arguments.reason };
    let (_, before) = stored.state(&run).await?;
    // What is said is scrubbed with what the run's file knows of secrets.
    let runner = match without_servers(&stored.journal, &before, None) {
        Ok(assembly) => assembly.caller(RunnerOptions::default()),
        Err(error) => {
            output.warning(format!("what you say is stored without the secrets of the run file taken out: {error}"));
            without_tools(Arc::clone(&stored.journal))?
        }
    };
    let state = runner.reconcile(&run, found).await?;
    let printer = RunPrinter::new(output, arguments.view);
    printer.ending(&state, stored.journal.as_ref(), &stored.commands()).await;
    Ok(Exit::Ok)
}

/// Whether resuming has nothing to do. A run at its limit goes on with a larger budget.
fn has_ended(state: &RunState, larger_budget: bool) -> bool {
    match state.stop() {
        None | Some(Stop::WaitingForApproval(_)) => false,
        Some(Stop::LimitReached(_)) => !larger_budget,
        Some(Stop::NeedsReconciliation(_)) => !state.is_reconciled(),
        Some(Stop::Completed { .. } | Stop::Failed { .. } | Stop::Cancelled) => true,
    }
}

fn changed(budget: &Budget, changes: &[BudgetChange]) -> Option<Budget> {
    (!changes.is_empty()).then(|| changes.iter().fold(budget.clone(), |budget, change| change.apply(&budget)))
}

/// What a run needs, from the file that was given or the one that it names.
pub(crate) async fn handlers(
    run_file: Option<&Path>,
    journal: &Arc<dyn Journal>,
    state: &RunState,
) -> Result<Assembly, CliError> {
    let overrides = Overrides { journal: Some(Arc::clone(journal)), entered: entered(state), ..Overrides::default() };
    if let Some(run_file) = run_file {
        return Ok(Assembly::open(run_file, overrides).await?);
    }
    Assembly::open(own_file(state)?, overrides).await.map_err(gone(state))
}

/// The same from the file that the run names, with MCP servers that run already, or without theirs.
pub(crate) fn without_servers(
    journal: &Arc<dyn Journal>,
    state: &RunState,
    servers: Option<Arc<Servers>>,
) -> Result<Assembly, CliError> {
    let journal = Some(Arc::clone(journal));
    let overrides = Overrides { journal, entered: entered(state), servers, ..Overrides::default() };
    Assembly::load(own_file(state)?, overrides).map_err(gone(state))
}

fn own_file(state: &RunState) -> Result<&Path, CliError> {
    let named = state.start().run_file.as_deref();
    named.map(Path::new).ok_or_else(|| CliError::NoRunFile(state.run_id().clone()))
}

fn gone(state: &RunState) -> impl FnOnce(AssemblyError) -> CliError {
    let run = state.run_id().clone();
    move |cause| match cause {
        AssemblyError::Config(ConfigError::Unreadable { .. }) => CliError::RunFileGone { run, cause: Box::new(cause) },
        other => other.into(),
    }
}
