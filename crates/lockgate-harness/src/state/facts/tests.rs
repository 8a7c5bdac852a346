use lockgate_contract::run::{RunFacts, RunKind};

use crate::sketch::Sketch;

#[test]
fn what_was_started_is_counted_but_for_the_call_itself() {
    let mut sketch = Sketch::within(|budget| (budget.max_steps, budget.max_valid_actions) = (5, 10));
    sketch.turn(&["look", "pay", "note", "pay"]).started(0).ok(0).started(1).asked(2).started(3);
    let state = sketch.state();
    let facts = RunFacts {
        calls: 2,
        actions: 1,
        questions: 1,
        steps_left: Some(4),
        // Only what has its result used something up.
        actions_left: Some(9),
        questions_left: None,
    };
    // Two were started beside each of these, and one of the two changes something.
    assert_eq!([state.facts(&sketch.call(1)), state.facts(&sketch.call(3))], [facts, facts]);
    let others = RunFacts { calls: 3, actions: 2, ..facts };
    assert_eq!(state.facts(&sketch.call(2)), others);
    // A further attempt is no further call.
    sketch.attempted(1, 2);
    assert_eq!(sketch.state().facts(&sketch.call(2)), others);
}

#[test]
fn what_is_left_is_what_the_budget_bounds() {
    let mut asked = Sketch::within(|budget| budget.max_questions = Some(1));
    asked.turn(&["pay", "note"]).asked(0).asked(1);
    let facts = asked.state().facts(&asked.call(0));
    assert_eq!((facts.questions, facts.questions_left), (2, Some(0)));
    let mut direct = Sketch::with(|start| start.kind = RunKind::Direct);
    direct.turn(&["pay"]).asked(0);
    let facts = direct.state().facts(&direct.call(0));
    assert_eq!(facts, RunFacts { questions: 1, ..RunFacts::default() });
}
