//! A person's decision about a question, whichever way it is typed: through the gate that the run's own file makes.

use std::fmt::Display;
use std::sync::Arc;

use lockgate::assembly::without_tools;
use lockgate::config::ApprovalsTable;
use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::arguments::Arguments as CallArguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::event::signed_with;
use lockgate::contract::ports::{ApprovalFilter, Clock as _, Decision};
use lockgate::contract::run::RunKind;
use lockgate::executor::Gate;
use lockgate::harness::RunState;
use lockgate::host::clock::SystemClock;
use lockgate::notify::{News, Notifier};

use crate::commands::runs::handlers;
use crate::error::CliError;
use crate::person::{decider, proof};
use crate::stored::Stored;

/// What somebody says to a question.
pub(crate) struct Answer {
    pub(crate) state: ApprovalState,
    /// Who; nothing for the user of this session.
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
    /// The digest that he was shown.
    pub(crate) digest: Digest,
    /// Other arguments.
    pub(crate) edit: Option<CallArguments>,
}

/// What became of the question.
pub(crate) struct Decided {
    pub(crate) approval: Approval,
    /// What a person can do now; empty where there is nothing to do.
    pub(crate) next: String,
    /// Who was told, and may still be on his way to hear it.
    pub(crate) notifier: Option<Arc<Notifier>>,
}

/// Takes a decision, or refuses it. `warn` hears what is doubtful.
pub(crate) async fn decide(
    stored: &Stored,
    approval: &Approval,
    answer: Answer,
    warn: impl Fn(&dyn Display),
) -> Result<Decided, CliError> {
    let (events, state) = stored.state(&approval.run_id).await?;
    if !stored.signs && signed_with(&events).is_some() {
        return Err(CliError::WouldBeUnsigned(approval.run_id.clone()));
    }
    let Desk { gate, table, notifier } = Desk::of(stored, &state, warn)?;
    let by = decider(answer.by.as_deref(), approval)?;
    let decision = Decision {
        reason: answer.reason,
        digest: Some(answer.digest),
        roles: table.roles_of(&by),
        proof: proof(&by),
        edit: answer.edit,
        ..Decision::new(approval.approval_id.clone(), answer.state, by.clone())
    };
    let approval = gate.decide(decision).await?;
    if let Some(notifier) = &notifier {
        notifier.tell(&News::decided(&approval, &by, SystemClock.now()));
    }
    Ok(Decided { next: next(stored, &state, &approval), approval, notifier })
}

/// The last call of the tool that somebody approved, for the same tenant; of an edited one, the question before the edit.
pub(crate) async fn before(stored: &Stored, approval: &Approval) -> Result<Option<Approval>, CliError> {
    if let Some(edited) = &approval.edited {
        return Ok(stored.journal.approval(&edited.approval_id).await?);
    }
    let all = stored.journal.approvals(ApprovalFilter::default()).await?;
    let is_like = |other: &Approval| {
        other.approval_id != approval.approval_id
            && other.tool_name == approval.tool_name
            && other.tenant == approval.tenant
            && matches!(other.state, ApprovalState::Granted | ApprovalState::Consumed)
            && other.decided_at.is_some_and(|at| at <= approval.requested_at)
    };
    Ok(all.into_iter().filter(is_like).max_by_key(|other| other.decided_at))
}

/// What decisions about a run go through: the gate that its run file makes, who has which role, and who is told.
struct Desk {
    gate: Arc<Gate>,
    table: ApprovalsTable,
    notifier: Option<Arc<Notifier>>,
}

impl Desk {
    /// Where the file is not there any more, nobody has a role, nobody is told, and no edit can be looked at.
    fn of(stored: &Stored, state: &RunState, warn: impl Fn(&dyn Display)) -> Result<Self, CliError> {
        if state.start().run_file.is_some() {
            match handlers(None, &stored.journal, state) {
                Ok(assembly) => {
                    let (gate, table) = (assembly.gate, assembly.run_file.approvals);
                    return Ok(Self { gate, table, notifier: Some(assembly.notifier) });
                }
                Err(error) => warn(&error),
            }
        }
        let gate = Arc::clone(without_tools(Arc::clone(&stored.journal))?.gate());
        Ok(Self { gate, table: ApprovalsTable::default(), notifier: None })
    }
}

/// What a person can do now; nothing where there is nothing to do.
fn next(stored: &Stored, state: &RunState, approval: &Approval) -> String {
    let commands = stored.commands();
    let resume = || commands.command(&["runs", "resume", approval.run_id.as_str()]);
    let expires = approval.expires_at;
    match (approval.state, state.start().kind) {
        (ApprovalState::Pending, _) => {
            let people = if approval.missing_yeses() == 1 { "another person has" } else { "other people have" };
            format!("nothing runs yet; {people} to say yes, before {expires}\n")
        }
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
    }
}

/// The arguments to call with; a placeholder where a secret was taken out of them.
fn as_they_run(approval: &Approval) -> String {
    match CallArguments::from_document(approval.arguments.clone()) {
        Ok(arguments) if arguments.digest() == approval.arguments_digest => arguments.canonical(),
        _ => "ARGUMENTS".to_owned(),
    }
}
