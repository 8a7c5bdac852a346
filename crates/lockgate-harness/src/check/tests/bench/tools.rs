//! Tools of every kind. What a call does is said by its argument `do`.

use std::cell::RefCell;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ToolCall;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, EffectState, ErrorText, Idempotency, OnDuplicate, Permission, ReplayPolicy};
use lockgate_contract::ports::{ActionExecutor, ActionReport, BoxFuture};
use lockgate_contract::tool::{
    Failure, Handler, Output, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec, ToolSpecBuilder,
};
use tokio_util::sync::CancellationToken;

/// A value that the scrubber knows.
pub(crate) const SECRET: &str = "canary-Yellow-Bird-77";

/// What the runs may call.
pub(crate) const ALLOWED: [&str; 16] = [
    "ask_read",
    "checked",
    "deny",
    "finish",
    "harmless",
    "look",
    "note",
    "once",
    "pay",
    "pay_share",
    "peek",
    "put",
    "share",
    "shaky",
    "stat",
    "vouched",
];

/// What is registered, and not for them.
pub(crate) const HIDDEN: &str = "hidden";

thread_local! {
    /// Stops the run that is driven on this thread: the tools are the same for all.
    static CANCEL: RefCell<CancellationToken> = RefCell::default();
}

/// From here on, another run is driven on this thread.
pub(super) fn stops_with(token: &CancellationToken) {
    CANCEL.with_borrow_mut(|cancel| cancel.clone_from(token));
}

/// Cancels the run that is driven on this thread.
pub(super) fn cancel() {
    CANCEL.with_borrow(CancellationToken::cancel);
}

pub(super) fn specs() -> Vec<ToolSpec> {
    let tool = |name: &str, effect: Effect| {
        let handler = Handler::untyped(|arguments, _context: ToolContext| async move {
            act(&arguments).await.map(|(output, _)| output)
        });
        ToolSpec::builder(name)
            .description("Does what it is told.")
            .input_schema_text(r#"{"type":"object","properties":{"do":{"type":"string"}},"required":["do"]}"#)
            .output_schema_text(r#"{"type":["object","null","string"]}"#)
            .effect(effect)
            .handler(handler)
    };
    let allowed = |name, effect| tool(name, effect).permission(Permission::Allow);
    let build = |spec: ToolSpecBuilder| spec.build().unwrap();
    vec![
        build(tool("look", Effect::Read)),
        build(tool("peek", Effect::Read).resource_keys(["disk"])),
        build(tool("stat", Effect::Read).resource_keys(["disk"])),
        build(tool("ask_read", Effect::Read).permission(Permission::Ask)),
        build(tool("finish", Effect::Read).completes_run(true)),
        build(allowed("note", Effect::Write)),
        build(allowed("put", Effect::Write).idempotency(Idempotency::Declared).replay(ReplayPolicy::Safe)),
        build(allowed("share", Effect::Write).on_duplicate(OnDuplicate::ShareResult)),
        build(allowed("once", Effect::Write).on_duplicate(OnDuplicate::Reject)),
        build(allowed("vouched", Effect::Write).error_text(ErrorText::Vouched)),
        build(tool("pay", Effect::External)),
        build(tool("pay_share", Effect::External).on_duplicate(OnDuplicate::ShareResult)),
        build(tool("deny", Effect::Write).permission(Permission::Deny)),
        build(tool("harmless", Effect::External).harmless_when(|arguments| word(arguments) == "ok")),
        build(allowed("checked", Effect::Write).pre_check(|arguments| match word(arguments).as_str() {
            "fail" => Err("not this".to_owned()),
            _ => Ok(()),
        })),
        build(allowed("shaky", Effect::Write).pre_check(|arguments| {
            assert_ne!(word(arguments), "bug", "a check that panics");
            Ok(())
        })),
        build(tool(HIDDEN, Effect::Read)),
    ]
}

fn word(arguments: &Arguments) -> String {
    arguments.root().get("do").and_then(|word| word.as_str()).unwrap_or_default().into_owned()
}

/// Does what `do` says; and says whether the environment reports completion.
async fn act(arguments: &Arguments) -> Result<(Output, bool), Failure> {
    let failed = |state| Err(ToolExecutionError::new("no_luck", "try tomorrow").effect_state(state).into());
    match word(arguments).as_str() {
        "null" => Ok((Output::new(Document::null()), false)),
        "done" => Ok((Output::of(&[("done", true)].into_iter().collect::<std::collections::BTreeMap<_, _>>()), true)),
        "echo" => Ok((Output::new(arguments.document().clone()), false)),
        "wrong" => Ok((Output::raw("{"), false)),
        "fail" => failed(EffectState::None),
        "fail_done" => failed(EffectState::Done),
        "fail_unknown" => failed(EffectState::Unknown),
        "environment" => Err(ToolEnvironmentError::new("the service is down").into()),
        "environment_nothing" => Err(ToolEnvironmentError::new("no way to it").nothing_happened().into()),
        "lost" => Err(Failure::OutcomeUnknown { message: "the line went dead".to_owned() }),
        "bug" => Err(Failure::bug("a bug")),
        "panic" => panic!("a handler that panics"),
        "slow" => std::future::pending().await,
        "cancel" => {
            cancel();
            std::future::pending().await
        }
        _ => Ok((Output::of(&[("n", 1)].into_iter().collect::<std::collections::BTreeMap<_, _>>()), false)),
    }
}

/// A project's own executor, which may say that the environment reported completion.
pub(super) struct OwnExecutor;

impl ActionExecutor for OwnExecutor {
    fn execute<'a>(
        &'a self,
        _call: &'a ToolCall,
        arguments: &'a Arguments,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ActionReport, Failure>> {
        Box::pin(async move {
            let (output, env_reported_completion) = act(arguments).await?;
            Ok(ActionReport { output, env_reported_completion })
        })
    }
}
