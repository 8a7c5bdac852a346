use super::*;

fn resolve(url: &str, allow_insecure: bool) -> Result<String, DecisionPointError> {
    let options = DecisionPointOptions { allow_insecure, ..DecisionPointOptions::new(url) };
    options.resolve(|_| None).map(|(url, ..)| url.into())
}

#[test]
fn where_a_decision_point_may_be() {
    for url in [
        "http://127.0.0.1:8181/v1/data/lockgate/decision",
        "http://localhost/x?strict-builtin-errors=true",
        "http://[::1]:1/x",
        "https://policy.example/v1/data/lockgate",
    ] {
        assert_eq!(resolve(url, false).as_deref(), Ok(url));
    }
    let insecure = Err(DecisionPointError::Insecure("policy.example".to_owned()));
    assert_eq!(resolve("http://policy.example/x", false), insecure);
    assert_eq!(resolve("http://policy.example/x", true).as_deref(), Ok("http://policy.example/x"));
    for url in [
        "",
        "policy",
        "ftp://policy.example/",
        "unix:/run/opa",
        "https://user@x/",
        "https://:hunter22@x/",
        "https://x/#y",
    ] {
        let error = resolve(url, true).unwrap_err();
        assert!(matches!(error, DecisionPointError::Url(_)), "{url}: {error:?}");
        assert!(!error.to_string().contains("hunter22") && error.hint().is_some());
    }
}

#[test]
fn a_token_that_is_named_is_there_and_does_not_show() {
    let with = |value: Option<&str>| {
        let value = value.map(str::to_owned);
        let options = DecisionPointOptions {
            token_variable: Some("OPA_TOKEN".to_owned()),
            ..DecisionPointOptions::new("http://127.0.0.1/x")
        };
        options.resolve(move |name| value.clone().filter(|_| name == "OPA_TOKEN"))
    };
    let (.., token) = with(Some(" hunter22 ")).unwrap();
    assert_eq!(token.as_ref().unwrap(), "Bearer hunter22");
    assert!(!format!("{token:?}").contains("hunter22"));
    for value in [None, Some(""), Some("  "), Some("two\nlines")] {
        assert_eq!(with(value).unwrap_err(), DecisionPointError::Token("OPA_TOKEN".to_owned()));
    }
}

#[test]
fn no_time_is_no_time_to_answer() {
    let options = DecisionPointOptions { timeout: Duration::ZERO, ..DecisionPointOptions::new("http://127.0.0.1/") };
    assert_eq!(options.resolve(|_| None).unwrap_err(), DecisionPointError::Timeout);
}
