//! From what a database holds to the words of the contract, and back: the same for every backend that has columns. A value
//! that the contract does not know is [`JournalError::Corrupt`], never a guess.

use lockgate_contract::approval::{Approval, ApprovalState, Yes};
use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ports::{JournalError, KeptQuestion};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_contract::time::Timestamp;

/// How a number of the contract stands in a column. Numbers beyond a column's range do not occur, and as a bound they mean
/// "beyond everything".
pub(crate) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A column's number as the contract has it.
pub(crate) fn number<N: TryFrom<i64>>(column: i64) -> Result<N, JournalError> {
    N::try_from(column).map_err(|_| JournalError::Corrupt(format!("`{column}` stands where a count belongs")))
}

/// How a kind of run stands in a column.
pub(crate) fn kind_word(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Agent => "agent",
        RunKind::Direct => "direct",
    }
}

/// The kind of a run.
pub(crate) fn run_kind(run: &str, word: &str) -> Result<RunKind, JournalError> {
    [RunKind::Agent, RunKind::Direct]
        .into_iter()
        .find(|known| kind_word(*known) == word)
        .ok_or_else(|| JournalError::Corrupt(format!("run `{run}` has the unknown kind `{word}`")))
}

/// Where a run stopped.
pub(crate) fn run_status(run: &str, word: &str) -> Result<RunStatus, JournalError> {
    [
        RunStatus::Completed,
        RunStatus::LimitReached,
        RunStatus::WaitingForApproval,
        RunStatus::NeedsReconciliation,
        RunStatus::Failed,
        RunStatus::Cancelled,
    ]
    .into_iter()
    .find(|known| known.word() == word)
    .ok_or_else(|| JournalError::Corrupt(format!("run `{run}` has the unknown status `{word}`")))
}

/// The columns of a question that change, beside the question itself.
pub(crate) struct Answered {
    pub(crate) state: String,
    /// JSON.
    pub(crate) yeses: String,
    pub(crate) decided_by: Option<String>,
    pub(crate) decided_at: Option<i64>,
    pub(crate) reason: Option<String>,
    pub(crate) consumed_at: Option<i64>,
}

/// A question with what became of it.
pub(crate) fn approval(question: String, answered: Answered) -> Result<Approval, JournalError> {
    let yeses = document(answered.yeses.clone(), || "the yeses to a question".to_owned())?
        .decode()
        .map_err(|error| JournalError::Corrupt(format!("the yeses to a question cannot be read: {error}")))?;
    let asked = self::question(question, answered)?
        .approval()
        .map_err(|error| JournalError::Corrupt(format!("a question cannot be read: {error}")))?;
    Ok(Approval { yeses, ..asked })
}

/// How the yeses to a question stand in a column.
pub(crate) fn yeses(yeses: &[Yes]) -> Result<String, JournalError> {
    Ok(Document::from_serialize(&yeses).map_err(JournalError::unavailable)?.text().to_owned())
}

/// The question with its state at `now`.
pub(crate) fn as_of(approval: Approval, now: Timestamp) -> Approval {
    Approval { state: approval.state_at(now), ..approval }
}

/// A digest that this program wrote.
pub(crate) fn digest(text: &str) -> Result<Digest, JournalError> {
    text.parse().map_err(|_| JournalError::Corrupt(format!("`{text}` is no digest")))
}

/// The question as its columns keep it.
pub(crate) fn question(question: String, answered: Answered) -> Result<KeptQuestion, JournalError> {
    Ok(KeptQuestion {
        question: document(question, || "a question".to_owned())?,
        state: approval_state(&answered.state)?,
        decided_by: answered.decided_by,
        decided_at: answered.decided_at.map(Timestamp::from_millis),
        reason: answered.reason,
        consumed_at: answered.consumed_at.map(Timestamp::from_millis),
    })
}

fn approval_state(word: &str) -> Result<ApprovalState, JournalError> {
    [
        ApprovalState::Pending,
        ApprovalState::Granted,
        ApprovalState::Denied,
        ApprovalState::Consumed,
        ApprovalState::Withdrawn,
    ]
    .into_iter()
    .find(|known| known.word() == word)
    .ok_or_else(|| JournalError::Corrupt(format!("a question has the unknown state `{word}`")))
}

/// A text that this program wrote.
pub(crate) fn document(text: String, what: impl FnOnce() -> String) -> Result<Document, JournalError> {
    Document::parse(text, Limits::OWN)
        .map_err(|error| JournalError::Corrupt(format!("{} cannot be read: {error}", what())))
}
