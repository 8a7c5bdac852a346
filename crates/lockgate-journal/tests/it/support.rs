//! A clock that stands still until it is moved, journals to test, and short ways to say what is stored.

#[cfg(feature = "postgres")]
pub(crate) mod database;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState, Circumstances};
use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::event::{Audit, Body, CallReconciled, Event, EventType, Finding, NewEvent, Settled};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::{CallerKey, Claim, Clock, Decision, Journal, Lease, NewRun, Settling, StoredArtifact};
use lockgate_contract::result::Meta;
use lockgate_contract::run::RunKind;
use lockgate_contract::time::Timestamp;
use lockgate_journal::{MemoryJournal, SqliteJournal};
use tempfile::TempDir;

/// Time that only the test moves.
pub(crate) struct ManualClock(AtomicI64);

/// When every test begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

impl ManualClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(START.as_millis())))
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.now().since(START)
    }
}

/// A journal with its clock.
pub(crate) struct Fixture {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) folder: Option<TempDir>,
    #[cfg(feature = "postgres")]
    pub(crate) database: Option<database::Database>,
}

impl Fixture {
    pub(crate) fn memory() -> Self {
        let clock = ManualClock::new();
        Self {
            journal: Arc::new(MemoryJournal::new(clock.clone())),
            clock,
            folder: None,
            #[cfg(feature = "postgres")]
            database: None,
        }
    }

    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::new();
        let journal = SqliteJournal::open(&folder.path().join("journal.db"), clock.clone()).unwrap();
        Self {
            journal: Arc::new(journal),
            clock,
            folder: Some(folder),
            #[cfg(feature = "postgres")]
            database: None,
        }
    }

    /// In a database of its own.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres() -> Self {
        let database = database::Database::new();
        let clock = ManualClock::new();
        let journal = database.journal(clock.clone());
        Self { journal: Arc::new(journal), clock, folder: None, database: Some(database) }
    }

    /// Another, empty journal of this kind, at the same time.
    pub(crate) fn fresh(&self) -> Self {
        let fresh = match self.folder {
            Some(_) => Self::sqlite(),
            None => self.fresh_elsewhere(),
        };
        fresh.clock.pass(self.clock.now().since(START));
        fresh
    }

    #[cfg(feature = "postgres")]
    fn fresh_elsewhere(&self) -> Self {
        if self.database.is_some() { Self::postgres() } else { Self::memory() }
    }

    #[cfg(not(feature = "postgres"))]
    fn fresh_elsewhere(&self) -> Self {
        Self::memory()
    }

    /// Another handle on the same file or database, as another process would have one.
    pub(crate) fn second(&self) -> Arc<dyn Journal> {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return Arc::new(database.journal(self.clock.clone()));
        }
        let path = self.folder.as_ref().unwrap().path().join("journal.db");
        Arc::new(SqliteJournal::open(&path, self.clock.clone()).unwrap())
    }

    /// Makes a run that nobody drives any more. Its maker's lease stands until somebody takes it over.
    pub(crate) async fn create(&self, id: &str) -> Lease {
        let (hold, _) = self.journal.create_run(new_run(id)).await.unwrap();
        hold.lease().clone()
    }

    pub(crate) async fn ask(&self, run: &Lease, id: &str) -> Approval {
        let approval = approval(run, id);
        self.journal.ask(run, approval.clone(), vec![event("approval.requested")]).await.unwrap();
        approval
    }

    pub(crate) async fn decide(&self, id: &str, answer: ApprovalState) {
        self.journal.decide(decision(id, answer)).await.unwrap();
    }

    pub(crate) async fn kinds(&self, run: &RunId) -> Vec<String> {
        self.events(run).await.iter().map(|event| event.kind.word().to_owned()).collect()
    }

    pub(crate) async fn events(&self, run: &RunId) -> Vec<Event> {
        self.journal.events(run, 0).await.unwrap()
    }

    /// Everything that can be read of a run, as text: to show that something was, or was not, changed.
    pub(crate) async fn everything(&self, run: &RunId) -> String {
        let filter = lockgate_contract::ports::ApprovalFilter { run_id: Some(run.clone()), state: None };
        format!(
            "{:#?}\n{:#?}\n{:#?}",
            self.journal.run(run).await.unwrap(),
            self.events(run).await,
            self.journal.approvals(filter).await.unwrap(),
        )
    }
}

