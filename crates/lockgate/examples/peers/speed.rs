//! How long one call takes through the whole gate: parse, look-up, schema, policy, digest, journal in memory, handler, output
//! schema, scrubbing.

use std::error::Error;
use std::time::Instant;

use lockgate::contract::call::{ActionLanguage, ToolCall};
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::NewRun;
use lockgate::contract::run::RunStart;
use lockgate::executor::{Released, Request, RunLog, Scope, Terms};
use lockgate::prelude::*;
use serde_json::json;

const WARM_UP: u32 = 2_000;
const CALLS: u32 = 10_000;
const ARGUMENTS: &str = r#"{"to": "bob", "amount": 1999, "memo": "second attempt, see ticket 7"}"#;

/// Prints the median time of a call in microseconds, as JSON.
#[expect(clippy::disallowed_methods, reason = "the time of a call is what is measured")]
pub(crate) async fn measure() -> Result<(), Box<dyn Error>> {
    let (registry, gate) = crate::gate(GateOptions::default())?;
    let run = RunId::from_random(1);
    let scope = scope(&registry, &gate, &run).await?;
    let mut times = Vec::new();
    for index in 0..WARM_UP + CALLS {
        let call = ToolCall {
            call_id: run.call(0, index),
            language: ActionLanguage::Call,
            step: 0,
            parent: None,
            provider_call_id: String::new(),
            tool_name: "transfer".to_owned(),
            arguments_text: ARGUMENTS.to_owned(),
        };
        let begun = Instant::now();
        let released = gate.call(Request { call, terms: Terms::default() }, &scope).await;
        let taken = begun.elapsed();
        if !matches!(released, Released::Settled(settlement) if settlement.result().ok) {
            return Err("the call did not succeed".into());
        }
        if index >= WARM_UP {
            times.push(taken.as_secs_f64() * 1e6);
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100);
    println!("{}", json!({"median": at(50), "p95": at(95), "calls": CALLS}));
    Ok(())
}

/// One run that all calls belong to.
async fn scope(registry: &Registry, gate: &Gate, run: &RunId) -> Result<Scope, Box<dyn Error>> {
    let subject = Subject::default();
    let binding = registry.discover(&subject).bind();
    let allowed = Arc::new(binding.allowed.clone());
    let new_run = NewRun::new(run.clone(), RunStart::direct(subject.clone(), binding));
    let (hold, _) = gate.journal().create_run(new_run).await?;
    let log = RunLog::new(hold.lease().clone(), gate.journal().clone(), 1, Arc::new(|_| {}));
    Ok(Scope::new(Arc::new(log), Arc::new(subject), allowed))
}
