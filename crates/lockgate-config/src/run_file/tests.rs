use super::*;

fn parse(text: &str) -> Result<RunFile, ConfigError> {
    RunFile::parse(Path::new("run.toml"), text)
}

#[test]
fn an_empty_file_has_the_documented_defaults() {
    let file = parse("").unwrap();
    assert_eq!(file.budget.budget(), Budget::default());
    assert_eq!(file.subject.subject(), Subject::default());
    assert!(file.task.is_none() && file.model.is_none() && file.tools.allow.is_none());
}

#[test]
fn every_key_of_the_documented_run_file_is_known() {
    let file = parse(
        r#"
        task = "Who owns the service behind INC-001?"
        [model]
        provider = "scripted"
        script = "turns.json"
        [journal]
        url = "sqlite:.lockgate/journal.db"
        [subject]
        tenant = "demo"
        user = "alice"
        agent = "incident-helper"
        scopes = ["incident:read"]
        domains = ["support"]
        level = "write"
        versions = { create_ticket = "1.0" }
        [budget]
        max_steps = 20
        max_valid_actions = 50
        max_calls_per_turn = 32
        deadline = "10m"
        [gate]
        call_timeout = "30s"
        max_output_bytes = 65536
        argument_errors = "code"
        parallel_reads = 8
        on_unknown = "stop"
        repair = []
        unknown_fields = "as_declared"
        [policy]
        engine = "cedar"
        files = ["policies/*.cedar"]
        mode = "shadow"
        [[hook]]
        name = "till"
        when = "before"
        command = ["/usr/local/bin/till"]
        tools = ["create_ticket"]
        env = ["HOME"]
        timeout = "5s"
        [approvals]
        expires = "10m"
        [tools]
        core = ["read"]
        root = "."
        allow = ["lookup_incident", "create_ticket", "read_file"]
        catalog = ["tools.toml"]
        secrets_from_env = ["API_TOKEN"]
        [[tools.mock]]
        name = "create_ticket"
        version = "1.0"
        description = "Create a ticket."
        effect = "write"
        replay = "never"
        permission = "ask"
        completes_run = false
        on_duplicate = "run_each"
        error_text = "hidden"
        scopes = []
        timeout = "2s"
        input_schema = { type = "object", properties = { title = { type = "string" } }, required = ["title"], additionalProperties = false }
        output_schema = { type = "object" }
        behaviour = [{ returns = { id = "T-1" } }, { echoes = true }]
        count_file = "create_ticket.count"
        "#,
    )
    .unwrap();
    assert_eq!(file.tools.mock[0].name(), "create_ticket");
    let subject = file.subject.subject();
    assert_eq!(subject.source(), "subject:demo/alice/incident-helper");
    assert_eq!(subject.domains, ["support".to_owned()].into()); // R-133
    assert_eq!(subject.level, Effect::Write);
    assert_eq!(subject.versions, [("create_ticket".to_owned(), "1.0".to_owned())].into()); // R-133
}

#[test]
fn an_unknown_key_names_the_nearest_valid_one() {
    for (text, line, key, near) in [
        ("tasks = 'x'", 1, "tasks", "task"),
        ("\n[budget]\nmax_step = 3", 3, "max_step", "max_steps"),
        ("[gate]\ntimeout = '3s'", 2, "timeout", "call_timeout"),
        ("[tools]\nalow = []", 2, "alow", "allow"),
        ("[subject]\nversion = { create_ticket = '1.0' }", 2, "version", "versions"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(
            matches!(&error, ConfigError::UnknownKey { key: found, line: at, .. } if found == key && *at == line),
            "{error:?}"
        );
        assert!(error.hint().unwrap().contains(near), "{text}: {:?}", error.hint());
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for text in [
        "task = 3",
        "[budget]\nmax_steps = -1",
        "[budget]\ndeadline = 'soon'",
        "[gate]\nrepair = ['code_fence']",
        "[gate]\nparallel_reads = 0",
        "[model]\nprovider = 'telepathy'",
        "[tools]\ncore = ['root']",
        "[subject]\ndomains = 'support'",
        "[subject]\nversions = ['create_ticket']",
        "[subject]\nversions = { create_ticket = 1.0 }",
        "[subject]\nversions = { create_ticket = '1.0', create_ticket = '1.1' }",
        "task = 'a'\ntask = 'b'",
        "[[tools.mock]]\nname = 'x'\nbehaviour = [{ returns = 1, panics = 'x' }]\nnonsense = 1",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn rules_need_the_engine_that_reads_them() {
    assert_eq!(parse("[policy]\nengine = 'cedar'").unwrap().policy.mode, PolicyMode::Enforce);
    for (text, key) in [("files = ['a.cedar']", "policy.files"), ("engine = 'native'\nmode = 'shadow'", "policy.mode")]
    {
        let error = parse(&format!("[policy]\n{text}")).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
    let unknown = parse("[policy]\nengin = 'cedar'").unwrap_err();
    assert_eq!(unknown.hint().as_deref(), Some("did you mean `engine`?"));
    assert!(parse("[policy]\nengine = 'opa'").is_err());
}

#[test]
fn a_decision_point_answers_before_the_gate_gives_up() {
    let with = |policy: &str, gate: &str| {
        parse(&format!("[policy]\nengine = 'http'\nurl = 'http://127.0.0.1/'\n{policy}\n[gate]\n{gate}")).is_ok()
    };
    assert!(with("", "") && with("timeout = '29s'", "") && with("timeout = '30s'", "call_timeout = '31s'"));
    assert!(!with("timeout = '30s'", "") && !with("", "call_timeout = '2s'"));
    for key in ["url = 'http://127.0.0.1/'", "timeout = '1s'", "token_env = 'T'", "allow_insecure = true"] {
        assert!(parse(&format!("[policy]\n{key}")).unwrap_err().to_string().contains("policy.url"), "{key}");
    }
}