pub(crate) fn document(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

pub(crate) fn event(kind: &str) -> NewEvent {
    event_with(kind, "{}")
}

pub(crate) fn event_with(kind: &str, data: &str) -> NewEvent {
    NewEvent { kind: EventType::from_word(kind), step: 0, call_id: None, data: document(data).into() }
}

pub(crate) fn new_run(id: &str) -> NewRun {
    NewRun {
        run_id: RunId::new(id),
        tenant: "tenant".to_owned(),
        kind: RunKind::Agent,
        title: format!("title of {id}"),
        chained: false,
        started: event("run.started"),
    }
}

/// How long a question stays open.
pub(crate) const OPEN_FOR: Duration = Duration::from_mins(1);

/// The call of every question: `step-0:call-0` of its run.
pub(crate) fn approval(run: &RunId, id: &str) -> Approval {
    Approval {
        approval_id: ApprovalId::new(id),
        run_id: run.clone(),
        call_id: run.call(0, 0),
        step: 7,
        tool_name: "pay".to_owned(),
        tool_version: "1.0".to_owned(),
        definition: Digest::of_text("test", "definition"),
        arguments: document("{ \"amount\" : 123456789012345678901234567890.10 ,\n \"to\": \"bøb\" }"),
        arguments_digest: Digest::of_text("test", "arguments"),
        circumstances: Circumstances::default(),
        effect: Effect::External,
        tenant: "tenant".to_owned(),
        user: "user".to_owned(),
        agent: "agent".to_owned(),
        shown_text: "pay 1.0 wants to run\n".to_owned(),
        digest: bound(id),
        requested_at: START,
        expires_at: START.after(OPEN_FOR),
        state: ApprovalState::Pending,
        yeses: Vec::new(),
        attempt: 1,
        because: None,
        approvers: None,
        edited: None,
        decided_by: None,
        decided_at: None,
        reason: None,
        consumed_at: None,
    }
}

/// The digest that the question `id` is bound to.
pub(crate) fn bound(id: &str) -> Digest {
    Digest::of_text("test", id)
}

pub(crate) fn decision(id: &str, answer: ApprovalState) -> Decision {
    Decision::new(ApprovalId::new(id), answer, "alice")
}

pub(crate) fn claim(call: &CallId, attempt: u32, approval: Option<&str>) -> Claim {
    Claim {
        call_id: call.clone(),
        step: 0,
        attempt,
        tool_name: "pay".to_owned(),
        effect: Effect::External,
        arguments_digest: Digest::of_text("test", "arguments"),
        idempotency_key: format!("key of {call}"),
        approval: approval.map(|id| (ApprovalId::new(id), bound(id))),
        caller_key: None,
        subject: "subject:default/local/agent".to_owned(),
        quotas: Vec::new(),
        seen: Vec::new(),
    }
}

/// A caller's key that is kept as long as a question stays open.
pub(crate) fn caller_key(key: &str, request: &str) -> CallerKey {
    let request = Digest::of_text("test", request);
    CallerKey { tenant: "tenant".to_owned(), key: key.to_owned(), request, keep: OPEN_FOR, passed_on_by: None }
}

/// A result that leaves the world so.
pub(crate) fn settled(call: &CallId, effect_state: EffectState) -> NewEvent {
    let settled = Settled {
        tool_name: "pay".to_owned(),
        tool_version: Some("1.0".to_owned()),
        ok: effect_state == EffectState::Done,
        code: (effect_state != EffectState::Done).then(|| Code::TimedOut.into()),
        reason: None,
        status: Status::Executed,
        effect_state,
        data: None,
        message: None,
        details: None,
        retryable: false,
        meta: Meta::default(),
        env_reported_completion: false,
        audit: Audit::default(),
    };
    NewEvent::new(0, Some(call.clone()), Body::Settled(Arc::new(settled)))
}

/// What somebody found out about a call.
pub(crate) fn found(call: &CallId, finding: Finding) -> NewEvent {
    let found = CallReconciled { finding, by: "alice".to_owned(), reason: None, settled: None };
    NewEvent::new(0, Some(call.clone()), Body::CallReconciled(found))
}

/// A result that is no attempt's: whoever drives the run gives it.
pub(crate) fn settling(call: &CallId, artifact: Option<StoredArtifact>) -> Settling {
    Settling { call_id: call.clone(), attempt: 0, late: false, artifact }
}

pub(crate) fn artifact(id: &str, text: &str) -> StoredArtifact {
    StoredArtifact { artifact_id: ArtifactId::new(id), text: text.to_owned() }
}

pub(crate) fn assert_gap_free(events: &[Event]) {
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    let expected: Vec<u64> = (1..=events.len() as u64).collect();
    assert_eq!(numbers, expected);
}
