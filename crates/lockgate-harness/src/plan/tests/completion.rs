//! Who says that the goal is reached.

use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::run::CompletedBy;

use crate::plan::Command;
use crate::sketch::{Seen, Sketch};
use crate::stop::Stop;

#[test]
fn a_tool_that_completes_the_run_does_so_only_when_it_succeeded() {
    let finish = |settle: fn(&mut Sketch) -> &mut Sketch| settle(Sketch::new().turn(&["finish"])).next();
    let goes_on = "ask the model, step 1";
    assert_eq!(finish(|run| run.ok(0)), "stop: completed goal_reached Agent");
    assert_eq!(finish(|run| run.reports(0, "not_yet")), goes_on);
    assert_eq!(finish(|run| run.fails(0, Code::InvalidToolOutput)), goes_on);
    assert_eq!(finish(|run| run.fails(0, Code::InvalidArguments)), goes_on);
    // Somebody else's result is no success of this call.
    assert_eq!(finish(|run| run.settles(0, |settled| settled.status = Status::NotExecuted)), goes_on);
}

#[test]
fn which_tools_complete_a_run_is_read_from_its_binding() {
    let mut sketch = Sketch::with(|start| start.binding.completes_run.clear());
    assert_eq!(sketch.turn(&["finish"]).ok(0).next(), "ask the model, step 1");
    let mut sketch = Sketch::with(|start| start.binding.completes_run.extend(["look".to_owned()]));
    assert_eq!(sketch.turn(&["look"]).ok(0).next(), "stop: completed goal_reached Agent");
}

#[test]
fn the_two_channels_stay_apart() {
    let reported = |name: &str| {
        let mut sketch = Sketch::new();
        sketch.turn(&[name]).settles(0, |settled| settled.env_reported_completion = true);
        let Command::Stop(Stop::Completed { completed_by, .. }) = sketch.command(&Seen::default()) else {
            panic!("it goes on")
        };
        completed_by
    };
    assert_eq!(reported("note"), Some(CompletedBy::Environment));
    assert_eq!(reported("finish"), Some(CompletedBy::Environment)); // what the environment says outweighs the agent
}

#[test]
fn the_calls_behind_the_completing_one_run_before_the_run_ends() {
    let mut sketch = Sketch::new();
    assert_eq!(sketch.turn(&["finish", "look"]).ok(0).next(), "run 1");
    assert_eq!(sketch.ok(1).next(), "stop: completed goal_reached Agent");
}
