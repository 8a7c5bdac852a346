//! The file of a scripted model: read, asked for its turns, and then driven through the gate with tools of every kind.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use lockgate::config::RunFile;
use lockgate::contract::approval::ApprovalState;
use lockgate::contract::call::ActionLanguage;
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::ids::CallId;
use lockgate::contract::ports::{Clock, Ids, Message, MessageCall, ModelRequest};
use lockgate::contract::time::Timestamp;
use lockgate::harness::check::{self, Export};
use lockgate::prelude::*;
use lockgate::redact::Scrubber;
use lockgate::sources::mock::MockTool;

/// One tool of each kind that the gate treats differently.
pub(crate) const TOOLS: &str = r#"
[[tools.mock]]
name = "lookup_incident"
effect = "read"
behaviour = [{ echoes = true }]
input_schema = { type = "object", required = ["incident_id"], properties.incident_id = { type = "string" } }

[[tools.mock]]
name = "list_services"
effect = "read"
scopes = ["services:read"]
behaviour = [{ returns_raw = "{\"services\": [\"payments\", \"search\"], \"token\": \"canary-value-1\"}" }]

[[tools.mock]]
name = "create_ticket"
effect = "write"
permission = "allow"
on_duplicate = "share_result"
behaviour = [{ returns = { ticket = "T-1" } }]

[[tools.mock]]
name = "notify_service_owner"
permission_reason = "It reaches people."
behaviour = [{ sleeps = "1s" }]

[[tools.mock]]
name = "delete_service"
permission = "deny"

[[tools.mock]]
name = "close_incident"
effect = "write"
permission = "allow"
completes_run = true
behaviour = [{ fails = { code = "still_open", message = "It is still open.", retryable = true } }, { echoes = true }]

[[tools.mock]]
name = "page_engineer"
effect = "write"
permission = "allow"
timeout = "5s"
behaviour = [{ sleeps = "10s" }]

[[tools.mock]]
name = "read_metrics"
effect = "read"
behaviour = [{ environment_error = "The disk is gone.", effect_state = "none" }, { returns_text = "é", repeat = 40000 }]
"#;

/// A value that must not leave. Scripts of the corpus hold it.
const SECRET: &str = "canary-value-1";

static REDACTOR: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    let mut builder = ScrubberBuilder::new();
    builder.secret("canary", SecretValue::new(SECRET)).unwrap();
    Arc::new(builder.build().unwrap())
});

/// A clock that moves a little whenever it is looked at.
struct StepClock(AtomicI64);

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed).unsigned_abs())
    }
}

struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Reads the script and asks for each of its turns; then a runner does.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let model = match ScriptedModel::parse(text) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
            return;
        }
    };
    // Time passes only when everybody waits: nothing here takes as long as it says.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        ask(&model).await;
        drive(model).await;
    });
}

/// Every turn of the script, after a history that its placeholders may quote.
async fn ask(model: &ScriptedModel) {
    let mut messages = vec![Message::User { text: "Who owns it?".to_owned() }];
    for step in 0..4 {
        let calls = (0..2).map(|index| MessageCall {
            call_id: CallId::new(format!("{step}-{index}")),
            provider_call_id: String::new(),
            name: "lookup_incident".to_owned(),
            arguments_text: "{}".to_owned(),
            language: ActionLanguage::Call,
        });
        let calls: Vec<_> = calls.collect();
        let content = r#"{"data":{"owner":"team-a","list":[1.50,{"~/":"\u00e9"}]}}"#;
        let content = Document::parse(content, Limits::OWN).unwrap();
        let results = calls.iter().map(|call| Message::Tool {
            call_id: call.call_id.clone(),
            ok: true,
            content: content.clone(),
        });
        let results: Vec<_> = results.collect();
        messages.push(Message::Assistant { text: None, calls, items: Vec::new() });
        messages.extend(results);
    }
    let steps = u32::try_from(model.len()).unwrap();
    for step in (0..=steps.min(64)).chain([u32::MAX]) {
        let request = ModelRequest { step, messages: messages.clone(), tools: Vec::new() };
        let answer = model.respond(&request).await;
        assert!(answer.is_err() || step < steps);
    }
}

