//! `lockgate approvals`: the questions that wait for a person.

#[cfg(feature = "cedar")]
mod remember;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use lockgate::assembly::{Assembly, Overrides};
use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::arguments::Arguments as CallArguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::document::Limits;
use lockgate::contract::ids::ApprovalId;
use lockgate::contract::ports::{ApprovalFilter, Clock as _};
use lockgate::deciding::before;
use lockgate::harness::RunState;
use lockgate::host::clock::SystemClock;
use lockgate::host::files;
use lockgate::notify::{News, Reminders};
use lockgate::sources::mock::TimeSpan;

#[cfg(feature = "cedar")]
pub(crate) use self::remember::RememberError;
use crate::arguments::Format;
use crate::commands::TO_BE_TOLD;
use crate::commands::call::standard_input;
use crate::deciding::{self, Answer, Decided};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::person::somebody;
use crate::render::approval::{decided, show as shown, table};
use crate::stored::{JournalArgument, Stored};

/// List, show and decide approvals
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Show(Show),
    /// Say yes: the call runs when its run is resumed
    Approve(Approve),
    /// Say no
    Deny(Decide),
    /// Take an approval back before it is used
    Withdraw(Decide),
    Remind(Remind),
    #[cfg(feature = "cedar")]
    Remember(remember::Remember),
    Watch(watch::Arguments),
}

