//! Tools that do what their arguments say, and a world that counts what they did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::effect::{Effect, EffectState, Idempotency, OnDuplicate, Permission};
use lockgate_contract::tool::{
    Failure, Handler, Output, Reconciled, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec,
    ToolSpecBuilder,
};
use lockgate_registry::Registry;
use tokio::sync::Notify;

/// What every tool of the bench takes. `do` says what becomes of the call:
///
/// - `ok`: it returns `{"n": n}`; so does `slow`, after 100 ms, and `wrong` returns something else;
/// - `business`, `environment`, `broken` (nothing happened), `bug`, `panic`, `lost`: it fails in that way;
/// - `hangs`: it never answers.
const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"do": {"type": "string"}, "n": {"type": "integer"}, "key": {"type": "string"}},
    "required": ["do"],
    "additionalProperties": false
}"#;

const OUTPUT: &str = r#"{"type": "object", "required": ["n"]}"#;

/// Longer than this no tool of the bench may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

/// What was done to the world.
#[derive(Default)]
pub(crate) struct World {
    entries: Mutex<Vec<Entry>>,
    running: Mutex<Running>,
    /// Fires whenever a handler that hangs was entered.
    pub(crate) hanging: Notify,
    /// What `ship` finds out about an attempt whose result was lost.
    pub(crate) found: Mutex<Found>,
    /// The keys under which it was asked.
    pub(crate) asked: Mutex<Vec<String>>,
}

/// What becomes of a question about a lost attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Found {
    Done,
    NotDone,
    #[default]
    Unsure,
    WrongForm,
    Fails,
    Panics,
    Hangs,
}

#[derive(Default)]
struct Running {
    now: usize,
    peak: usize,
}

/// One time that a handler was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) tool: &'static str,
    /// The argument text as the handler got it.
    pub(crate) arguments: String,
    /// The same for every attempt of a call, and different for every other call (C-16).
    pub(crate) idempotency_key: String,
}

impl World {
    /// Every time that a handler was entered, in order.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    /// The tools whose handlers were entered, in order.
    pub(crate) fn entered(&self) -> Vec<&'static str> {
        self.entries().iter().map(|entry| entry.tool).collect()
    }

    /// How many handlers ran at the same time at most.
    pub(crate) fn peak(&self) -> usize {
        self.running.lock().unwrap().peak
    }

    /// How often each call of a tool that may not be repeated was entered.
    pub(crate) fn entries_of_effects(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for entry in self.entries().into_iter().filter(|entry| !MAY_BE_REPEATED.contains(&entry.tool)) {
            *counts.entry(entry.idempotency_key).or_default() += 1;
        }
        counts
    }

    async fn act(&self, tool: &'static str, arguments: Arguments, context: ToolContext) -> Result<Output, Failure> {
        self.entries.lock().unwrap().push(Entry {
            tool,
            arguments: arguments.text().to_owned(),
            idempotency_key: context.idempotency_key.to_string(),
        });
        let _running = self.begin();
        let root = arguments.root();
        let text = |name| root.get(name).and_then(|value| value.as_str()).unwrap_or_default().into_owned();
        let number = root.get("n").and_then(|value| value.as_number()).and_then(|number| number.as_i64());
        let answer = || Ok(Output::of(&BTreeMap::from([("n", number.unwrap_or_default())])));
        match text("do").as_str() {
            "ok" => answer(),
            "slow" => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                answer()
            }
            "wrong" => Ok(Output::of("not an object")),
            "business" => Err(ToolExecutionError::new("not_found", "there is no such thing").into()),
            "undone" => Err(ToolExecutionError::new("undone", "half of it").effect_state(EffectState::Unknown).into()),
            "environment" => Err(ToolEnvironmentError::new("the backend is gone").into()),
            "broken" => Err(ToolEnvironmentError::new("the backend is gone").nothing_happened().into()),
            "bug" => Err(Failure::bug("line 3 is wrong")),
            "lost" => Err(Failure::OutcomeUnknown { message: "the line was cut".to_owned() }),
            "panic" => panic!("this tool panics"),
            "echo" => Ok(Output::of(&BTreeMap::from([("n", text("key"))]))),
            "hangs" => {
                self.hanging.notify_one();
                std::future::pending().await
            }
            other => Err(Failure::bug(format!("`{other}` is not known"))),
        }
    }

    async fn find_out(&self, context: ToolContext) -> Result<Reconciled, Failure> {
        self.asked.lock().unwrap().push(context.idempotency_key.to_string());
        let found = *self.found.lock().unwrap();
        match found {
            Found::Done => Ok(Reconciled::Done(Output::of(&BTreeMap::from([("n", 7)])))),
            Found::NotDone => Ok(Reconciled::NotDone),
            Found::Unsure => Ok(Reconciled::Unsure),
            Found::WrongForm => Ok(Reconciled::Done(Output::of("not an object"))),
            Found::Fails => Err(ToolEnvironmentError::new("the backend is gone").into()),
            Found::Panics => panic!("this question panics"),
            Found::Hangs => std::future::pending().await,
        }
    }

    fn begin(&self) -> impl Drop + '_ {
        let mut running = self.running.lock().unwrap();
        running.now += 1;
        running.peak = running.peak.max(running.now);
        Leaving(self)
    }
}

