use serde::de::DeserializeOwned;

use super::*;

/// What serde writes, what `word` says and what is displayed is one word, and it is read back.
fn check<T>(all: &[T], word: fn(T) -> &'static str, expected: &[&str])
where
    T: Copy + Ord + std::fmt::Debug + std::fmt::Display + Serialize + DeserializeOwned,
{
    assert_eq!(all.iter().map(|value| word(*value)).collect::<Vec<_>>(), expected);
    for value in all {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(text, format!("\"{}\"", word(*value)));
        assert_eq!(value.to_string(), word(*value));
        assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value);
        assert!(serde_json::from_str::<T>(&text.to_uppercase()).is_err());
    }
    assert!(all.is_sorted());
    assert!(serde_json::from_str::<T>("\"\"").is_err());
}

#[test]
fn every_word_is_written_and_read_as_it_is() {
    check(Effect::ALL, Effect::word, &["read", "write", "external"]);
    check(ReplayPolicy::ALL, ReplayPolicy::word, &["safe", "never"]);
    check(Permission::ALL, Permission::word, &["allow", "ask", "deny"]);
    check(EffectState::ALL, EffectState::word, &["none", "done", "unknown"]);
    check(OnDuplicate::ALL, OnDuplicate::word, &["run_each", "share_result", "reject"]);
    check(OnUnknown::ALL, OnUnknown::word, &["stop", "tell_model"]);
    check(ErrorText::ALL, ErrorText::word, &["hidden", "vouched"]);
    check(Deferral::ALL, Deferral::word, &["never", "eligible", "deferred"]);
    check(Idempotency::ALL, Idempotency::word, &["none", "declared", "provider"]);
}

#[test]
fn what_follows_from_an_effect() {
    for (effect, replay, permission, changes) in [
        (Effect::Read, ReplayPolicy::Safe, Permission::Allow, false),
        (Effect::Write, ReplayPolicy::Never, Permission::Ask, true),
        (Effect::External, ReplayPolicy::Never, Permission::Ask, true),
    ] {
        assert_eq!(effect.default_replay(), replay); // C-7, R-129
        assert_eq!(effect.default_permission(), permission);
        assert_eq!(effect.changes_something(), changes);
    }
}

#[test]
fn permissions_stand_from_lax_to_strict() {
    assert!(Permission::Allow < Permission::Ask && Permission::Ask < Permission::Deny); // C-11
}
