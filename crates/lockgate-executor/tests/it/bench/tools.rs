//! Tools that count.

use std::future::Future;
use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext, ToolSpec, ToolSpecBuilder};

use super::{Counters, add, named};

pub(crate) const EFFECTS: [Effect; 3] = [Effect::Read, Effect::Write, Effect::External];

/// A tool that everybody may call, named after its effect. It counts its pre-checks; it has no handler yet.
pub(crate) fn tool(counters: &Arc<Counters>, effect: Effect) -> ToolSpecBuilder {
    let counters = Arc::clone(counters);
    ToolSpec::builder(named(effect))
        .version("2.5")
        .effect(effect)
        .permission(Permission::Allow)
        .input_schema_text(
            r#"{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}},"additionalProperties":false}"#,
        )
        .pre_check(move |_| {
            add(&counters.pre_check);
            Ok(())
        })
}

/// With a handler that counts its calls and its answers.
pub(crate) fn with_handler<F, Fut>(builder: ToolSpecBuilder, counters: &Arc<Counters>, action: F) -> ToolSpec
where
    F: Fn(Arguments, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    let counters = Arc::clone(counters);
    let handler = Handler::untyped(move |arguments, context| {
        add(&counters.handler);
        let (action, counters) = (action(arguments, context), Arc::clone(&counters));
        async move {
            let answer = action.await;
            if answer.is_ok() {
                add(&counters.output);
            }
            answer
        }
    });
    builder.handler(handler).build().unwrap()
}

/// One tool for each effect that answers with this JSON.
pub(crate) fn answering(counters: &Arc<Counters>, json: &'static str) -> Vec<ToolSpec> {
    let answer = move |_, _| async move { Ok(Output::new(Document::parse(json, Limits::OUTPUT).unwrap())) };
    EFFECTS.map(|effect| with_handler(tool(counters, effect), counters, answer)).into()
}

/// One tool for each effect that fails like this.
pub(crate) fn failing(
    counters: &Arc<Counters>,
    failure: impl Fn() -> Failure + Clone + Send + Sync + 'static,
) -> Vec<ToolSpec> {
    let specs = EFFECTS.map(|effect| {
        let failure = failure.clone();
        with_handler(tool(counters, effect), counters, move |_, _| std::future::ready(Err(failure())))
    });
    specs.into()
}

/// One tool for each effect that never answers.
pub(crate) fn pending(counters: &Arc<Counters>) -> Vec<ToolSpec> {
    EFFECTS.map(|effect| with_handler(tool(counters, effect), counters, |_, _| std::future::pending())).into()
}
