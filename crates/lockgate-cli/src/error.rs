//! Why a command did not do what it was asked.

use std::io;
use std::path::PathBuf;

use lockgate::assembly::AssemblyError;
use lockgate::config::{EditError, InvalidBudgetChange};
use lockgate::contract::approval::NotEntitled;
use lockgate::contract::export::ExportError;
use lockgate::contract::ids::{ApprovalId, RunId};
use lockgate::contract::ports::{DecisionRefused, JournalError};
use lockgate::deciding::DecideError;
use lockgate::harness::check::Defect;
use lockgate::harness::{FoldError, RunError};
use lockgate::journal::InvalidKey;
#[cfg(feature = "prove")]
use lockgate::policy::cedar::NoSolver;
use lockgate::redact::RedactError;
use lockgate_server::serve::ServeError;
use lockgate_server::tokens::TokensError;
use thiserror::Error;

#[cfg(feature = "cedar")]
use crate::commands::approvals::RememberError;
use crate::exit::Exit;

/// What went wrong, for people; [`CliError::hint`] says what to do, [`CliError::exit`] what a script is told.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The run file and what it names.
    #[error(transparent)]
    Assembly(Box<AssemblyError>),
    /// The driver stopped without a stop state.
    #[error(transparent)]
    Run(Box<RunError>),
    /// The call was not answered.
    #[error(transparent)]
    Call(Box<RunError>),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal's events do not make a run.
    #[error("run `{run}` cannot be read: {cause}")]
    Fold {
        /// The run.
        run: RunId,
        /// What is wrong.
        #[source]
        cause: FoldError,
    },
    /// The journal does not exist.
    #[error("there is no journal at `{0}`")]
    NoJournal(String),
    /// A journal that nobody else can have.
    #[error("a journal in memory is gone with this process: no other one can go on with it")]
    InMemory,
    /// Nothing in the journal has this id, or begins so.
    #[error("the journal has no {thing} `{id}`")]
    NotFound {
        /// A run, or an approval.
        thing: &'static str,
        /// As it was typed.
        id: String,
    },
    /// The start of an id fits several.
    #[error("`{id}` is the start of more than one {thing}: {}", .candidates.join(", "))]
    Ambiguous {
        /// A run, or an approval.
        thing: &'static str,
        /// As it was typed.
        id: String,
        /// Some that fit.
        candidates: Vec<String>,
    },
    /// The decision was not taken.
    #[error(transparent)]
    Decision(#[from] DecisionRefused),
    /// An approval is not remembered.
    #[cfg(feature = "cedar")]
    #[error(transparent)]
    Remember(#[from] RememberError),
    /// The text of an edit is no argument object.
    #[error("the new arguments cannot be read: {0}")]
    Edit(String),
    /// The run names no run file.
    #[error("run `{0}` names no run file")]
    NoRunFile(RunId),
    /// This worker drives the runs of other files.
    #[error("run `{0}` is of a run file that this worker was not given")]
    OtherRunFile(RunId),
    /// A path that leads nowhere.
    #[error("`{}` cannot be made an absolute path: {cause}", .path.display())]
    Path {
        /// As it was typed.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The run file that the run names cannot be read.
    #[error("run `{run}` needs its run file: {cause}")]
    RunFileGone {
        /// The run.
        run: RunId,
        /// Why.
        #[source]
        cause: Box<AssemblyError>,
    },
    /// A direct call waits, and has no driver.
    #[error("run `{run}` is a direct call: to go on, send the call again with `--approval {approval}`")]
    DirectWaits {
        /// The run.
        run: RunId,
        /// Its open question.
        approval: ApprovalId,
    },
    /// The system does not say who sits here.
    #[error("it is not known who decides: the system names no user")]
    NobodyDecides,
    /// Whose yes it takes has to be known to the system.
    #[error("who you are is not known here, and this approval says whose yes it takes")]
    NobodyProves,
    /// Neither a time nor a span of time.
    #[cfg(feature = "cedar")]
    #[error("`{0}` is no time")]
    NoTime(String),
    /// A change of a budget.
    #[error(transparent)]
    Budget(#[from] InvalidBudgetChange),
    /// No tool of this name.
    #[error("no tool is registered as `{name}`")]
    NoSuchTool {
        /// As it was typed.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
    },
    /// Not a code of the table.
    #[error("`{code}` is not a code of the outcome table")]
    NoSuchCode {
        /// As it was typed.
        code: String,
        /// The nearest code.
        nearest: Option<String>,
    },
    /// The arguments on stdin.
    #[error("the arguments on standard input cannot be read: {0}")]
    Stdin(#[source] io::Error),
    /// The arguments on stdin are no text.
    #[error("the arguments on standard input are not UTF-8: byte {0} begins no character")]
    StdinNotText(usize),
    /// What is to be scrubbed, on stdin.
    #[error("standard input cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The redaction rules, or a secret.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// A variable that is to hold a secret, and holds none.
    #[error("`--secrets-from-env` names `{variable}`, which is {problem}")]
    Secret {
        /// Its name.
        variable: String,
        /// What it is instead.
        problem: &'static str,
    },
    /// A file.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file that holds no key.
    #[error("`{}` holds no key: {cause}", .path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What a key looks like.
        #[source]
        cause: InvalidKey,
    },
    /// A decision that would not be signed, in a run whose decisions are.
    #[error("the decisions of run `{0}` are signed, and there is no key to sign this one with")]
    WouldBeUnsigned(RunId),
    /// There is no randomness to make a key of.
    #[error("no key can be made: {0}")]
    NoRandomness(String),
    /// What decides is not here.
    #[cfg(feature = "prove")]
    #[error("nothing can be proved: with `policy.engine = \"http\"` the rules stand elsewhere")]
    RulesElsewhere,
    /// A file cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file that would be written exists.
    #[error("`{}` exists already", .0.display())]
    FileThere(PathBuf),
    /// An export that cannot be taken.
    #[error("`{}` cannot be imported: {cause}", .path.display())]
    Export {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: ExportError,
    },
    /// A run of an export that breaks an invariant.
    #[error("run `{run}` is broken: {}: {}", .defect.invariant, .defect.text)]
    Broken {
        /// The run.
        run: RunId,
        /// The first of its defects.
        defect: Box<Defect>,
    },
    /// A run of an export is in the journal.
    #[error("run `{0}` is in the journal already")]
    RunThere(RunId),
    /// There is no solver to prove anything by.
    #[cfg(feature = "prove")]
    #[error(transparent)]
    NoSolver(#[from] NoSolver),
    /// Nothing can be served.
    #[error(transparent)]
    Serve(Box<ServeError>),
    /// MCP servers in a run file.
    #[error(transparent)]
    FileEdit(#[from] EditError),
    /// A running server does not say how its MCP servers stand.
    #[error("`{address}` does not answer: {cause}")]
    NoStatus {
        /// Where it was asked.
        address: String,
        /// Why.
        cause: String,
    },
    /// Tokens of callers.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// A token that would be good for no time.
    #[error("a token that lasts no time opens nothing")]
    NoTimeToLast,
    /// A page needs one.
    #[error("`approvals watch` needs a terminal to read from and to write to")]
    NoTerminal,
    /// The terminal does not do what it is asked.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[source] io::Error),
    /// stdout did not take everything.
    #[error("standard output did not take everything: {0}")]
    Stdout(#[source] io::Error),
    /// A panic that nobody caught.
    #[error("lockgate failed: {0}")]
    Defect(String),
    /// The runtime did not start.
    #[error("the program cannot start: {0}")]
    Runtime(#[source] io::Error),
}

impl CliError {
    /// The events of this run do not make one.
    pub(crate) fn fold(run: &RunId) -> impl FnOnce(FoldError) -> Self {
        let run = run.clone();
        |cause| Self::Fold { run, cause }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Assembly(error) => return error.hint(),
            Self::Run(error) | Self::Call(error) => return run_hint(error),
            Self::Journal(error) => return journal_hint(error).map(str::to_owned),
            Self::Redact(error) => return error.hint().map(str::to_owned),
            #[cfg(feature = "cedar")]
            Self::Remember(error) => return error.hint(),
            Self::Key { .. } => {
                "`lockgate journal keygen FILE` writes the secret key to FILE and the public one to FILE.pub"
            }
            Self::WouldBeUnsigned(_) => {
                "name the file with the key: `LOCKGATE_SIGN_KEY_FILE=FILE lockgate approvals …`"
            }
            #[cfg(feature = "prove")]
            Self::NoSolver(error) => error.hint(),
            #[cfg(feature = "prove")]
            Self::RulesElsewhere => "rules of `policy.engine = \"cedar\"` can be proved",
            Self::Tokens(error) => return error.hint(),
            Self::Serve(error) => return error.hint(),
            Self::FileEdit(error) => return error.hint(),
            Self::NoStatus { .. } => "without `--running` the servers are reached from here",
            Self::NoTerminal => "`lockgate approvals list` lists the questions anywhere",
            Self::NoJournal(_) => "the first `lockgate run` makes one; `--journal URL` names another",
            Self::NotFound { thing: "run", .. } => {
                "`lockgate runs list` shows the runs; `--journal URL` names another journal"
            }
            Self::NotFound { .. } => {
                "`lockgate approvals list` shows the approvals; `--journal URL` names another journal"
            }
            Self::InMemory => "`--journal sqlite:PATH` keeps it",
            Self::Ambiguous { .. } => "write more of it",
            Self::NoRunFile(_) | Self::RunFileGone { .. } => "name the run file: `lockgate runs resume RUN RUNFILE`",
            Self::DirectWaits { approval, .. } => {
                return Some(format!(
                    "`lockgate call RUNFILE NAME ARGUMENTS --approval {approval}`, with the same arguments"
                ));
            }
            #[cfg(feature = "cedar")]
            Self::NoTime(_) => "write `2026-11-30T12:00:00.000Z`, or how long ago, such as `30d`",
            Self::NobodyDecides => "say who decides: `--by NAME`",
            Self::NobodyProves => "decide on the machine itself: in a user namespace anybody can be anybody",
            Self::NoSuchTool { nearest: Some(nearest), .. } | Self::NoSuchCode { nearest: Some(nearest), .. } => {
                return Some(format!("did you mean `{nearest}`?"));
            }
            Self::NoSuchTool { nearest: None, .. } => "`lockgate tools list RUNFILE` shows the tools",
            Self::NoSuchCode { nearest: None, .. } => {
                "a tool may have codes of its own: its documentation explains them; `lockgate explain` lists Lockgate's"
            }
            Self::Decision(DecisionRefused::NotEntitled { why: NotEntitled::Unproven, .. }) => {
                "decide as the system's user of that name: a name that is only said is no proof"
            }
            Self::Decision(DecisionRefused::NotEntitled { why: NotEntitled::Role, .. }) => {
                "`people` in the table [approvals] of the run's file says who has which role"
            }
            Self::Decision(DecisionRefused::Edit { .. }) => "nothing was decided; the question is open as it was",
            Self::Decision(DecisionRefused::NotOpen { .. }) => "`lockgate approvals show` says what became of it",
            Self::Defect(_) => "this is a defect of lockgate: please report it; what was done is in the journal",
            Self::Stdout(_) => "what was done is in the journal: `lockgate runs list`",
            Self::FileThere(_) => "name another file: nothing is overwritten",
            Self::Broken { .. } => "nothing was imported; `lockgate journal check --file FILE` names every defect",
            Self::Export { .. } => "nothing was imported; export it anew",
            Self::RunThere(_) => {
                "nothing was imported; after an import that was broken off, `--resume` passes over what is there and the same"
            }
            Self::Fold { .. }
            | Self::Decision(_)
            | Self::OtherRunFile(_)
            | Self::Path { .. }
            | Self::Edit(_)
            | Self::Budget(_)
            | Self::Stdin(_)
            | Self::StdinNotText(_)
            | Self::Input(_)
            | Self::Secret { .. }
            | Self::NoRandomness(_)
            | Self::NoTimeToLast
            | Self::Write { .. }
            | Self::File { .. }
            | Self::Terminal(_)
            | Self::Runtime(_) => return None,
        };
        Some(hint.to_owned())
    }

    /// What a script is told.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Run(error) => match error.as_ref() {
                RunError::NotRecorded { .. } => Exit::Unknown,
                RunError::Journal(error) => of_journal(error, Exit::RunFailed),
                RunError::Fold { .. } => Exit::RunFailed,
                RunError::NoModel(_)
                | RunError::NoSuchApproval(_)
                | RunError::NothingUnknown(_)
                | RunError::Busy(_)
                | RunError::Signed { .. }
                | RunError::WrongKind { .. } => Exit::Usage,
            },
            Self::Call(error) => match error.as_ref() {
                RunError::NotRecorded { .. } | RunError::Journal(JournalError::CommitUnknown(_)) => Exit::Unknown,
                RunError::Journal(error) => of_journal(error, Exit::Environment),
                RunError::Fold { .. } => Exit::Environment,
                RunError::NoModel(_)
                | RunError::NoSuchApproval(_)
                | RunError::NothingUnknown(_)
                | RunError::Busy(_)
                | RunError::Signed { .. }
                | RunError::WrongKind { .. } => Exit::Usage,
            },
            Self::Decision(
                DecisionRefused::NotOpen { .. }
                | DecisionRefused::Digest(_)
                | DecisionRefused::NotEntitled { .. }
                | DecisionRefused::Edit { .. },
            )
            | Self::Export { .. }
            | Self::Broken { .. }
            | Self::RunThere(_) => Exit::Failed,
            #[cfg(feature = "cedar")]
            Self::Remember(error) => error.exit(),
            #[cfg(feature = "prove")]
            Self::NoSolver(_) | Self::RulesElsewhere => Exit::Failed,
            Self::Defect(_) => Exit::Defect,
            _ => Exit::Usage,
        }
    }
}

/// What is wrong with the journal itself is for the operator; what happened while it was used is not.
fn of_journal(error: &JournalError, otherwise: Exit) -> Exit {
    match error {
        JournalError::NoSuchRun(_) | JournalError::TooNew { .. } => Exit::Usage,
        _ => otherwise,
    }
}

fn run_hint(error: &RunError) -> Option<String> {
    match error {
        RunError::Journal(error) => journal_hint(error).map(str::to_owned),
        RunError::NotRecorded { .. } => {
            Some("the tool may have done its work: look at what it reaches before you repeat the call".to_owned())
        }
        RunError::NoModel(_) => Some("add a table [model] to the run file".to_owned()),
        RunError::Busy(_) => Some("wait until it stops; `lockgate runs show RUN` says how it stands".to_owned()),
        RunError::Signed { .. } => {
            Some("name the key in `[journal]` of the run file, or with `LOCKGATE_SIGN_KEY_FILE`".to_owned())
        }
        RunError::NothingUnknown(_) => {
            Some("`lockgate runs list --status needs_reconciliation` shows what waits".to_owned())
        }
        RunError::NoSuchApproval(_) | RunError::Fold { .. } | RunError::WrongKind { .. } => None,
    }
}

fn journal_hint(error: &JournalError) -> Option<&'static str> {
    match error {
        JournalError::Unavailable(_) => Some("`lockgate doctor` looks at the journal"),
        JournalError::CommitUnknown(_) => {
            Some("look at the run before you repeat anything: `lockgate runs show RUN --all`")
        }
        JournalError::NoSuchRun(_) => Some("`lockgate runs list` shows the runs"),
        JournalError::Fenced { .. } => {
            Some("whoever took it over goes on with it: `lockgate runs show RUN` says how it stands")
        }
        _ => None,
    }
}

impl From<AssemblyError> for CliError {
    fn from(error: AssemblyError) -> Self {
        Self::Assembly(Box::new(error))
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<DecideError> for CliError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::WouldBeUnsigned(run) => Self::WouldBeUnsigned(run),
            DecideError::Fold { run, cause } => Self::Fold { run, cause },
            DecideError::Assembly(error) => Self::Assembly(error),
            DecideError::Refused(refused) => Self::Decision(refused),
            DecideError::Journal(error) => Self::Journal(error),
        }
    }
}
