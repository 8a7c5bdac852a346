//! Calls that wait for a person, and those behind them.

use lockgate_contract::outcome::Code;

use crate::sketch::{OPEN_FOR, Seen, Sketch};

#[test]
fn several_calls_wait_side_by_side() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "pay", "pay"]);
    assert_eq!(sketch.next(), "run 0");
    sketch.requested(0).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    sketch.requested(1).asked(1);
    assert_eq!(sketch.seen(&Seen::held(&[0, 1])), "run 2 (may not start)");
    sketch.requested(2).asked(2);
    assert_eq!(
        sketch.seen(&Seen::held(&[0, 1, 2])),
        "stop: waiting_for_approval approval_required apr-0, apr-1, apr-2"
    );
}

#[test]
fn an_allowed_effect_behind_a_waiting_one_waits_too() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "note", "look"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    assert_eq!(sketch.seen(&Seen::held(&[0, 1])), "run 2 (may not start)");
    let stop = "stop: waiting_for_approval approval_required apr-0";
    assert_eq!(sketch.seen(&Seen::held(&[0, 1, 2])), stop);
}

#[test]
fn refusals_behind_a_waiting_call_settle() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "nosuch", "note"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    sketch.fails(1, Code::UnknownTool);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 2 (may not start)");
    sketch.fails(2, Code::InvalidArguments);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn what_is_decided_runs_in_request_order() {
    let stop = |calls: &str| format!("stop: waiting_for_approval approval_required {calls}");
    let asked = || {
        let mut sketch = Sketch::new();
        sketch.turn(&["pay", "pay"]).asked(0).asked(1);
        sketch
    };
    let mut first = asked();
    assert_eq!(first.decided(0, "granted").next(), "run 0 (with apr-0)");
    assert_eq!(first.ok(0).next(), stop("apr-1"));

    // Decided, but behind one that is not.
    let mut second = asked();
    assert_eq!(second.decided(1, "granted").next(), stop("apr-0"));
    assert_eq!(second.decided(0, "denied").next(), "settle 0 approval_denied");
    assert_eq!(second.fails(0, Code::ApprovalDenied).next(), "run 1 (with apr-1)");
}

#[test]
fn a_no_needs_no_gate() {
    // Whatever the policy of the next process says: the person's answer stands (appr-decline-executes).
    let asked = |decisions: &[&str]| {
        let mut sketch = Sketch::new();
        sketch.turn(&["pay", "look"]).asked(0);
        for decision in decisions {
            sketch.decided(0, decision);
        }
        sketch.next()
    };
    assert_eq!(asked(&["denied"]), "settle 0 approval_denied");
    assert_eq!(asked(&["withdrawn"]), "settle 0 approval_withdrawn");
    assert_eq!(asked(&["granted", "withdrawn"]), "settle 0 approval_withdrawn");
    assert_eq!(asked(&["denied", "refused"]), "settle 0 approval_denied");
    assert_eq!(asked(&["granted", "refused"]), "run 0 (with apr-0)");
}

#[test]
fn a_decision_that_was_refused_decides_nothing() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).decided(0, "refused");
    assert_eq!(sketch.next(), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn a_question_that_is_too_late_goes_to_the_gate() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).pass(OPEN_FOR - 1);
    assert_eq!(sketch.next(), "stop: waiting_for_approval approval_required apr-0");
    assert_eq!(sketch.pass(1).next(), "run 0 (with apr-0)");
}

#[test]
fn what_this_driver_asked_is_not_asked_again_by_it() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).decided(0, "granted");
    assert_eq!(sketch.seen(&Seen::held(&[0])), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn nobody_waits_for_nothing() {
    // The first call's question ran out while the driver was at work, and with it the reason to hold the second.
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "look"]).asked(0).pass(OPEN_FOR).fails(0, Code::ApprovalExpired);
    assert_eq!(sketch.seen(&Seen::held(&[1])), "run 1");
}

#[test]
fn reads_do_not_pass_a_waiting_call() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "look", "look"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
}
