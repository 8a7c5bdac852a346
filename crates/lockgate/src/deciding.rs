//! A person's decision about a question, wherever it is taken: on the command line or on the approvals page. It goes through the
//! gate that the run's own file makes, with the roles that this file says.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use lockgate_config::{ApprovalsTable, ConfigError, RunFile};
use lockgate_contract::approval::{Approval, ApprovalState, Proof};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::event::signed_with;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{ApprovalFilter, Clock as _, Decision, DecisionRefused, Journal, JournalError};
use lockgate_executor::Gate;
use lockgate_harness::{FoldError, RunState};
use lockgate_host::clock::SystemClock;
use lockgate_notify::{News, Notifier};
use thiserror::Error;

use crate::assembly::{Assembly, AssemblyError, Overrides, entered, without_tools};

/// What somebody says to a question.
#[derive(Debug, Clone)]
pub struct Answer {
    /// `Granted`, `Denied` or `Withdrawn`.
    pub state: ApprovalState,
    /// Who.
    pub by: String,
    /// How they proved it.
    pub proof: Proof,
    /// The roles that whoever knows them says they have, beside those of the run's own file.
    pub roles: Vec<String>,
    /// Why.
    pub reason: Option<String>,
    /// The digest that they were shown.
    pub digest: Digest,
    /// Other arguments.
    pub edit: Option<Arguments>,
}

/// What became of the question.
pub struct Decided {
    /// The question as it is now.
    pub approval: Approval,
    /// The run that asked, as it was before.
    pub run: RunState,
    /// Who was told, and may still be on his way to hear it.
    pub notifier: Option<Arc<Notifier>>,
}

/// Why a decision was not taken.
#[derive(Debug, Error)]
pub enum DecideError {
    /// The run's decisions are signed, and this one would not be.
    #[error("the decisions of run `{0}` are signed, and there is no key to sign this one with")]
    WouldBeUnsigned(RunId),
    /// The journal's events do not make a run.
    #[error("run `{run}` cannot be read: {cause}")]
    Fold {
        /// The run.
        run: RunId,
        /// What is wrong.
        #[source]
        cause: FoldError,
    },
    /// There is no gate to take it through.
    #[error(transparent)]
    Assembly(Box<AssemblyError>),
    /// The gate does not take it.
    #[error(transparent)]
    Refused(#[from] DecisionRefused),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Takes a decision, or refuses it. `signs` says whether the journal signs what is decided through it; `warn` hears what is
/// doubtful.
///
/// # Errors
///
/// Why it is not taken.
pub async fn decide(
    journal: &Arc<dyn Journal>,
    signs: bool,
    approval: &Approval,
    answer: Answer,
    warn: impl Fn(&dyn Display),
) -> Result<Decided, DecideError> {
    let events = journal.events(&approval.run_id, 0).await?;
    let run = RunState::fold(&events).map_err(|cause| DecideError::Fold { run: approval.run_id.clone(), cause })?;
    if !signs && signed_with(&events).is_some() {
        return Err(DecideError::WouldBeUnsigned(approval.run_id.clone()));
    }
    let Desk { gate, table, notifier } = Desk::of(journal, &run, warn)?;
    let mut roles = table.roles_of(&answer.by);
    roles.extend(answer.roles.into_iter().filter(|role| !table.roles_of(&answer.by).contains(role)));
    let decision = Decision {
        reason: answer.reason,
        digest: Some(answer.digest),
        roles,
        proof: answer.proof,
        edit: answer.edit,
        ..Decision::new(approval.approval_id.clone(), answer.state, answer.by.clone())
    };
    let approval = gate.decide(decision).await?;
    if let Some(notifier) = &notifier {
        notifier.tell(&News::decided(&approval, &answer.by, SystemClock.now()));
    }
    Ok(Decided { approval, run, notifier })
}

/// The last call of the tool that somebody approved, for the same tenant; of an edited one, the question before the edit.
///
/// # Errors
///
/// The journal's own.
pub async fn before(journal: &dyn Journal, approval: &Approval) -> Result<Option<Approval>, JournalError> {
    if let Some(edited) = &approval.edited {
        return journal.approval(&edited.approval_id).await;
    }
    let all = journal.approvals(ApprovalFilter::default()).await?;
    let is_like = |other: &Approval| {
        other.approval_id != approval.approval_id
            && other.tool_name == approval.tool_name
            && other.tenant == approval.tenant
            && matches!(other.state, ApprovalState::Granted | ApprovalState::Consumed)
            && other.decided_at.is_some_and(|at| at <= approval.requested_at)
    };
    Ok(all.into_iter().filter(is_like).max_by_key(|other| other.decided_at))
}

/// The roles that the run's own file says somebody has; none where the file is not there any more.
pub fn roles_in(run: &RunState, name: &str) -> Vec<String> {
    let file = run.start().run_file.as_deref().and_then(|file| RunFile::read(Path::new(file)).ok());
    file.map(|file| file.approvals.roles_of(name)).unwrap_or_default()
}

/// What decisions about a run go through: the gate that its run file makes, who has which role, and who is told.
struct Desk {
    gate: Arc<Gate>,
    table: ApprovalsTable,
    notifier: Option<Arc<Notifier>>,
}

impl Desk {
    /// Where the file is not there any more, nobody has a role in it, nobody is told, and no edit can be looked at.
    fn of(journal: &Arc<dyn Journal>, run: &RunState, warn: impl Fn(&dyn Display)) -> Result<Self, DecideError> {
        if let Some(file) = run.start().run_file.as_deref() {
            let overrides =
                Overrides { journal: Some(Arc::clone(journal)), entered: entered(run), ..Overrides::default() };
            match Assembly::load(Path::new(file), overrides) {
                Ok(assembly) => {
                    let (gate, table) = (assembly.gate, assembly.run_file.approvals);
                    return Ok(Self { gate, table, notifier: Some(assembly.notifier) });
                }
                Err(cause @ AssemblyError::Config(ConfigError::Unreadable { .. })) => {
                    warn(&format_args!("run `{}` needs its run file: {cause}", run.run_id()));
                }
                Err(cause) => warn(&cause),
            }
        }
        let runner = without_tools(Arc::clone(journal)).map_err(|cause| DecideError::Assembly(Box::new(cause)))?;
        Ok(Self { gate: Arc::clone(runner.gate()), table: ApprovalsTable::default(), notifier: None })
    }
}
