//! The one tool of the matrix: it asks the counting server to do something.

use std::net::SocketAddr;
use std::sync::Arc;

use lockgate::prelude::*;

use crate::CrashError;
use crate::case::{Case, Replay};
use crate::counter;

/// Its name.
pub(crate) const NAME: &str = "act";

/// What it is called with.
pub(crate) const ARGUMENTS: &str = r#"{"order": 1}"#;

/// The most that is shown of an output: less than the tool answers, so that every result leaves an artifact.
pub(crate) const MAX_OUTPUT_BYTES: usize = 128;

const SCHEMA: &str = r#"{"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}"#;

/// A registry with the tool of a case.
pub(crate) fn registry(case: Case, server: SocketAddr, scope: &str) -> Result<Arc<Registry>, CrashError> {
    let scope: Arc<str> = scope.into();
    let act = {
        let scope = Arc::clone(&scope);
        move |_arguments, context: ToolContext| {
            let scope = Arc::clone(&scope);
            async move {
                let performed =
                    counter::perform(server, &scope, &context.idempotency_key.to_string(), case.mode()).await;
                let answer = performed.map_err(|error| Failure::OutcomeUnknown { message: error.to_string() })?;
                Ok(Output::of(&answer.repeat(40)))
            }
        }
    };
    let mut tool = ToolSpec::builder(NAME)
        .description("Orders something.")
        .input_schema_text(SCHEMA)
        .effect(case.effect())
        .permission(case.permission())
        .handler(Handler::untyped(act));
    if let Some((idempotency, window)) = case.idempotency() {
        tool = tool.idempotency(idempotency);
        if let Some(window) = window {
            tool = tool.idempotency_window(window);
        }
    }
    if case.replay() == Replay::Probed {
        tool = tool.reconcile(move |_arguments, context: ToolContext| {
            let scope = Arc::clone(&scope);
            async move {
                match counter::seen(server, &scope, &context.idempotency_key.to_string()).await {
                    Ok(true) => Ok(Reconciled::Done(Output::of("it was ordered"))),
                    Ok(false) => Ok(Reconciled::NotDone),
                    Err(_) => Ok(Reconciled::Unsure),
                }
            }
        });
    }
    let registry = Registry::new(RegistryRules::default());
    let tool = tool.build().map_err(|error| CrashError::new("the tool", error))?;
    registry.register(tool).map_err(|error| CrashError::new("the registry", error))?;
    Ok(Arc::new(registry))
}
