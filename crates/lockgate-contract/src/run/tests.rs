use serde::de::DeserializeOwned;

use super::*;

/// The word that serde writes, which must be read back as the same value.
fn word<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value);
    text.trim_matches('"').to_owned()
}

#[test]
fn stop_states_are_the_closed_set() {
    let states = [
        (RunStatus::Completed, "completed"),
        (RunStatus::LimitReached, "limit_reached"),
        (RunStatus::WaitingForApproval, "waiting_for_approval"),
        (RunStatus::NeedsReconciliation, "needs_reconciliation"),
        (RunStatus::Failed, "failed"),
        (RunStatus::Cancelled, "cancelled"),
    ];
    for (status, expected) in states {
        assert_eq!(
            (word(&status).as_str(), status.word(), status.to_string().as_str()),
            (expected, expected, expected)
        ); // R-198
    }
    assert!(serde_json::from_str::<RunStatus>("\"done\"").is_err());
}

#[test]
fn limits_kinds_and_channels_have_their_words() {
    for (limit, expected) in [
        (Limit::MaxSteps, "max_steps"),
        (Limit::MaxValidActions, "max_valid_actions"),
        (Limit::MaxCallsPerTurn, "max_calls_per_turn"),
        (Limit::Deadline, "deadline"),
    ] {
        assert_eq!((word(&limit).as_str(), limit.word(), limit.to_string().as_str()), (expected, expected, expected));
    }
    for (reason, expected) in [
        (Completion::FinalAnswer, "final_answer"),
        (Completion::GoalReached, "goal_reached"),
        (Completion::CallSettled, "call_settled"),
    ] {
        assert_eq!(
            (word(&reason).as_str(), reason.word(), reason.to_string().as_str()),
            (expected, expected, expected)
        );
    }
    assert_eq!([word(&RunKind::Agent), word(&RunKind::Direct)], ["agent", "direct"]);
    // R-115: two channels, two words.
    assert_eq!([word(&CompletedBy::Agent), word(&CompletedBy::Environment)], ["agent", "environment"]);
}

#[test]
fn a_budget_that_is_partly_given_is_completed() {
    let budget: Budget = serde_json::from_str(r#"{"max_steps":3,"deadline_ms":1500}"#).unwrap();
    assert_eq!(budget, Budget { max_steps: 3, deadline_ms: 1500, ..Budget::default() });
    assert_eq!(budget.deadline(), Duration::from_millis(1500));
    // R-119, R-122: steps and valid actions are two limits, and neither is endless.
    let Budget { max_steps, max_valid_actions, max_calls_per_turn, deadline_ms, .. } = Budget::default();
    assert!(max_steps > 0 && max_valid_actions > 0 && max_calls_per_turn > 0 && deadline_ms > 0);
}

#[test]
fn a_binding_of_an_older_journal_repeats_nothing_and_runs_nothing_side_by_side() {
    let binding: RunBinding =
        serde_json::from_str(r#"{"allowed":{"source":"s","tools":{}},"completes_run":["finish"]}"#).unwrap();
    assert!(binding.reads.is_empty() && binding.replayable.is_empty()); // R-128
    let text = serde_json::to_string(&binding).unwrap();
    assert_eq!(serde_json::from_str::<RunBinding>(&text).unwrap(), binding);
}
