#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fmt;

use super::*;

#[derive(Debug)]
struct Layer(&'static str, Option<Box<Layer>>);

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Layer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|layer| layer as _)
    }
}

fn bug(failure: Failure) -> String {
    match failure {
        Failure::Bug { text } => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_ordinary_error_is_a_bug_with_its_whole_chain() {
    fn fails() -> Result<(), Failure> {
        let layers = Layer("cannot load", Some(Box::new(Layer("cannot read", Some(Box::new(Layer("no disk", None)))))));
        Err(layers)?;
        Ok(())
    }
    fn parses() -> Result<i32, Failure> {
        Ok("x".parse::<i32>()?)
    }
    assert_eq!(bug(fails().unwrap_err()), "cannot load: cannot read: no disk");
    assert_eq!(bug(parses().unwrap_err()), "invalid digit found in string");
    assert_eq!(bug(Failure::bug("in words")), "in words");
}

#[test]
fn a_business_failure_keeps_all_that_the_tool_said() {
    fn fails() -> Result<(), Failure> {
        Err(ToolExecutionError::new("quota_exceeded", "No more today.")
            .retryable(true)
            .effect_state(EffectState::Unknown))?;
        Ok(())
    }
    match fails().unwrap_err() {
        Failure::Business { code, message, retryable, effect_state, .. } => {
            //
            assert_eq!((code.word(), message.as_str()), ("quota_exceeded", "No more today."));
            assert_eq!((retryable, effect_state), (true, EffectState::Unknown));
        }
        other => panic!("{other:?}"),
    }
    match Failure::from(ToolExecutionError::new("not_found", "")) {
        Failure::Business { retryable, effect_state, .. } => {
            assert_eq!((retryable, effect_state), (false, EffectState::None));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_code_that_is_not_the_tools_own_is_a_bug() {
    for (code, complaint) in [
        ("timed_out", "`timed_out` is one of Lockgate's own codes: choose another word"),
        ("outcome_unknown", "`outcome_unknown` is one of Lockgate's own codes: choose another word"),
        ("", "`` is not a code: use lower-case letters, digits and `_`, a letter first, at most 64"),
        ("Quota", "`Quota` is not a code: use lower-case letters, digits and `_`, a letter first, at most 64"),
    ] {
        let text = bug(ToolExecutionError::new(code, "No more.").into());
        assert_eq!(text, format!("{complaint}; its message was: No more."));
    }
}

#[test]
fn a_broken_environment_vouches_for_nothing_unless_it_says_so() {
    for (error, vouched) in [
        (ToolEnvironmentError::new("the server is down"), false),
        (ToolEnvironmentError::new("the server is down").nothing_happened(), true),
    ] {
        match Failure::from(error) {
            Failure::Environment { message, nothing_happened } => {
                assert_eq!((message.as_str(), nothing_happened), ("the server is down", vouched));
            }
            other => panic!("{other:?}"),
        }
    }
}
