use super::*;
use crate::effect::{Effect, EffectState};

#[test]
fn the_table_stands_in_the_order_of_the_enum() {
    for (index, row) in TABLE.iter().enumerate() {
        assert_eq!(row.code as usize, index, "{}", row.word);
        assert_eq!(Code::from_word(row.word), Some(row.code));
        assert_eq!(row.word.parse::<Outcome>().unwrap(), Outcome::Gate(row.code));
    }
}

#[test]
fn model_texts_are_plain_sentences() {
    for row in TABLE {
        assert!(row.model_text.ends_with('.'), "{}", row.word);
        assert!(!row.model_text.contains(['`', '/', '{', '\n']), "{}", row.word);
    }
}

#[test]
fn a_tool_cannot_take_a_word_of_the_table() {
    assert!(matches!(ToolCode::new("timed_out"), Err(InvalidToolCode::Reserved(_))));
    for bad in ["", "Quota", "9lives", "a-b", "a b", "ä", "_x"] {
        assert!(matches!(ToolCode::new(bad), Err(InvalidToolCode::Form(_))), "{bad}");
    }
    assert_eq!(ToolCode::new("quota_exceeded").unwrap().word(), "quota_exceeded");
}

#[test]
fn reads_never_leave_an_unknown_effect_behind() {
    for row in TABLE {
        let state = row.effect.state(Effect::Read, true);
        if row.effect != EffectRule::Unknown {
            assert_ne!(state, EffectState::Unknown, "{}", row.word);
        }
    }
    assert_eq!(EffectRule::ByProgress.state(Effect::Write, false), EffectState::None);
    assert_eq!(EffectRule::ByProgress.state(Effect::Write, true), EffectState::Unknown);
}

/// `outcomes.md`, row by row: code, stage, status, effect after a read, a write that did not start, a write that did,
/// and advice to retry after each of the three.
#[test]
fn the_published_table() {
    const NO: [bool; 3] = [false; 3];
    const YES: [bool; 3] = [true; 3];
    let expected = [
        ("wrong_action_language", "proposed", "NOT_EXECUTED", ["none"; 3], NO),
        ("unknown_tool", "resolved", "NOT_EXECUTED", ["none"; 3], NO),
        ("definition_changed", "resolved", "NOT_EXECUTED", ["none"; 3], NO),
        ("tool_not_loaded", "resolved", "NOT_EXECUTED", ["none"; 3], YES),
        ("invalid_arguments", "proposed, validated", "NOT_EXECUTED", ["none"; 3], YES),
        ("rejected_by_tool", "authorized", "NOT_EXECUTED", ["none"; 3], NO),
        ("limit_reached", "authorized", "NOT_EXECUTED", ["none"; 3], NO),
        ("policy_denied", "authorized", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_required", "authorized", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_denied", "authorized, recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_expired", "authorized, recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_withdrawn", "authorized, recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_stale", "authorized, recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("approval_used", "authorized, recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("sandbox_unavailable", "recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("storage_unavailable", "recorded", "NOT_EXECUTED", ["none"; 3], YES),
        ("idempotency_conflict", "recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("in_progress", "recorded", "NOT_EXECUTED", ["none"; 3], YES),
        ("duplicate_call", "recorded", "NOT_EXECUTED", ["none"; 3], NO),
        ("blocked", "harness", "NOT_EXECUTED", ["none"; 3], NO),
        ("cancelled", "before the run stage", "NOT_EXECUTED", ["none"; 3], NO),
        ("interrupted", "ran", "EXECUTED", ["none", "unknown", "unknown"], NO),
        ("result_not_recorded", "released", "EXECUTED", ["done"; 3], NO),
        ("gate_internal_error", "any", "NOT_EXECUTED", ["none", "none", "unknown"], NO),
        ("environment_error", "ran", "ENV_ERROR", ["none", "unknown", "unknown"], [true, false, false]),
        ("timed_out", "ran", "EXECUTED", ["none", "unknown", "unknown"], [true, false, false]),
        ("tool_internal_error", "ran", "EXECUTED", ["none", "unknown", "unknown"], NO),
        ("invalid_tool_output", "checked", "EXECUTED", ["done"; 3], NO),
        ("outcome_unknown", "ran, recovery", "EXECUTED", ["unknown"; 3], NO),
    ];
    let table: Vec<_> = TABLE
        .iter()
        .map(|row| {
            let states = [(Effect::Read, true), (Effect::Write, false), (Effect::Write, true)]
                .map(|(effect, started)| row.effect.state(effect, started));
            let retry = states.map(|state| row.retry.advises(state));
            (row.word, row.stage, row.status.word(), states.map(EffectState::word), retry)
        })
        .collect();
    assert_eq!(table, expected); // R-095, C-9
    for row in TABLE {
        // What reaches beyond the installation is never known better than a write.
        for started in [false, true] {
            assert_eq!(row.effect.state(Effect::External, started), row.effect.state(Effect::Write, started));
        }
    }
}

#[test]
fn words_and_sentences_are_told_apart() {
    let words: std::collections::BTreeSet<_> = TABLE.iter().map(|row| row.word).collect();
    let sentences: std::collections::BTreeSet<_> = TABLE.iter().map(|row| row.model_text).collect();
    assert_eq!((words.len(), sentences.len()), (TABLE.len(), TABLE.len()));
    for row in TABLE {
        assert!(ToolCode::new(row.word).is_err(), "{}", row.word);
        assert_eq!(row.code.to_string(), row.word);
        assert!(!row.meaning.is_empty() && !row.remedy.is_empty() && !row.effect.words().is_empty());
        assert!(!row.retry.words().is_empty());
    }
}

#[test]
fn hidden_tools_look_like_absent_ones() {
    // R-068, C-5: one code, and one sentence that does not say which.
    let text = Code::UnknownTool.row().model_text;
    for leak in ["registered", "allowed", "revoked", "hidden", "exist"] {
        assert!(!text.contains(leak), "{leak}");
    }
}

#[test]
fn codes_travel_as_their_words() {
    for word in ["timed_out", "quota_exceeded", "a", "a_1"] {
        let text = format!("\"{word}\"");
        let outcome: Outcome = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
        assert_eq!((outcome.word(), outcome.to_string().as_str()), (word, word));
        assert_eq!(outcome.is(Code::TimedOut), word == "timed_out");
    }
    for bad in ["", "Timed_Out", "timed out", "1"] {
        assert!(serde_json::from_str::<Outcome>(&format!("\"{bad}\"")).is_err(), "{bad}");
    }
    assert_eq!(ToolCode::new("a".repeat(64)).unwrap().word().len(), 64);
    assert!(ToolCode::new("a".repeat(65)).is_err());
}

#[test]
fn statuses_travel_as_their_words() {
    for (status, word) in
        [(Status::Executed, "EXECUTED"), (Status::NotExecuted, "NOT_EXECUTED"), (Status::EnvError, "ENV_ERROR")]
    {
        let text = serde_json::to_string(&status).unwrap();
        assert_eq!((text.as_str(), status.word(), status.to_string().as_str()), (&*format!("\"{word}\""), word, word));
        assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status);
    }
}
