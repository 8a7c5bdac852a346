//! A cancelled run ends at once, with a result for each call and no guess about what was under way (S-23).

use lockgate::contract::effect::{OnUnknown, Permission};
use tokio::sync::Notify;

use super::file::proposed;
use super::wire::Wire;
use crate::world::{Act, Ran, Turn, World, at_once, code_of, echo, in_time};
use lockgate::prelude::*;

fn act(effect: Effect) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("act").effect(effect).permission(Permission::Allow);
    tool.input_schema_text(r#"{"type":"object"}"#)
}

fn calls(count: usize) -> Vec<lockgate::contract::ports::ProposedCall> {
    (0..count).map(|n| proposed("c", "act", &format!(r#"{{"n":{n}}}"#))).collect()
}

/// A handler that never answers, and says when it was entered.
fn hanging(entered: &Arc<Notify>) -> Act {
    let entered = Arc::clone(entered);
    in_time(move |_, _| {
        entered.notify_one();
        std::future::pending()
    })
}

/// Drives a run, and cancels it once `when` was said.
async fn cancelled_when(world: &World, turns: Vec<Turn>, when: Arc<Notify>) -> Ran {
    let cancel = world.runner.cancel.clone();
    let cancelling = async {
        when.notified().await;
        cancel.cancel();
    };
    tokio::join!(world.run_turns(turns), cancelling).0
}

#[tokio::test]
async fn before_it_begins_nothing_begins() {
    for world in World::of_each_kind() {
        world.add(act(Effect::Write), echo());
        world.runner.cancel.cancel();
        let ran = world.run(calls(2)).await;
        assert_eq!(ran.stop(), ("cancelled", "cancelled"));
        assert!(world.requests().is_empty() && world.entered().is_empty());
        let answer = world.direct("act", "{}").await;
        assert_eq!(code_of(&answer), "cancelled");
        assert!(world.entered().is_empty());
    }
}

#[tokio::test]
async fn while_the_model_thinks() {
    for world in World::of_each_kind() {
        let soon = Arc::new(Notify::new());
        soon.notify_one();
        let ran = cancelled_when(&world, vec![Turn::Hangs], soon).await;
        assert_eq!(ran.stop(), ("cancelled", "cancelled"));
    }
}

/// The effect of the call that was under way, what the run does after an unknown effect, and how it all ends.
const ENDS: &[(Effect, OnUnknown, &[&str], &str)] = &[
    (Effect::Write, OnUnknown::Stop, &["interrupted", "cancelled", "cancelled"], "needs_reconciliation"),
    (Effect::External, OnUnknown::Stop, &["interrupted", "cancelled", "cancelled"], "needs_reconciliation"),
    (Effect::Write, OnUnknown::TellModel, &["interrupted", "cancelled", "cancelled"], "cancelled"),
    (Effect::Read, OnUnknown::Stop, &["interrupted", "interrupted", "interrupted"], "cancelled"),
];

#[tokio::test]
async fn while_a_call_runs() {
    for (effect, on_unknown, codes, status) in ENDS {
        for mut world in World::of_each_kind() {
            world.on_unknown = *on_unknown;
            let entered = Arc::new(Notify::new());
            world.add(act(*effect), hanging(&entered));
            let ran = cancelled_when(&world, vec![Turn::Calls(calls(3))], entered).await;
            assert_eq!(ran.codes(), *codes, "{effect}");
            assert_eq!(ran.stop().0, *status, "{effect}");
            assert_eq!(world.entered().len(), if *effect == Effect::Read { 3 } else { 1 }, "{effect}");
            // It stays so: a cancelled run is not taken up again.
            let again = world.restarted().with_runner(RunnerOptions::default()).resume(ran.run_id()).await;
            assert_eq!(again.state.last_seq(), ran.state.last_seq());
        }
    }
}

/// An answer that is there counts, whatever happened meanwhile.
#[tokio::test]
async fn an_answer_that_came_is_kept() {
    for effect in [Effect::Read, Effect::Write] {
        let mut world = World::in_memory();
        world.runner.parallel_reads = 1;
        let cancel = world.runner.cancel.clone();
        let act_and_cancel = at_once(move |arguments| {
            cancel.cancel();
            Ok(Output::new(arguments.document().clone()))
        });
        world.add(act(effect), act_and_cancel);
        let ran = world.run(calls(3)).await;
        assert_eq!(ran.codes(), ["ok", "cancelled", "cancelled"], "{effect}");
        assert_eq!(ran.stop(), ("cancelled", "cancelled"));
        assert_eq!(world.entered().len(), 1);
        assert!(world.requests().len() == 1, "the model is not asked again");
    }
}

#[tokio::test]
async fn afterwards_it_changes_nothing() {
    let world = World::in_memory();
    world.add(act(Effect::Write), echo());
    let ran = world.run(calls(1)).await;
    world.runner.cancel.cancel();
    assert_eq!(world.resume(ran.run_id()).await.stop(), ("completed", "final_answer"));
}

#[tokio::test]
async fn a_waiting_run_that_is_cancelled_asks_no_more() {
    for world in World::of_each_kind() {
        world.add(act(Effect::Write).permission(Permission::Ask), echo());
        let ran = world.run(calls(2)).await;
        let questions = world.questions(ran.run_id()).await;
        world.answer(&questions[0], lockgate::contract::approval::ApprovalState::Granted).await.unwrap();
        let world = world.restarted();
        world.runner.cancel.cancel();
        let cancelled = world.resume(ran.run_id()).await;
        assert_eq!(cancelled.codes(), ["cancelled", "cancelled"]);
        assert_eq!(cancelled.stop(), ("cancelled", "cancelled"));
        assert!(world.entered().is_empty());
    }
}

/// One run's end leaves another alone, and the tools that they share.
#[tokio::test]
async fn another_run_goes_on() {
    let mut world = World::in_memory();
    let entered = Arc::new(Notify::new());
    let (hang, answer) = (hanging(&entered), echo());
    let either: Act =
        Arc::new(
            move |arguments, context| {
                if arguments.text().contains("hang") { hang(arguments, context) } else { answer(arguments, context) }
            },
        );
    world.add(act(Effect::Read), either);
    let other = world.clone().with_runner(RunnerOptions::default());
    let slow = cancelled_when(&world, vec![Turn::Calls(vec![proposed("c", "act", r#"{"hang":1}"#)])], entered);
    let (slow, quick) = tokio::join!(slow, other.run(calls(2)));
    assert_eq!(slow.codes(), ["interrupted"]);
    assert_eq!(quick.codes(), ["ok", "ok"]);
    assert_eq!(quick.stop(), ("completed", "final_answer"));
    // And later ones too, whose requests still pair up.
    world.runner = RunnerOptions::default();
    let wire = Wire::asking_for(calls(1));
    world.model = Some(wire.model());
    assert_eq!(world.run(Vec::new()).await.codes(), ["ok"]);
    wire.last_request();
}

/// A handler is told of the cancel, and cannot pass it on to the run.
#[tokio::test]
async fn a_handler_cannot_cancel_its_run() {
    let world = World::in_memory();
    let spiteful = in_time(|_, context: ToolContext| async move {
        context.cancel.cancel();
        Ok(Output::of("done"))
    });
    world.add(act(Effect::Write), spiteful);
    let ran = world.run(calls(2)).await;
    assert_eq!(ran.codes(), ["ok", "ok"]);
    assert_eq!(ran.stop(), ("completed", "final_answer"));
}