/// List approvals, oldest first
#[derive(Debug, Args)]
struct List {
    /// Only those of this run (its id, or the start of it)
    #[arg(long)]
    run: Option<String>,
    /// Only those in this state
    #[arg(long, value_enum)]
    state: Option<StateWord>,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Show what would run, and what the approval is bound to
#[derive(Debug, Args)]
struct Show {
    /// The approval's id, or the start of it
    id: String,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Tell again of the questions of a run file's runs that wait, as its `notify` says
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every question that stands for so long was told of
  1  a run cannot be read: nobody was told of its question
  2  usage or configuration")]
struct Remind {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// Only of those that stand for so long [default: `remind_after` of the run file, or all]
    #[arg(long, value_name = "TIME")]
    after: Option<TimeSpan>,
    #[command(flatten)]
    journal: JournalArgument,
}

#[derive(Debug, Args)]
struct Approve {
    #[command(flatten)]
    decide: Decide,
    /// Say yes to other arguments, in place of those that were asked about: a file with a JSON object, or `-`
    #[arg(long, value_name = "FILE")]
    edit: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deciding runs nothing: resuming the run does.

Exit codes:
  0  decided
  1  the decision was not taken: it was decided before, used, is too late, or is not yours to take
  2  usage or configuration, or there is no such approval")]
struct Decide {
    /// The approval's id, or the start of it
    id: String,
    /// Who decides [default: the user of this session]
    #[arg(long, value_name = "NAME", value_parser = somebody)]
    by: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The digest that was shown: a decision about anything else is not taken
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    /// How the decided approval is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum StateWord {
    Pending,
    Granted,
    Denied,
    Expired,
    Consumed,
    Withdrawn,
}

impl From<StateWord> for ApprovalState {
    fn from(word: StateWord) -> Self {
        match word {
            StateWord::Pending => Self::Pending,
            StateWord::Granted => Self::Granted,
            StateWord::Denied => Self::Denied,
            StateWord::Expired => Self::Expired,
            StateWord::Consumed => Self::Consumed,
            StateWord::Withdrawn => Self::Withdrawn,
        }
    }
}

pub(crate) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    match arguments.command {
        Command::List(arguments) => list(arguments, output).await,
        Command::Show(arguments) => show(arguments, output).await,
        Command::Approve(Approve { decide: arguments, edit }) => {
            let edit = edit.as_deref().map(edited).transpose()?;
            decide(arguments, ApprovalState::Granted, edit, output).await
        }
        Command::Deny(arguments) => decide(arguments, ApprovalState::Denied, None, output).await,
        Command::Remind(arguments) => remind(arguments, output).await,
        #[cfg(feature = "cedar")]
        Command::Remember(arguments) => remember::execute(arguments, output).await,
        Command::Watch(arguments) => watch::execute(arguments).await,
        Command::Withdraw(arguments) => decide(arguments, ApprovalState::Withdrawn, None, output).await,
    }
}

async fn list(arguments: List, output: &Output) -> Result<Exit, CliError> {
    let approvals = match Stored::open(arguments.journal.journal.as_deref()) {
        Ok(stored) => {
            let run_id = match &arguments.run {
                Some(typed) => Some(stored.find_run(typed).await?),
                None => None,
            };
            let filter = ApprovalFilter { run_id, state: arguments.state.map(ApprovalState::from) };
            stored.journal.approvals(filter).await?
        }
        // A journal that nobody made yet has no questions.
        Err(error @ CliError::NoJournal(_)) => {
            output.warning(error);
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    match arguments.format {
        Format::Human if approvals.is_empty() => output.note("no approvals\n"),
        Format::Human => output.text(&table(&approvals)),
        Format::Json => output.object(&approvals),
        Format::Jsonl => approvals.iter().for_each(|approval| output.line(approval)),
    }
    Ok(Exit::Ok)
}

async fn show(arguments: Show, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let approval = stored.find_approval(&arguments.id).await?;
    match arguments.format {
        Format::Human => {
            output.text(&shown(&approval, before(&*stored.journal, &approval).await?.as_ref(), SystemClock.now()));
        }
        Format::Json => output.object(&approval),
        Format::Jsonl => output.line(&approval),
    }
    if arguments.format == Format::Human && approval.state == ApprovalState::Pending {
        let (commands, id) = (stored.commands(), approval.approval_id.as_str());
        output.note(&format!(
            "\nto decide:\n  {}\n  {}\n",
            commands.command(&["approvals", "approve", id]),
            commands.command(&["approvals", "deny", id]),
        ));
    }
    Ok(Exit::Ok)
}

/// The arguments of an edit.
fn edited(path: &Path) -> Result<CallArguments, CliError> {
    let text = if path == Path::new("-") {
        standard_input()?
    } else {
        files::read_to_string(path).map_err(|cause| CliError::File { path: path.to_owned(), cause })?
    };
    CallArguments::parse(&text, Limits::ARGUMENTS).map_err(|error| CliError::Edit(error.to_string()))
}

async fn decide(
    arguments: Decide,
    answer: ApprovalState,
    edit: Option<CallArguments>,
    output: &Output,
) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let approval = stored.find_approval(&arguments.id).await?;
    let answer = Answer {
        state: answer,
        by: arguments.by,
        reason: arguments.reason,
        digest: arguments.digest.unwrap_or(approval.digest),
        edit,
    };
    let Decided { approval, next, notifier } =
        deciding::decide(&stored, &approval, answer, |warning| output.warning(warning)).await?;
    match arguments.format {
        Format::Human => output.text(&decided(&approval)),
        Format::Json => output.object(&approval),
        Format::Jsonl => output.line(&approval),
    }
    output.note(&next);
    if let Some(notifier) = &notifier {
        notifier.flush(TO_BE_TOLD).await;
    }
    Ok(Exit::Ok)
}

/// Reminds once.
async fn remind(arguments: Remind, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let overrides = Overrides { journal: Some(Arc::clone(&stored.journal)), ..Overrides::default() };
    let assembly = Assembly::load(&arguments.run_file, overrides)?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    if assembly.notifier.is_silent() {
        output.warning("`notify` in the run file names nobody who can be told");
    }
    let after =
        arguments.after.or(assembly.run_file.approvals.remind_after).map_or(Duration::ZERO, TimeSpan::as_duration);
    let Reminded { told, failed } = reminded(&assembly, &mut Reminders::every(after)).await?;
    for id in &told {
        output.text(&format!("{id}\n"));
    }
    for (id, error) in &failed {
        output.warning(format_args!("nobody was told of approval `{id}`: {error}"));
    }
    if !assembly.notifier.flush(TO_BE_TOLD).await {
        output.warning("not everybody was told in time");
    }
    Ok(if failed.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// What became of reminders.
pub(crate) struct Reminded {
    /// The questions that were told of again.
    pub(crate) told: Vec<ApprovalId>,
    /// Those whose runs cannot be read, and why not.
    pub(crate) failed: Vec<(ApprovalId, CliError)>,
}

/// Tells again of the questions of a file's runs that stand for long. A run that cannot be read keeps back no other's.
pub(crate) async fn reminded(assembly: &Assembly, reminders: &mut Reminders) -> Result<Reminded, CliError> {
    let filter = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
    let open = assembly.journal.approvals(filter).await?;
    let now = SystemClock.now();
    let (mut told, mut failed) = (Vec::new(), Vec::new());
    for approval in reminders.due(&open, now) {
        match is_of(assembly, approval).await {
            Ok(true) => {
                assembly.notifier.tell(&News::reminder(approval, now));
                told.push(approval.approval_id.clone());
            }
            Ok(false) => {}
            Err(error) => failed.push((approval.approval_id.clone(), error)),
        }
    }
    Ok(Reminded { told, failed })
}

/// Whether a question is one of this file's runs.
async fn is_of(assembly: &Assembly, approval: &Approval) -> Result<bool, CliError> {
    let events = assembly.journal.events(&approval.run_id, 0).await?;
    let state = RunState::fold(&events).map_err(CliError::fold(&approval.run_id))?;
    Ok(state.start().run_file.as_deref().map(Path::new) == Some(assembly.path.as_path()))
}
