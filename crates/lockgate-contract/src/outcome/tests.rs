#![expect(clippy::unwrap_used, reason = "tests")]

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
