use super::*;

fn key(tenant: &str, call: &str) -> String {
    let subject = Subject { tenant: tenant.to_owned(), ..Subject::default() };
    IdempotencyKey::new(Arc::new(subject), CallId::new(call)).to_string()
}

#[test]
fn a_key_belongs_to_one_call_of_one_tenant() {
    assert_eq!(key("acme", "run-1:step-0:call-0"), key("acme", "run-1:step-0:call-0"));
    assert_ne!(key("acme", "run-1:step-0:call-0"), key("acme", "run-1:step-0:call-1"));
    assert_ne!(key("acme", "run-1:step-0:call-0"), key("other", "run-1:step-0:call-0"));
    // The tenant's end is told, so that no other pair reads alike.
    assert_ne!(key("ab", "c"), key("a", "bc")); // C-16
}

#[test]
fn a_key_is_written_as_providers_take_it() {
    let text = key("acme", "run-1:step-0:call-0");
    let digits = text.strip_prefix("lg-").unwrap();
    assert!(digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    let given = IdempotencyKey::new(Arc::default(), CallId::new("secret-call"));
    assert!(!format!("{given:?}").contains("secret-call"));
}

#[test]
fn a_further_attempt_has_the_key_that_was_written() {
    let written = key("acme", "run-1:step-0:call-0");
    assert_eq!(IdempotencyKey::of_attempt(Arc::default(), written.as_str()).to_string(), written);
}
