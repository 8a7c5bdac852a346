//! The questions behind the pages: which of them somebody sees, and what becomes of one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderValue;
use lockgate::contract::approval::{Approval, ApprovalState, NotEntitled, Proof, same};
use lockgate::contract::digest::Digest;
use lockgate::contract::ids::{ApprovalId, RunId};
use lockgate::contract::ports::{ApprovalFilter, Clock, Decision, DecisionRefused, Journal, JournalError};
use lockgate::deciding::{self, Answer, DecideError, roles_in};
use lockgate::harness::RunState;

use super::CurrentRegistry;
use super::answer::NO_SUCH;
use crate::auth::{Caller, Person, Refusal};

/// How many questions a list has.
const MOST: usize = 200;

/// How long those who are told of a decision have to be reached.
const TO_BE_TOLD: Duration = Duration::from_secs(30);

/// The questions of a journal.
pub(super) struct Desk {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) registry: CurrentRegistry,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signs: bool,
}

/// The open questions that somebody sees, oldest first.
pub(super) struct Listed {
    pub(super) approvals: Vec<Approval>,
    /// How many more there are.
    pub(super) more: usize,
}

/// A question, and what somebody has to know to answer it.
pub(super) struct Shown {
    pub(super) approval: Approval,
    pub(super) run: RunState,
    /// The last call of this tool that was approved.
    pub(super) before: Option<Approval>,
    /// Where the tool comes from, if it is still the one that is asked about.
    pub(super) source: Option<String>,
    /// Whether they may answer it.
    pub(super) may: Result<(), NotEntitled>,
}

/// Why there is no page.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) text: String,
    pub(super) challenge: Option<HeaderValue>,
    is_of_the_question: bool,
}

impl Desk {
    /// The open questions that somebody may answer, or that are asked for them.
    pub(super) async fn open(&self, caller: &Caller) -> Result<Listed, Problem> {
        let filter = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
        let now = self.clock.now();
        let mut roles = Roles::default();
        let (mut approvals, mut more) = (Vec::new(), 0);
        for approval in self.journal.approvals(filter).await? {
            if approval.state_at(now) != ApprovalState::Pending || !self.sees(caller, &approval, &mut roles).await? {
                continue;
            }
            if approvals.len() < MOST {
                approvals.push(approval);
            } else {
                more += 1;
            }
        }
        Ok(Listed { approvals, more })
    }

    /// One question. That there is one which is somebody else's, nobody learns.
    pub(super) async fn shown(&self, caller: &Caller, id: &ApprovalId) -> Result<Shown, Problem> {
        let mut roles = Roles::default();
        let known = self.journal.approval(id).await?;
        let approval = known.ok_or_else(Problem::no_such)?;
        if !self.sees(caller, &approval, &mut roles).await? {
            return Err(Problem::no_such());
        }
        let before = match deciding::before(&*self.journal, &approval).await? {
            Some(before) if self.sees(caller, &before, &mut roles).await? => Some(before),
            _ => None,
        };
        let tool = (self.registry)().get(&approval.tool_name);
        let tool = tool.filter(|tool| tool.spec().definition() == approval.definition);
        let source = tool.map(|tool| tool.spec().source().to_owned());
        let may = match caller {
            Caller::Person(person) => self.entitled(person, &approval, &mut roles).await?,
            Caller::Agent(_) => Err(NotEntitled::Subject),
        };
        let run = self.run(&approval.run_id).await?;
        Ok(Shown { approval, run, before, source, may })
    }

    /// Takes a person's decision, in the way of `lockgate approvals`.
    pub(super) async fn decide(
        &self,
        person: &Person,
        approval: &Approval,
        state: ApprovalState,
        digest: Digest,
        reason: Option<String>,
    ) -> Result<Approval, Problem> {
        let answer = Answer {
            state,
            by: person.name.clone(),
            proof: Proof::Authenticated,
            roles: person.roles.iter().cloned().collect(),
            reason,
            digest,
            edit: None,
        };
        let warn = |warning: &dyn std::fmt::Display| tracing::warn!(%warning, "a decision is doubtful");
        let decided = deciding::decide(&self.journal, self.signs, approval, answer, warn).await?;
        if let Some(notifier) = decided.notifier {
            tokio::spawn(async move {
                notifier.flush(TO_BE_TOLD).await;
            });
        }
        Ok(decided.approval)
    }

