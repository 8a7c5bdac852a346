//! A call ends in time, whatever its handler does (S-25, S-26).

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, EffectState, Permission};
use lockgate_contract::event::{Body, EventType, Finding};
use lockgate_contract::ports::{Journal as _, PolicyDecision};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext};
use lockgate_executor::Scope;
use tokio::time::Instant;

use crate::bench::{
    Answer, Bench, EFFECTS, START, Setup, add, answering, code, pending, reached, settlement, tool, with_handler,
};

const OWN: Duration = Duration::from_secs(7);

/// Never answers, within this time.
async fn bench(own: Option<Duration>) -> Bench {
    let mut setup = Setup::new(|counters| {
        let spec = |effect| {
            let builder = tool(counters, effect);
            let builder = if let Some(own) = own { builder.timeout(own) } else { builder };
            with_handler(builder, counters, |_, _| std::future::pending())
        };
        EFFECTS.map(spec).into()
    });
    setup.options.call_timeout = Duration::from_secs(20);
    setup.build().await
}

/// How long the call took until it timed out.
async fn until_time_out(bench: &Bench, effect: Effect) -> Duration {
    let before = Instant::now();
    let settlement = bench.call(effect.word()).await;
    assert_eq!(code(&settlement), "timed_out", "{:?}", settlement.settled().audit);
    assert_eq!(settlement.settled().status, lockgate_contract::outcome::Status::Executed); // R-120
    bench.ending(&settlement.result().call_id).await;
    before.elapsed()
}

#[tokio::test(start_paused = true)]
async fn the_tools_own_or_else_the_gates() {
    for effect in EFFECTS {
        assert_eq!(until_time_out(&bench(Some(OWN)).await, effect).await, OWN);
        assert_eq!(until_time_out(&bench(None).await, effect).await, Duration::from_secs(20));
    }
}

#[tokio::test(start_paused = true)]
async fn no_call_outlives_its_run() {
    let mut bench = bench(Some(OWN)).await;
    bench.scope.deadline = Some(START.after(Duration::from_secs(3)));
    assert_eq!(until_time_out(&bench, Effect::Write).await, Duration::from_secs(3)); // S-25
    bench.scope.deadline = Some(START.after(Duration::from_secs(30)));
    assert_eq!(until_time_out(&bench, Effect::Write).await, OWN);
}

#[tokio::test]
async fn nothing_starts_when_the_time_is_over() {
    for late in [Duration::ZERO, Duration::from_secs(1)] {
        let mut bench =
            Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(PolicyDecision::Ask)).build().await;
        bench.scope.deadline = Some(START.after(Duration::from_secs(5)));
        bench.clock.pass(Duration::from_secs(5) + late);
        let settlement = bench.call("write").await;
        assert_eq!(code(&settlement), "limit_reached");
        assert_eq!(settlement.settled().reason.as_deref(), Some("deadline"));
        assert_eq!(bench.handler_count(), 0);
        assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"]); // Nobody is asked either (C-15).
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_never_answers_denies() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Never).build().await;
    for effect in EFFECTS {
        assert_eq!(code(&bench.call(effect.word()).await), "policy_denied");
    }
    assert_eq!(bench.handler_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_there_counts() {
    let bench = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).timeout(OWN);
        vec![with_handler(builder, counters, |_, _| async {
            tokio::time::sleep(OWN).await;
            Ok(Output::of("just in time"))
        })]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "ok");
}

#[tokio::test(start_paused = true)]
async fn what_may_have_happened_is_not_called_undone() {
    let bench = Setup::new(pending).build().await;
    for (effect, state) in [
        (Effect::Read, EffectState::None),
        (Effect::Write, EffectState::Unknown),
        (Effect::External, EffectState::Unknown),
    ] {
        let settlement = bench.call(effect.word()).await;
        assert_eq!(settlement.settled().effect_state, state); // S-26, R-126
        assert_eq!(settlement.result().error.as_ref().unwrap().retryable, effect == Effect::Read); // R-130
    }
}

