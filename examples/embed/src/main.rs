//! Lockgate inside a program of your own: one tool, one gate, one call that passes and one that does not.

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use lockgate::prelude::*;

/// Looks up the team that owns a service.
#[tool(effect = read, scopes("services:read"))]
async fn lookup_service_owner(
    /// The service's name.
    service_name: String,
) -> Result<String, ToolExecutionError> {
    match service_name.as_str() {
        "auth-api" => Ok("team-auth".to_owned()),
        _ => Err(ToolExecutionError::new("service_not_found", "There is no such service.")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Arc::new(Registry::new(RegistryRules::default()));
    registry.register(lookup_service_owner().build()?)?;

    let clock = Arc::new(SystemClock);
    let journal = open_journal("memory:", clock.clone())?;
    let scrubber = Arc::new(ScrubberBuilder::new().build()?);
    let gate = Gate::builder(registry.clone(), Arc::new(NativePolicy::new()), journal, scrubber, clock).build()?;
    let runner = Runner::new(Arc::new(gate), Arc::new(RandomIds), RunnerOptions::default());

    let subject = Subject { scopes: ["services:read".to_owned()].into(), ..Subject::default() };
    for arguments in [r#"{"service_name": "auth-api"}"#, r#"{"service_name": "auth-api", "admin": true}"#] {
        let call =
            DirectCall::new(subject.clone(), registry.discover(&subject).bind(), "lookup_service_owner", arguments);
        let answer = runner.call(call).await?;
        println!("{}", Document::from_serialize(&answer.result)?);
    }
    Ok(())
}
