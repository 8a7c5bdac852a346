use super::*;

fn resolve(options: RemoteOptions, variables: &[(&str, &str)]) -> Result<Resolved, OptionsError> {
    options.resolve(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

fn at(base_url: &str) -> RemoteOptions {
    RemoteOptions { base_url: Some(base_url.to_owned()), ..RemoteOptions::new(Provider::OpenaiCompatible, "m") }
}

fn document(text: &str) -> Document {
    Document::parse(text, crate::wire::limits(text.len())).unwrap()
}

#[test]
fn the_options_come_before_the_environment_and_that_before_openai() {
    let key = ("OPENAI_API_KEY", "k");
    let local = ("OPENAI_BASE_URL", "http://localhost:11434/v1/");
    let endpoint = |options, variables: &[_]| resolve(options, variables).unwrap().base_url.to_string();
    assert_eq!(endpoint(at("https://example.org/api"), &[local]), "https://example.org/api");
    assert_eq!(endpoint(RemoteOptions::new(Provider::OpenaiCompatible, "m"), &[local]), "http://localhost:11434/v1/");
    assert_eq!(endpoint(RemoteOptions::new(Provider::OpenaiCompatible, "m"), &[key]), "https://api.openai.com/v1");
    assert_eq!(endpoint(at("http://127.0.0.1:8080"), &[]), "http://127.0.0.1:8080/");
}

#[test]
fn plain_http_stays_on_this_machine_unless_allowed() {
    for here in ["http://localhost/v1", "http://127.0.0.1:1/v1", "http://127.9.9.9/v1", "http://[::1]:8080/v1"] {
        resolve(at(here), &[]).unwrap();
    }
    for away in
        ["http://example.org/v1", "http://127.0.0.1.example.org/v1", "http://localhost.example.org", "http://10.0.0.1"]
    {
        assert!(matches!(resolve(at(away), &[]), Err(OptionsError::Insecure { .. })), "{away}");
        resolve(RemoteOptions { allow_insecure: true, ..at(away) }, &[]).unwrap();
    }
}

#[test]
fn a_base_url_that_is_not_plain_is_refused_without_repeating_it() {
    for base_url in [
        "ftp://a/v1",
        "https://user:hunter2@a/v1",
        "https://a/v1?key=hunter2",
        "https://a/#hunter2",
        "hunter2",
        "data:hunter2",
    ] {
        let error = resolve(at(base_url), &[]).unwrap_err();
        assert!(matches!(error, OptionsError::BaseUrl { .. }), "{base_url}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn a_key_is_needed_where_it_is_named_or_where_openai_answers() {
    let named = RemoteOptions { api_key_variable: Some("MY_KEY".to_owned()), ..at("http://localhost/v1") };
    assert_eq!(resolve(named.clone(), &[]).unwrap_err(), OptionsError::NoKey { variable: "MY_KEY".to_owned() });
    assert_eq!(
        resolve(named.clone(), &[("MY_KEY", " ")]).unwrap_err(),
        OptionsError::NoKey { variable: "MY_KEY".to_owned() }
    );
    assert!(resolve(named, &[("MY_KEY", "k\n")]).unwrap().api_key.is_some());
    assert!(matches!(
        resolve(RemoteOptions::new(Provider::OpenaiCompatible, "m"), &[]),
        Err(OptionsError::NoKey { .. })
    ));
    assert!(resolve(at("http://localhost/v1"), &[]).unwrap().api_key.is_none());
    let broken = resolve(at("http://localhost/v1"), &[("OPENAI_API_KEY", "a\nb")]).unwrap_err();
    assert!(matches!(broken, OptionsError::UnusableKey { .. }));
}

#[test]
fn a_key_does_not_show_itself() {
    let resolved = resolve(at("http://localhost/v1"), &[("OPENAI_API_KEY", "hunter2")]).unwrap();
    let key = resolved.api_key.clone().unwrap();
    assert!(!format!("{resolved:?} {key:?} {:?}", key.header()).contains("hunter2"));
    assert_eq!(key.hide_in("wrong key hunter2."), "wrong key [key hidden].");
    assert_eq!(key.header().to_str().unwrap(), "Bearer hunter2");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let options = || at("http://localhost/v1");
    let refused = |options| matches!(resolve(options, &[]), Err(OptionsError::OutOfRange { .. }));
    assert!(refused(RemoteOptions { timeout: Duration::ZERO, ..options() }));
    assert!(refused(RemoteOptions { max_response_bytes: 0, ..options() }));
    assert!(refused(RemoteOptions { temperature: Some(f64::NAN), ..options() }));
    assert!(refused(RemoteOptions { temperature: Some(-1.0), ..options() }));
    assert!(matches!(resolve(RemoteOptions { model: String::new(), ..options() }, &[]), Err(OptionsError::NoModel)));
}

#[test]
fn an_extra_body_adds_and_never_overrides() {
    let with = |text: &str, temperature: Option<f64>| {
        resolve(RemoteOptions { extra_body: Some(document(text)), temperature, ..at("http://localhost/v1") }, &[])
    };
    let members = with(r#"{"seed": 90071992547409931234, "tool_choice": "required"}"#, None).unwrap().extra_body;
    let members: Vec<_> = members.iter().map(|(key, value)| (key.as_str(), value.text())).collect();
    assert_eq!(members, [("seed", "90071992547409931234"), ("tool_choice", "\"required\"")]);
    for own in ["model", "messages", "tools", "stream", "n"] {
        let error = with(&format!("{{\"{own}\": 1}}"), None).unwrap_err();
        assert_eq!(error.to_string(), format!("the extra body has `{own}`, which the adapter writes itself"));
    }
    assert!(with(r#"{"temperature": 1}"#, None).is_ok());
    assert!(with(r#"{"temperature": 1}"#, Some(0.5)).is_err());
    assert!(with("[]", None).is_err());
}

#[test]
fn settings_of_an_extra_body_stand_beside_the_adapters() {
    let with = |provider, text: &str, temperature| {
        let base_url = Some("http://localhost".to_owned());
        let new = RemoteOptions::new(provider, "m");
        resolve(RemoteOptions { extra_body: Some(document(text)), temperature, base_url, ..new }, &[])
    };
    let settings = |provider, text: &str| {
        let settings = with(provider, text, Some(0.5)).unwrap().settings().unwrap();
        settings.iter().map(|(key, value)| format!("{key}={}", value.text())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(settings(Provider::Gemini, r#"{"generationConfig": {"topK": 1}}"#), "temperature=0.5 topK=1");
    assert_eq!(settings(Provider::Ollama, r#"{"options": {"num_predict": 9}}"#), "temperature=0.5 num_predict=9");
    assert_eq!(settings(Provider::OpenaiCompatible, r#"{"options": {}}"#), "");
    let error = with(Provider::Ollama, r#"{"options": {"temperature": 1}}"#, Some(0.5)).unwrap_err();
    assert_eq!(error.to_string(), "the extra body has `options.temperature`, which the adapter writes itself");
    assert!(with(Provider::Ollama, r#"{"options": {"temperature": 1}}"#, None).is_ok());
    assert!(with(Provider::Gemini, r#"{"generationConfig": 1}"#, None).is_err());
    assert!(with(Provider::Gemini, r#"{"contents": []}"#, None).is_err());
    let described = RemoteOptions { tools: ToolCalls::JsonSchema, ..at("http://localhost/v1") };
    let form = document(r#"{"response_format": {"type": "text"}}"#);
    assert!(resolve(RemoteOptions { extra_body: Some(form), ..described }, &[]).is_err());
}
