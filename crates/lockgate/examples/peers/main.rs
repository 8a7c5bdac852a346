//! Lockgate's part of the comparison in `bench/peers`, which starts this program: each case through a whole run, or the
//! time of one call through the whole gate.

#![expect(clippy::print_stdout, reason = "a program whose results are read from its output")]

mod ran;
mod speed;
mod tools;

use std::error::Error;
use std::time::Duration;

use lockgate::executor::ArgumentErrors;
use lockgate::models::{Provider, RemoteOptions};
use lockgate::prelude::*;
use serde_json::json;

/// How long a run of a case may take.
const RUN_TIME: Duration = Duration::from_secs(6);

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("speed"), None) => runtime.block_on(speed::measure()),
        (Some(mode @ ("default" | "best")), Some(url)) => {
            for case in arguments {
                println!("{}", runtime.block_on(one_case(&case, &format!("{url}{case}/v1"), mode == "best"))?);
            }
            Ok(())
        }
        _ => Err("usage: peers speed, or peers default|best URL CASE...".into()),
    }
}

/// Makes one run against the server, and says what became of it as a line of JSON.
async fn one_case(case: &str, base_url: &str, best: bool) -> Result<String, Box<dyn Error>> {
    ran::forget();
    let mut options = RemoteOptions::new(Provider::OpenaiCompatible, "scripted");
    options.base_url = Some(base_url.to_owned());
    let model = RemoteModel::with_environment(options, |_| None)?;
    let mut options = GateOptions::default();
    if best {
        options.call_timeout = Duration::from_secs(1);
        options.argument_errors = ArgumentErrors::DeclaredPaths;
    }
    let (registry, gate) = gate(options)?;
    let runner = Runner::new(Arc::new(gate), Arc::new(RandomIds), RunnerOptions::default()).with_model(Arc::new(model));
    let subject = Subject::default();
    let binding = registry.discover(&subject).bind();
    let run = AgentRun::new("Do it.", subject, binding);
    let (answer, crash) = match tokio::time::timeout(RUN_TIME, runner.start(run)).await {
        Err(_) => (None, Some("still running".to_owned())),
        Ok(Err(error)) => (None, Some(error.to_string())),
        Ok(Ok(state)) => {
            let result = RunResult::of(&state);
            // A run that ends without an answer of the model has stopped, for the reason that stands in the result.
            let stopped = result.answer.is_none().then(|| format!("{:?}, {:?}", result.status, result.reason));
            (result.answer, stopped)
        }
    };
    Ok(json!({"case": case, "ran": ran::all(), "answer": answer, "crash": crash}).to_string())
}

/// A gate over the tools of the comparison, as a program that embeds Lockgate makes it.
fn gate(options: GateOptions) -> Result<(Arc<Registry>, Gate), Box<dyn Error>> {
    let registry = Arc::new(Registry::new(RegistryRules::default()));
    for tool in tools::all()? {
        registry.register(tool)?;
    }
    let clock = Arc::new(SystemClock);
    let journal = open_journal("memory:", clock.clone())?;
    let scrubber = Arc::new(ScrubberBuilder::new().build()?);
    let gate = Gate::builder(registry.clone(), Arc::new(NativePolicy::new()), journal, scrubber, clock);
    Ok((registry, gate.options(options).build()?))
}