    /// Whether a question concerns somebody: it is asked for them, or they may answer it.
    async fn sees(&self, caller: &Caller, approval: &Approval, roles: &mut Roles) -> Result<bool, Problem> {
        match caller {
            Caller::Agent(principal) => {
                let subject = &principal.subject;
                let is_theirs = (&subject.tenant, &subject.user, &subject.agent)
                    == (&approval.tenant, &approval.user, &approval.agent);
                Ok(is_theirs && principal.run.as_ref().is_none_or(|run| *run == approval.run_id))
            }
            Caller::Person(person) if person.tenant != approval.tenant => Ok(false),
            Caller::Person(person) if same(&person.name, &approval.user) => Ok(true),
            Caller::Person(person) => Ok(match self.entitled(person, approval, roles).await? {
                Ok(()) | Err(NotEntitled::Twice) => true,
                Err(NotEntitled::Role | NotEntitled::Subject | NotEntitled::Unproven) => false,
            }),
        }
    }

    /// Whether somebody may say yes, as far as the question itself says.
    async fn entitled(
        &self,
        person: &Person,
        approval: &Approval,
        roles: &mut Roles,
    ) -> Result<Result<(), NotEntitled>, Problem> {
        let says = |roles: Vec<String>| Decision {
            roles,
            proof: Proof::Authenticated,
            ..Decision::new(approval.approval_id.clone(), ApprovalState::Granted, person.name.clone())
        };
        let mut has: Vec<String> = person.roles.iter().cloned().collect();
        match approval.entitles(&says(has.clone())) {
            Err(NotEntitled::Role) => {
                // Only where it matters is the run read for its file.
                if !roles.0.contains_key(&approval.run_id) {
                    let found = roles_in(&self.run(&approval.run_id).await?, &person.name);
                    roles.0.insert(approval.run_id.clone(), found);
                }
                has.extend(roles.0.get(&approval.run_id).into_iter().flatten().cloned());
                Ok(approval.entitles(&says(has)))
            }
            other => Ok(other),
        }
    }

    async fn run(&self, run: &RunId) -> Result<RunState, Problem> {
        let events = self.journal.events(run, 0).await?;
        RunState::fold(&events).map_err(|error| {
            tracing::error!(%error, %run, "the run of a question cannot be read");
            Problem::unavailable()
        })
    }
}

/// The roles that somebody has in the files of runs.
#[derive(Default)]
struct Roles(HashMap<RunId, Vec<String>>);

impl Problem {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), challenge: None, is_of_the_question: false }
    }

    pub(super) fn no_such() -> Self {
        Self::new(StatusCode::NOT_FOUND, NO_SUCH)
    }

    pub(super) fn malformed() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "this is not what the form sends: nothing was done")
    }

    pub(super) fn unavailable() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "this cannot be answered now; the log says why")
    }

    pub(super) fn refused(refusal: &Refusal) -> Self {
        Self { challenge: refusal.challenge(), ..Self::new(refusal.status(), refusal.words()) }
    }

    /// Whether the question itself is why nothing was decided, and shows what it is by now.
    pub(super) fn is_of_the_question(&self) -> bool {
        self.is_of_the_question
    }

    fn of_the_question(status: StatusCode, text: impl Into<String>) -> Self {
        Self { is_of_the_question: true, ..Self::new(status, text) }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        tracing::error!(%error, "the journal does not answer the approvals page");
        Self::unavailable()
    }
}

impl From<DecideError> for Problem {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Refused(DecisionRefused::NotFound(_)) => Self::no_such(),
            DecideError::Refused(DecisionRefused::NotOpen { state, .. }) => {
                let text = format!("this question is {} already: nothing was decided", state.word());
                Self::of_the_question(StatusCode::CONFLICT, text)
            }
            DecideError::Refused(DecisionRefused::Digest(_)) => {
                let text = "this is another question than the one that was shown: nothing was decided";
                Self::of_the_question(StatusCode::CONFLICT, text)
            }
            DecideError::Refused(DecisionRefused::NotEntitled { why, .. }) => {
                Self::of_the_question(StatusCode::FORBIDDEN, format!("nothing was decided: {}", yours(why)))
            }
            DecideError::WouldBeUnsigned(_) => {
                let text = "the decisions of this run are signed, and this server has no key to sign with: nothing was decided";
                Self::of_the_question(StatusCode::CONFLICT, text)
            }
            DecideError::Refused(DecisionRefused::Journal(JournalError::CommitUnknown(cause))) => {
                tracing::error!(%cause, "whether a decision was written is not known");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "whether this was decided is not known: look at the question again",
                )
            }
            error => {
                tracing::error!(%error, "a decision cannot be taken");
                Self::unavailable()
            }
        }
    }
}

/// Why it is not somebody's to decide, said to themselves.
pub(super) fn yours(why: NotEntitled) -> &'static str {
    match why {
        NotEntitled::Unproven => "who you are was not proved",
        NotEntitled::Subject => "it is asked on your own behalf, and another person has to decide",
        NotEntitled::Role => "you have none of the roles that it needs",
        NotEntitled::Twice => "you said yes already, and another person has to",
    }
}
