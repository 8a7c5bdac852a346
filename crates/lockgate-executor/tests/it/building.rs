//! A gate that would not hold is not built (R-043…R-051).

use std::sync::Arc;

use lockgate_contract::effect::Effect;
use lockgate_contract::ports::{ActionExecutor, ActionReport, BoxFuture, Clock, NoRedaction};
use lockgate_contract::tool::{Failure, Output, ToolContext, ToolSpec};
use lockgate_executor::{Dispatch, Gate, GateBuilder, GateError};
use lockgate_journal::MemoryJournal;
use lockgate_policy::NativePolicy;
use lockgate_registry::{RegisterError, Registry};

use crate::bench::{Setup, answering, tool, with_handler};

struct Still;

impl Clock for Still {
    fn now(&self) -> lockgate_contract::time::Timestamp {
        crate::bench::START
    }

    fn monotonic(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
}

struct Own;

impl ActionExecutor for Own {
    fn execute<'a>(
        &'a self,
        _call: &'a lockgate_contract::call::ToolCall,
        _arguments: &'a lockgate_contract::arguments::Arguments,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ActionReport, Failure>> {
        Box::pin(async { Ok(ActionReport { output: Output::of(&1), env_reported_completion: false }) })
    }
}

fn builder(registry: &Arc<Registry>) -> GateBuilder {
    let clock = Arc::new(Still);
    let journal = Arc::new(MemoryJournal::new(clock.clone()));
    Gate::builder(Arc::clone(registry), Arc::new(NativePolicy::new()), journal, Arc::new(NoRedaction), clock)
}

fn registry(names: &[(&str, bool)]) -> Arc<Registry> {
    let registry = Registry::default();
    for (name, has_handler) in names {
        let spec = ToolSpec::builder(*name).effect(Effect::Read);
        let spec = if *has_handler {
            with_handler(spec, &Arc::default(), |_, _| async { Ok(Output::of(&1)) })
        } else {
            spec.build().unwrap()
        };
        registry.register(spec).unwrap();
    }
    Arc::new(registry)
}

#[test]
fn every_missing_handler_is_named_at_once() {
    let registry = registry(&[("b", false), ("a", false), ("c", true), ("d", false)]);
    let error = builder(&registry).build().err().unwrap();
    assert_eq!(error.to_string(), "these tools have no handler: a, b, d"); // C-2
    assert!(matches!(error, GateError::MissingHandlers(_)));
}

#[test]
fn an_executor_of_another_registry_is_refused() {
    let tools = [("a", true)];
    let (one, other) = (registry(&tools), registry(&tools));
    let foreign = other.executor().unwrap();
    assert_eq!(builder(&one).dispatch(foreign).build().err(), Some(GateError::RegistryMismatch));
    let own = one.executor().unwrap();
    assert!(builder(&one).dispatch(own).build().is_ok());
    // Not even a restriction of the same registry, nor one with the very same tools.
    let restricted = Arc::new(one.restrict_to(["a"]).unwrap());
    assert_eq!(builder(&one).dispatch(restricted.executor().unwrap()).build().err(), Some(GateError::RegistryMismatch));
    assert!(builder(&restricted).build().is_ok());
}

#[test]
fn a_projects_own_executor_needs_no_handlers_and_is_not_compared() {
    let registry = registry(&[("a", false), ("b", false)]);
    assert!(builder(&registry).dispatch(Dispatch::Own(Arc::new(Own))).build().is_ok());
}

#[tokio::test]
async fn a_tool_without_a_handler_cannot_come_later() {
    let bench = Setup::new(|counters| answering(counters, "1")).build().await;
    let late = ToolSpec::builder("late").effect(Effect::Read).build().unwrap();
    let refused = bench.registry.register(late).err().unwrap();
    assert!(matches!(refused, RegisterError::MissingHandler(_)), "{refused}");
    // One with a handler can, without anybody touching the gate.
    let late = tool(&bench.counters, Effect::Read);
    let late = with_handler(
        ToolSpec::builder("late").effect(Effect::Read).description(late.build().unwrap().description()),
        &bench.counters,
        |_, _| async { Ok(Output::of(&1)) },
    );
    bench.registry.register(late).unwrap();
}

#[tokio::test]
async fn a_restricted_registry_still_executes() {
    let full = Setup::new(|counters| answering(counters, "1")).build().await;
    let restricted = Arc::new(full.registry.restrict_to(["read"]).unwrap());
    let gate = Gate::builder(
        Arc::clone(&restricted),
        Arc::new(NativePolicy::new()),
        full.journal.clone(),
        Arc::new(NoRedaction),
        full.clock.clone(),
    )
    .build()
    .unwrap();
    let released = gate.call(full.request("read", "{}"), &full.scope).await;
    assert!(crate::bench::settlement(released).result().ok);
    let released = gate.call(full.request("write", "{}"), &full.scope).await;
    assert_eq!(crate::bench::code(&crate::bench::settlement(released)), "unknown_tool");
}