#[tokio::test]
async fn a_handler_is_told_when_its_time_is_up() {
    let told = Arc::new(Mutex::new(None));
    let mut bench = {
        let told = Arc::clone(&told);
        Setup::new(move |counters| {
            let builder = tool(counters, Effect::Write).timeout(OWN);
            vec![with_handler(builder, counters, move |_, context: ToolContext| {
                *told.lock().unwrap() = Some(context.deadline);
                async { Ok(Output::of(&1)) }
            })]
        })
        .build()
        .await
    };
    bench.call("write").await;
    assert_eq!(*told.lock().unwrap(), Some(START.after(OWN)));
    bench.scope.deadline = Some(START.after(Duration::from_secs(3)));
    bench.call("write").await;
    assert_eq!(*told.lock().unwrap(), Some(START.after(Duration::from_secs(3))));
}

/// A tool that blocks its thread until it is let go, and then says whether it was told to stop.
struct Blocking {
    bench: Bench,
    entered: tokio::sync::mpsc::UnboundedReceiver<()>,
    go: mpsc::Sender<()>,
    told_to_stop: tokio::sync::oneshot::Receiver<bool>,
}

async fn blocking(timeout: Duration) -> Blocking {
    let (enter, entered) = tokio::sync::mpsc::unbounded_channel();
    let (go, wait) = mpsc::channel::<()>();
    let (tell, told_to_stop) = tokio::sync::oneshot::channel();
    let (wait, tell) = (Mutex::new(wait), Mutex::new(Some(tell)));
    let bench = Setup::new(move |counters| {
        let (wait, tell) = (Arc::new(wait), Arc::new(tell));
        let counted = Arc::clone(counters);
        let handler = Handler::untyped(move |_, context: ToolContext| {
            let (wait, tell, enter, counted) =
                (Arc::clone(&wait), Arc::clone(&tell), enter.clone(), Arc::clone(&counted));
            async move {
                add(&counted.handler);
                enter.send(()).ok();
                wait.lock().unwrap().recv().unwrap();
                let stopped = context.cancel.is_cancelled();
                tell.lock().unwrap().take().unwrap().send(stopped).unwrap();
                Ok::<_, Failure>(Output::of("late"))
            }
        });
        let builder = tool(counters, Effect::Write).permission(Permission::Allow).timeout(timeout);
        vec![builder.handler(handler.blocking()).build().unwrap()]
    })
    .build()
    .await;
    Blocking { bench, entered, go, told_to_stop }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_blocks_is_left_behind() {
    let Blocking { bench, mut entered, go, told_to_stop } = blocking(OWN).await;
    // A paused clock does not go on by itself while a thread of the blocking pool is busy.
    let pass = async {
        entered.recv().await.unwrap();
        tokio::time::advance(OWN).await;
    };
    let (settlement, ()) = tokio::join!(bench.call("write"), pass);
    assert_eq!(code(&settlement), "timed_out");
    go.send(()).unwrap();
    assert!(told_to_stop.await.unwrap(), "what is left behind must see that nobody waits");
    // Its late answer says what nobody knew; what was said before stands.
    let Body::CallReconciled(found) = heard(&bench, &EventType::CallReconciled).await else { panic!("another body") };
    let settled = found.settled.unwrap();
    assert_eq!((found.finding, found.by.as_str()), (Finding::Done, "late_result"));
    assert_eq!(settled.data.as_ref().unwrap().text(), r#""late""#);
    assert_eq!(bench.ending(&settlement.result().call_id).await.code.unwrap().word(), "timed_out"); // R-212
    assert_eq!(bench.handler_count(), 1); // R-077
}

/// Waits for the first event of a type.
async fn heard(bench: &Bench, kind: &EventType) -> Body {
    let mut seen = 0;
    loop {
        for event in bench.journal.inner().follow(&bench.run_id, seen).await.unwrap() {
            if event.kind == *kind {
                return event.body().unwrap();
            }
            seen = event.seq;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_looked_at_as_any_other() {
    let (enter, mut entered) = tokio::sync::mpsc::unbounded_channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let schema = Document::parse(r#"{"type": "integer"}"#, Limits::OUTPUT).unwrap();
    let bench = Setup::new(move |counters| {
        let handler = Handler::untyped(move |_, _| {
            let (wait, enter) = (Arc::clone(&wait), enter.clone());
            async move {
                enter.send(()).ok();
                wait.lock().unwrap().recv().unwrap();
                Ok::<_, Failure>(Output::of("no integer"))
            }
        });
        let builder = tool(counters, Effect::Write).permission(Permission::Allow).timeout(OWN).output_schema(schema);
        vec![builder.handler(handler.blocking()).build().unwrap()]
    })
    .build()
    .await;
    let pass = async {
        entered.recv().await.unwrap();
        tokio::time::advance(OWN).await;
    };
    let (settlement, ()) = tokio::join!(bench.call("write"), pass);
    assert_eq!(code(&settlement), "timed_out");
    go.send(()).unwrap();
    let late = heard(&bench, &EventType::CallReconciled).await;
    let Body::CallReconciled(found) = late else { panic!("another body") };
    let settled = found.settled.unwrap();
    assert_eq!(settled.code.as_ref().unwrap().word(), "invalid_tool_output"); // R-073
    assert!(settled.data.is_none());
}

#[tokio::test]
async fn a_dropped_call_tells_what_it_left_behind() {
    let Blocking { bench, mut entered, go, told_to_stop } = blocking(Duration::from_mins(10)).await;
    let request = bench.request("write", "{}");
    {
        let call = bench.send(&request);
        tokio::select! {
            _ = call => panic!("nobody let the handler go"),
            Some(()) = entered.recv() => {}
        }
    }
    // What the dropped call leaves is written behind it; what the handler says comes after that.
    heard(&bench, &EventType::ToolFailed).await;
    go.send(()).unwrap();
    assert!(told_to_stop.await.unwrap());
    heard(&bench, &EventType::CallReconciled).await;
    assert_eq!(bench.ending(&request.call.call_id).await.code.unwrap().word(), "interrupted"); // R-212
}

#[tokio::test]
async fn a_handler_that_blocks_answers_like_any_other() {
    let Blocking { bench, go, told_to_stop, .. } = blocking(Duration::from_mins(10)).await;
    go.send(()).unwrap();
    let settlement = settlement(bench.send(&bench.request("write", "{}")).await);
    assert_eq!(settlement.result().data.as_ref().unwrap().text(), r#""late""#);
    assert!(!told_to_stop.await.unwrap());
}

#[tokio::test]
async fn time_that_runs_out_while_the_intent_is_written_starts_nothing() {
    let mut bench = Setup::new(|counters| answering(counters, "1")).build().await;
    bench.scope.deadline = Some(START.after(Duration::from_secs(5)));
    let (entered, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    bench.journal.hold(crate::bench::Method::Claim, Arc::clone(&entered), Arc::clone(&go));
    let pass = async {
        reached(&entered).await;
        bench.clock.pass(Duration::from_secs(5));
        go.notify_one();
    };
    let (late, ()) = tokio::join!(bench.call("write"), pass);
    assert_eq!((code(&late), bench.handler_count()), ("limit_reached", 0)); // S-25
    assert_eq!(late.settled().effect_state, EffectState::None);
}

#[test]
fn a_call_that_waited_too_long_for_a_thread_does_not_start_late() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let Blocking { bench, mut entered, go, told_to_stop } = blocking(Duration::from_mins(10)).await;
        let in_a_hurry = Scope { deadline: Some(START.after(OWN)), ..bench.scope.clone() };
        let second = async {
            // The only thread is taken, and stays so until the second call has run out of time.
            entered.recv().await.unwrap();
            let call = bench.gate.call(bench.request("write", "{}"), &in_a_hurry);
            let (released, ()) = tokio::join!(call, tokio::time::advance(OWN));
            go.send(()).unwrap();
            settlement(released)
        };
        let (first, second) = tokio::join!(bench.call("write"), second);
        assert_eq!((code(&first), code(&second)), ("ok", "timed_out"));
        assert!(!told_to_stop.await.unwrap());
        // The thread is free now. What is put behind the second call in the queue comes after it.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert_eq!(bench.handler_count(), 1); // S-26: what is settled does not begin.
    });
}
