use quote::quote;
use syn::parse_str;

use super::Options;

/// What an attribute makes of the builder, as text without spaces.
fn calls(attribute: &str) -> String {
    let options: Options = parse_str(attribute).unwrap();
    options.builder_calls(&quote!(p)).to_string().replace(' ', "")
}

fn refusal(attribute: &str) -> String {
    parse_str::<Options>(attribute).err().unwrap().to_string()
}

#[test]
fn an_empty_attribute_says_nothing() {
    assert_eq!(calls(""), "");
    assert_eq!(calls("scopes(), completes_run = false,"), "");
}

#[test]
fn a_word_may_be_bare_or_a_text() {
    assert_eq!(calls("effect = read"), ".effect(p::Effect::Read)");
    assert_eq!(calls(r#"effect = "read""#), calls("effect = read"));
}

#[test]
fn texts_may_be_listed_in_both_ways() {
    let listed = calls(r#"scopes("a", "b",)"#);
    assert_eq!(listed, r#".scopes(["a","b"])"#);
    assert_eq!(calls(r#"scopes = ["a", "b"]"#), listed);
    assert_eq!(calls(r#"resource_keys = "a""#), r#".resource_keys(["a"])"#);
}

#[test]
fn times_have_units() {
    for (text, milliseconds) in [("500ms", 500), ("2s", 2_000), ("5m", 300_000), ("1h", 3_600_000)] {
        assert_eq!(
            calls(&format!(r#"timeout = "{text}""#)),
            format!(".timeout(::core::time::Duration::from_millis({milliseconds}u64))")
        );
    }
    assert_eq!(
        calls(r#"idempotency_window = "1h""#),
        ".idempotency_window(::core::time::Duration::from_millis(3600000u64))"
    );
    for text in ["", "2", "s", "0s", "-1s", "1.5s", "2 s", "2d", "18446744073709551615h"] {
        assert!(refusal(&format!(r#"timeout = "{text}""#)).contains("is no time-out"), "{text}");
    }
}

#[test]
fn paths_are_handed_on() {
    assert_eq!(
        calls("pre_check = a, harmless_when = b::c, reconcile = d, binds_files = e"),
        ".pre_check(a).harmless_when(b::c).reconcile(d).binds_files(e)"
    );
}

#[test]
fn safe_to_repeat_declares_idempotency_only_where_something_changes() {
    assert!(calls("replay = safe").contains(".idempotency(p::Idempotency::Declared)"));
    assert!(calls("replay = safe, effect = write").contains(".idempotency(p::Idempotency::Declared)"));
    assert!(!calls("replay = safe, effect = read").contains("idempotency"));
    assert!(calls("replay = safe, idempotency = provider").contains(".idempotency(p::Idempotency::Provider)"));
    assert!(!calls("replay = never").contains("idempotency"));
    assert!(refusal("replay = safe, idempotency = none").contains("only `safe` to repeat if it is idempotent"));
}