/// A run, in which a person says yes to everything. Its journal keeps what journals promise.
async fn drive(model: ScriptedModel) {
    let registry = Arc::new(registry());
    let clock = Arc::new(StepClock(AtomicI64::new(1_800_000_000_000)));
    let journal = open_journal("memory:", Arc::clone(&clock) as Arc<dyn Clock>).unwrap();
    let gate = Gate::builder(
        Arc::clone(&registry),
        Arc::new(NativePolicy::new()),
        Arc::clone(&journal),
        Arc::clone(&*REDACTOR) as Arc<dyn Redactor>,
        clock,
    );
    let ids = Arc::new(CountedIds(AtomicU64::new(1)));
    let runner =
        Runner::new(Arc::new(gate.build().unwrap()), ids, RunnerOptions::default()).with_model(Arc::new(model));
    let subject = Subject::default();
    let run = AgentRun {
        budget: Budget { max_steps: 8, max_valid_actions: 12, max_calls_per_turn: 8, ..Budget::default() },
        on_unknown: OnUnknown::TellModel,
        ..AgentRun::new("Who owns it?", subject.clone(), registry.discover(&subject).bind())
    };
    let mut state = runner.start(run).await.unwrap();
    for _ in 0..8 {
        let Some(Stop::WaitingForApproval(_)) = state.stop() else { break };
        let pending = ApprovalFilter { run_id: Some(state.run_id().clone()), state: Some(ApprovalState::Pending) };
        for question in journal.approvals(pending).await.unwrap() {
            let decision = Decision {
                digest: Some(question.digest),
                ..Decision::new(question.approval_id, ApprovalState::Granted, "reviewer")
            };
            journal.decide(decision).await.unwrap();
        }
        state = runner.resume(&state.run_id().clone(), Resume::default()).await.unwrap();
    }

    let events = journal.events(state.run_id(), 0).await.unwrap();
    let defects = check::events(&events);
    assert!(defects.is_empty(), "{defects:#?}");
    assert_eq!(format!("{:?}", RunState::fold(&events).unwrap().messages()), format!("{:?}", state.messages()));
    let lines: String = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert!(!lines.contains(SECRET), "a secret left: {lines}");
    let export = Export::read(lines.as_bytes());
    assert!(export.unreadable.is_empty(), "{:?}", export.unreadable);
    assert_eq!(export.runs.len(), 1);
    assert!(check::events(&export.runs[0].events).is_empty());
}

/// Read once: that is slower than a run.
static MOCKS: LazyLock<Vec<MockTool>> =
    LazyLock::new(|| RunFile::parse(Path::new("run.toml"), TOOLS).unwrap().tools.mock);

/// Anew for each run: a mock counts its calls.
fn registry() -> Registry {
    let registry = Registry::default();
    for mock in MOCKS.iter().cloned() {
        registry.register(mock.into_spec(Path::new(""), 0).unwrap()).unwrap();
    }
    registry
}

/// The scripts of the examples, and turns that call the tools above.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        super::files(&root.join("examples"), "turns.json").iter().map(|path| super::text(path).into_bytes()).collect();
    seeds.extend(turns().into_iter().map(String::into_bytes));
    seeds
}

/// Scripts of one turn each: every tool with every form of a call.
pub(crate) fn turns() -> Vec<String> {
    let tools = [
        "lookup_incident",
        "list_services",
        "create_ticket",
        "notify_service_owner",
        "delete_service",
        "close_incident",
        "page_engineer",
        "read_metrics",
        "drop_table",
    ];
    let forms = [
        r#""arguments":{"incident_id":"INC-001"}"#,
        r#""arguments_text":"{\"incident_id\": \"canary-value-1\"}""#,
        r#""arguments_text":"{\"a\":1,\"a\":2}""#,
        r#""code":"print(1)""#,
    ];
    let mut scripts = Vec::new();
    for tool in tools {
        for form in forms {
            let call = format!(r#"{{"id":"p1","name":"{tool}",{form}}}"#);
            scripts.push(format!(
                r#"{{"turns":[{{"text":"Looking.","calls":[{call},{call}]}},{{"calls":[{call}]}},{{"text":"${{step-0.call-0#/data}} $${{x}}"}}]}}"#
            ));
        }
    }
    for error in ["overloaded", "rate_limited", "refused", "timed_out", "script_exhausted", "other"] {
        scripts.push(format!(r#"{{"turns":[{{"error":"{error}"}},{{"text":"done"}}]}}"#));
    }
    scripts
}
