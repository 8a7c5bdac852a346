//! A gate over a few tools, and runs of it.

use lockgate::contract::call::{ActionLanguage, ToolCall};
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::NewRun;
use lockgate::contract::run::RunStart;
use lockgate::executor::{Request, RunLog, Scope, Terms};
use lockgate::prelude::*;
use tokio::runtime::Runtime;

/// Three fields.
pub(crate) const ARGUMENTS: &str = r#"{"order_id": "A-1042", "amount": 1999, "note": "second attempt, see ticket 7"}"#;

/// An output of 1 KB.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Receipt {
    order_id: String,
    amount: i64,
    text: String,
}

impl Receipt {
    pub(crate) fn new(order_id: String, amount: i64, note: &str) -> Self {
        Self { order_id, amount, text: note.repeat(36) }
    }
}

/// Prices an order.
#[tool(effect = read)]
pub(crate) async fn price(
    /// The order.
    order_id: String,
    /// In cents.
    amount: i64,
    /// For people.
    note: String,
) -> Receipt {
    Receipt::new(order_id, amount, &note)
}

/// Books an order.
#[tool(effect = write, permission = allow, reason = "a benchmark")]
pub(crate) async fn book(order_id: String, amount: i64, note: String) -> Receipt {
    Receipt::new(order_id, amount, &note)
}

/// Takes no order.
#[tool(effect = read, pre_check = refuse)]
pub(crate) async fn refuse_order(order_id: String, amount: i64, note: String) -> Receipt {
    Receipt::new(order_id, amount, &note)
}

fn refuse(_: &lockgate::contract::arguments::Arguments) -> Result<(), String> {
    Err("no orders today".to_owned())
}

/// Nobody may.
#[tool(effect = read, permission = deny, reason = "a benchmark")]
pub(crate) async fn deny_order(order_id: String, amount: i64, note: String) -> Receipt {
    Receipt::new(order_id, amount, &note)
}

/// Everything but the journal.
pub(crate) struct Setup {
    pub(crate) runtime: Runtime,
    registry: Arc<Registry>,
    policy: Arc<dyn PolicyEngine>,
    scrubber: Arc<dyn Redactor>,
}

/// A gate with one run.
pub(crate) struct Run {
    pub(crate) gate: Arc<Gate>,
    pub(crate) scope: Scope,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self::deciding(|_| Arc::new(NativePolicy::new()))
    }

    /// With this policy, made for the tools.
    pub(crate) fn deciding(policy: impl FnOnce(&Registry) -> Arc<dyn PolicyEngine>) -> Self {
        let registry = Arc::new(Registry::new(RegistryRules::default()));
        for tool in [price().build(), book().build(), refuse_order().build(), deny_order().build()] {
            registry.register(tool.unwrap()).unwrap();
        }
        let policy = policy(&registry);
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            registry,
            policy,
            scrubber: Arc::new(ScrubberBuilder::new().build().unwrap()),
        }
    }

    /// A gate over a journal of its own.
    pub(crate) fn gate(&self, journal: &str) -> Arc<Gate> {
        let clock = Arc::new(SystemClock);
        let journal = open_journal(journal, clock.clone()).unwrap();
        let (registry, policy, scrubber) = (self.registry.clone(), self.policy.clone(), self.scrubber.clone());
        Arc::new(Gate::builder(registry, policy, journal, scrubber, clock).build().unwrap())
    }

    /// A new run of a gate.
    pub(crate) async fn run(&self, gate: &Arc<Gate>, number: u64) -> Run {
        let subject = Subject::default();
        let binding = self.registry.discover(&subject).bind();
        let allowed = Arc::new(binding.allowed.clone());
        let run_id = RunId::from_random(number);
        let new_run = NewRun::new(run_id.clone(), RunStart::direct(subject.clone(), binding));
        let (hold, _) = gate.journal().create_run(new_run).await.unwrap();
        let log = Arc::new(RunLog::new(hold.lease().clone(), gate.journal().clone(), 1, Arc::new(|_| {})));
        let scope = Scope::new(log, Arc::new(subject), allowed);
        Run { gate: gate.clone(), scope }
    }
}

impl Run {
    /// One requested call, as the harness hands it over.
    pub(crate) fn request(&self, index: u32, tool: &str, arguments: &str) -> Request {
        let call = ToolCall {
            call_id: self.scope.log.run_id().call(0, index),
            step: 0,
            parent: None,
            provider_call_id: String::new(),
            tool_name: tool.to_owned(),
            arguments_text: arguments.to_owned(),
            language: ActionLanguage::Call,
        };
        Request { call, terms: Terms::default() }
    }
}
