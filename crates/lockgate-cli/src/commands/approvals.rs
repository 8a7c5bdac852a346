//! `lockgate approvals`: the questions that wait for a person.

use clap::{Args, Subcommand, ValueEnum};
use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::arguments::Arguments as CallArguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::ports::{ApprovalFilter, Decision};
use lockgate::contract::run::RunKind;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::person::{session_user, somebody};
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
    Approve(Decide),
    /// Say no
    Deny(Decide),
    /// Take an approval back before it is used
    Withdraw(Decide),
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

#[derive(Debug, Args)]
#[command(after_help = "\
Deciding runs nothing: resuming the run does.

Exit codes:
  0  decided
  1  the decision was not taken: it was decided before, used, or is too late
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
        Command::Approve(arguments) => decide(arguments, ApprovalState::Granted, output).await,
        Command::Deny(arguments) => decide(arguments, ApprovalState::Denied, output).await,
        Command::Withdraw(arguments) => decide(arguments, ApprovalState::Withdrawn, output).await,
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
        Format::Human => output.text(&shown(&approval)),
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

async fn decide(arguments: Decide, answer: ApprovalState, output: &Output) -> Result<Exit, CliError> {
    let by = arguments.by.map_or_else(session_user, Ok)?;
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let approval = stored.find_approval(&arguments.id).await?;
    if !stored.signs && stored.is_signed(&approval.run_id).await? {
        return Err(CliError::WouldBeUnsigned(approval.run_id));
    }
    let decision = Decision {
        approval_id: approval.approval_id,
        answer,
        by,
        reason: arguments.reason,
        digest: Some(arguments.digest.unwrap_or(approval.digest)),
        signer: None,
    };
    let approval = stored.journal.decide(decision).await?;
    match arguments.format {
        Format::Human => output.text(&decided(&approval)),
        Format::Json => output.object(&approval),
        Format::Jsonl => output.line(&approval),
    }
    output.note(&next(&stored, &approval).await?);
    Ok(Exit::Ok)
}

/// What a person can do now; nothing where there is nothing to do.
async fn next(stored: &Stored, approval: &Approval) -> Result<String, CliError> {
    let commands = stored.commands();
    let (_, state) = stored.state(&approval.run_id).await?;
    let resume = || commands.command(&["runs", "resume", approval.run_id.as_str()]);
    let expires = approval.expires_at;
    Ok(match (approval.state, state.start().kind) {
        (ApprovalState::Granted, RunKind::Agent) => {
            format!("nothing runs yet; to go on, before {expires}:\n  {}\n", resume())
        }
        (ApprovalState::Granted, RunKind::Direct) => {
            let run_file = state.start().run_file.as_deref().unwrap_or("RUNFILE");
            let (id, arguments) = (approval.approval_id.as_str(), as_they_run(approval));
            let again = commands.command(&["call", run_file, &approval.tool_name, &arguments, "--approval", id]);
            format!("nothing runs yet; to go on, with the same arguments and before {expires}:\n  {again}\n")
        }
        (ApprovalState::Denied, RunKind::Agent) => {
            format!("the call will not run; to take this to the model:\n  {}\n", resume())
        }
        _ => String::new(),
    })
}

/// The arguments to call with; a placeholder where a secret was taken out of them.
fn as_they_run(approval: &Approval) -> String {
    match CallArguments::from_document(approval.arguments.clone()) {
        Ok(arguments) if arguments.digest() == approval.arguments_digest => arguments.canonical(),
        _ => "ARGUMENTS".to_owned(),
    }
}
