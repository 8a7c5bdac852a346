//! One three-field call through the whole gate, and its parts: `cargo bench -p lockgate --bench gate`.
//!
//! Both schemas, the native policy, digest, a 1 KB output scrubbed, the journal in memory. Ratios within one run are what
//! counts: machines differ.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lockgate::contract::arguments::Arguments;
use lockgate::contract::call::ToolCall;
use lockgate::contract::document::Limits;
use lockgate::contract::event::{Body, NewEvent};
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::NewRun;
use lockgate::contract::run::{RunKind, RunStart};
use lockgate::executor::{Request, RunLog, Scope, Terms};
use lockgate::prelude::*;
use lockgate::registry::schema::{Role, Schema, UnknownFields};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const ARGUMENTS: &str = r#"{"order_id": "A-1042", "amount": 1999, "note": "second attempt, see ticket 7"}"#;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Receipt {
    order_id: String,
    amount: i64,
    text: String,
}

/// Prices an order.
#[tool(effect = read)]
async fn price(
    /// The order.
    order_id: String,
    /// In cents.
    amount: i64,
    /// For people.
    note: String,
) -> Receipt {
    Receipt { order_id, amount, text: note.repeat(36) }
}

struct Bench {
    runtime: Runtime,
    gate: Gate,
    scope: Scope,
    run: RunId,
}

fn bench() -> Bench {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let registry = Arc::new(Registry::new(RegistryRules::default()));
    registry.register(price().build().unwrap()).unwrap();
    let clock = Arc::new(SystemClock);
    let journal = open_journal("memory:", clock.clone()).unwrap();
    let scrubber = Arc::new(ScrubberBuilder::new().build().unwrap());
    let policy = Arc::new(NativePolicy::new());
    let gate = Gate::builder(registry.clone(), policy, journal.clone(), scrubber, clock).build().unwrap();
    let subject = Subject::default();
    let binding = registry.discover(&subject).bind();
    let allowed = Arc::new(binding.allowed.clone());
    let run = RunId::from_random(1);
    let start = RunStart {
        kind: RunKind::Direct,
        task: None,
        system: None,
        subject: subject.clone(),
        binding,
        budget: Budget::default(),
        on_unknown: lockgate::contract::effect::OnUnknown::Stop,
        model: None,
        run_file: None,
    };
    let new_run = NewRun {
        run_id: run.clone(),
        tenant: subject.tenant.clone(),
        kind: RunKind::Direct,
        title: String::new(),
        started: NewEvent::new(0, None, &Body::RunStarted(Box::new(start))),
    };
    runtime.block_on(journal.create_run(new_run)).unwrap();
    let log = Arc::new(RunLog::new(run.clone(), journal, 1, Arc::new(|_| {})));
    let scope = Scope {
        log,
        subject: Arc::new(subject),
        allowed,
        cancel: CancellationToken::new(),
        deadline: None,
        progress: None,
        stale_approval_settles: true,
    };
    Bench { runtime, gate, scope, run }
}

fn whole_call(criterion: &mut Criterion) {
    let Bench { runtime, gate, scope, run } = bench();
    let mut index = 0;
    criterion.bench_function("gate/three-field read, whole", |bencher| {
        bencher.iter(|| {
            index += 1;
            let call = ToolCall {
                call_id: run.call(0, index),
                step: 0,
                parent: None,
                provider_call_id: String::new(),
                tool_name: "price".to_owned(),
                arguments_text: ARGUMENTS.to_owned(),
            };
            runtime.block_on(gate.call(Request { call, terms: Terms::default() }, &scope))
        });
    });
}

fn parts(criterion: &mut Criterion) {
    criterion.bench_function("part/parse", |bencher| {
        bencher.iter(|| Arguments::parse(black_box(ARGUMENTS), Limits::ARGUMENTS).unwrap());
    });
    let arguments = Arguments::parse(ARGUMENTS, Limits::ARGUMENTS).unwrap();
    criterion.bench_function("part/digest", |bencher| bencher.iter(|| black_box(&arguments).digest()));
    let spec = price().build().unwrap();
    let schema = Schema::admit(spec.input_schema(), Role::Input, UnknownFields::AsDeclared).unwrap();
    schema.validate(arguments.document()).unwrap();
    criterion.bench_function("part/validate input", |bencher| {
        bencher.iter(|| schema.validate(black_box(arguments.document())).unwrap());
    });
    criterion.bench_function("part/decode for the handler", |bencher| {
        bencher.iter(|| spec.handler().unwrap().prepare(black_box(&arguments)).unwrap());
    });
    let receipt =
        Receipt { order_id: "A-1042".to_owned(), amount: 1999, text: "second attempt, see ticket 7".repeat(36) };
    criterion.bench_function("part/output into a document", |bencher| {
        bencher.iter(|| Document::from_serialize(black_box(&receipt)).unwrap());
    });
    let output = Document::from_serialize(&receipt).unwrap();
    let scrubber = ScrubberBuilder::new().build().unwrap();
    criterion.bench_function("part/scrub 1 KB", |bencher| bencher.iter(|| scrubber.scrub_document(black_box(&output))));
}

criterion_group!(benches, whole_call, parts);
criterion_main!(benches);
