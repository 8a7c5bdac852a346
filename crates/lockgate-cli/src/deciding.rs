//! What a decision that is typed comes to: who takes it, and what can be typed next.

use std::fmt::Display;
use std::sync::Arc;

use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::arguments::Arguments as CallArguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::run::RunKind;
use lockgate::deciding;
use lockgate::harness::RunState;
use lockgate::notify::Notifier;

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
    let Answer { state, by, reason, digest, edit } = answer;
    let by = decider(by.as_deref(), approval)?;
    // The run's own file says who has a role: a name is none.
    let answer = deciding::Answer { state, proof: proof(&by), by, roles: Vec::new(), reason, digest, edit };
    let deciding::Decided { approval, run, notifier } =
        deciding::decide(&stored.journal, stored.signs, approval, answer, warn).await?;
    Ok(Decided { next: next(stored, &run, &approval), approval, notifier })
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