struct Leaving<'w>(&'w World);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.running.lock().unwrap().now -= 1;
    }
}

const MAY_BE_REPEATED: [&str; 6] = ["ask", "look", "peek", "stat", "put", "charge"];

/// How long the provider of `charge` remembers a key.
pub(crate) const WINDOW: Duration = Duration::from_hours(1);

/// The tools of the bench:
///
/// - `look` reads; `peek` and `stat` read and share a resource; `ask` reads, and a person is asked about it;
/// - `note` writes and `send` reaches far, both without a question; `put` writes and may be repeated;
/// - `post` reaches far, and a twin in the same turn gets its result; `book` writes, and a twin is refused;
/// - `pay` reaches far and a person is asked; `ban` is denied;
/// - `charge` reaches far, and its provider recognises keys; `ship` reaches far, and can be asked what became of a call;
/// - `finish` writes, and its success completes the run.
pub(crate) fn registry(world: &Arc<World>) -> Arc<Registry> {
    let registry = Registry::default();
    let tool = |name: &'static str, effect, permission| -> ToolSpecBuilder {
        let world = Arc::clone(world);
        let act = move |arguments, context| {
            let world = Arc::clone(&world);
            async move { world.act(name, arguments, context).await }
        };
        ToolSpec::builder(name)
            .description("A tool of the bench.")
            .input_schema_text(SCHEMA)
            .output_schema_text(OUTPUT)
            .effect(effect)
            .permission(permission)
            .timeout(TIMEOUT)
            .handler(Handler::untyped(act))
    };
    let tools = [
        tool("look", Effect::Read, Permission::Allow),
        tool("peek", Effect::Read, Permission::Allow).resource_keys(["disk"]),
        tool("stat", Effect::Read, Permission::Allow).resource_keys(["disk"]),
        tool("ask", Effect::Read, Permission::Ask),
        tool("note", Effect::Write, Permission::Allow),
        tool("send", Effect::External, Permission::Allow),
        tool("put", Effect::Write, Permission::Allow).idempotency(Idempotency::Declared),
        tool("post", Effect::External, Permission::Allow).on_duplicate(OnDuplicate::ShareResult),
        tool("book", Effect::Write, Permission::Allow).on_duplicate(OnDuplicate::Reject),
        tool("pay", Effect::External, Permission::Ask),
        tool("ban", Effect::External, Permission::Deny),
        tool("charge", Effect::External, Permission::Allow)
            .idempotency(Idempotency::Provider)
            .idempotency_window(WINDOW),
        {
            let world = Arc::clone(world);
            tool("ship", Effect::External, Permission::Allow).reconcile(move |_arguments, context| {
                let world = Arc::clone(&world);
                async move { world.find_out(context).await }
            })
        },
        tool("finish", Effect::Write, Permission::Allow).completes_run(true),
    ];
    for tool in tools {
        registry.register(tool.build().unwrap()).unwrap();
    }
    Arc::new(registry)
}
