//! What makes a tool, what its handler is given, and what may turn out at its first call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use lockgate_contract::effect::{Effect, EffectState, Permission};
use lockgate_contract::outcome::Status;
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext, ToolEnvironmentError, ToolSpec};
use serde::Deserialize;

use crate::bench::{EFFECTS, Setup, code, settlement, tool, with_handler};

#[derive(Deserialize)]
struct Greeting {
    name: String,
}

#[tokio::test]
async fn five_answers_make_a_tool() {
    let greet = ToolSpec::builder("greet")
        .description("Greets.")
        .input_schema_text(
            r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}"#,
        )
        .effect(Effect::Read)
        .handler(Handler::typed(|Greeting { name }| async move { Ok::<_, Failure>(format!("Hello, {name}.")) }))
        .build()
        .unwrap();
    let bench = Setup::new(|_| vec![greet]).build().await;
    let settlement = settlement(bench.send(&bench.request("greet", r#"{"name":"Ada"}"#)).await);
    assert_eq!(settlement.result().data.as_ref().unwrap().text(), r#""Hello, Ada.""#); // R-018
}

#[tokio::test]
async fn nothing_tells_a_handler_by_which_name_it_was_called() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let bench = Setup::new(move |counters| {
        let spec = |effect| {
            let noted = Arc::clone(&noted);
            with_handler(tool(counters, effect), counters, move |arguments, context: ToolContext| {
                let given = format!("{} {context:?} {}", arguments.text(), context.idempotency_key);
                noted.lock().unwrap().push(given);
                async { Ok(Output::of(&1)) }
            })
        };
        EFFECTS.map(spec).into()
    })
    .build()
    .await;
    for effect in EFFECTS {
        let request = bench.request(effect.word(), r#"{"n":1}"#);
        bench.send(&request).await;
        let given = seen.lock().unwrap().pop().unwrap();
        for hidden in [effect.word(), request.call.call_id.as_str(), "provider-", "step"] {
            assert!(!given.contains(hidden), "{given}"); // R-054
        }
    }
}

#[tokio::test]
async fn what_a_tool_needs_may_be_missing_at_its_first_call() {
    let ready = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&ready);
    let bench = Setup::new(move |counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, move |_, _| {
            let is_ready = state.load(Ordering::SeqCst);
            async move {
                if is_ready {
                    return Ok(Output::of(&1));
                }
                Err(ToolEnvironmentError::new("no credentials yet").nothing_happened().into())
            }
        })]
    })
    .build()
    .await;
    let first = bench.call("write").await;
    assert_eq!((code(&first), first.settled().status), ("environment_error", Status::EnvError)); // R-034
    assert_eq!(first.settled().effect_state, EffectState::None);
    ready.store(true, Ordering::SeqCst);
    assert_eq!(code(&bench.call("write").await), "ok"); // R-034
}

#[tokio::test]
async fn the_richest_ability_is_used() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&heard);
    let plain = Handler::typed(|_: serde::de::IgnoredAny| async { Ok::<_, Failure>("plain") });
    let with_context = Handler::typed_with_context(|_: serde::de::IgnoredAny, context: ToolContext| async move {
        context.progress("half of it");
        Ok::<_, Failure>("with a context")
    });
    let mut bench = Setup::new(|_| {
        let spec = |name: &str, handler| ToolSpec::builder(name).permission(Permission::Allow).handler(handler);
        // A tool that proves its call harmless is not asked for, though it declares that it asks.
        let proves = spec("rich", with_context).permission(Permission::Ask).harmless_when(|_| true);
        vec![spec("plain", plain).build().unwrap(), proves.build().unwrap()]
    })
    .build()
    .await;
    bench.scope.progress = Some(Arc::new(move |words: &str| noted.lock().unwrap().push(words.to_owned())));
    assert_eq!(bench.call("plain").await.result().data.as_ref().unwrap().text(), r#""plain""#);
    assert_eq!(bench.call("rich").await.result().data.as_ref().unwrap().text(), r#""with a context""#); // R-082
    assert_eq!(*heard.lock().unwrap(), ["plain runs", "rich runs", "half of it"]); // R-082, R-155, R-221
}
