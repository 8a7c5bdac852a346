use super::*;

fn one(text: &str) -> (String, NewServer, Vec<String>) {
    let mut imported = import_servers(text).unwrap();
    let (name, server) = imported.servers.pop().unwrap();
    assert!(imported.servers.is_empty());
    (name, server, imported.notes)
}

#[test]
fn a_program_s_secrets_become_references() {
    // github/gh-aw#50772, punkpeye/mcp-remote#268: secrets stood in files and logs.
    let text = r#"{"mcpServers":{"github":{"command":"npx","args":["-y","server-github"],"cwd":"/srv",
        "env":{"GITHUB_TOKEN":"ghp_0123456789abcdefghij","LOG_LEVEL":"debug","HOST":"${env:GH_HOST}","ROOT":"/srv/data/of/the/team","BLOB":"a1B2c3D4e5F6g7H8i9"}}}}"#;
    let (name, server, notes) = one(text);
    assert_eq!((name.as_str(), server.folder.as_deref()), ("github", Some("/srv")));
    assert_eq!(server.command.unwrap(), ["npx", "-y", "server-github"]);
    let set: Vec<_> = server.env_set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(
        set,
        [
            ("BLOB", "${BLOB}"),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}"),
            ("HOST", "${GH_HOST}"),
            ("LOG_LEVEL", "debug"),
            ("ROOT", "/srv/data/of/the/team"),
        ]
    );
    assert!(!format!("{server:?}{notes:?}", server = server.env_set).contains("ghp_"));
    assert!(notes.iter().any(|note| note.contains("set the environment variable `GITHUB_TOKEN`")), "{notes:?}");
}

#[test]
fn an_address_s_headers_become_references() {
    let text = r#"{"servers":{"my.hub":{"type":"http","url":"https://hub.example.com/mcp",
        "headers":{"Authorization":"Bearer ${input:hub-token}","X-Team":"seven","Cookie":"${env:HUB_COOKIE}"}}},"inputs":[]}"#;
    let (name, server, notes) = one(text);
    assert_eq!((name.as_str(), server.url.as_deref()), ("my-hub", Some("https://hub.example.com/mcp")));
    assert_eq!(server.bearer_env.as_deref(), Some("HUB_TOKEN"));
    assert_eq!(server.headers_env["X-Team"], "MY_HUB_X_TEAM");
    assert_eq!(server.headers_env["Cookie"], "HUB_COOKIE");
    assert!(notes[0].contains("was called `my.hub`"), "{notes:?}");
}

#[test]
fn what_cannot_be_taken_over_is_said() {
    for (server, word) in [
        (r#"{"command":"x","args":["--api-key","abc"]}"#, "looks like a secret"),
        (r#"{"command":"x","args":["--token=abc"]}"#, "looks like a secret"),
        (r#"{"command":"x","args":["${env:HOME}/a"]}"#, "refers to something"),
        (r#"{"url":"https://me:pw@x"}"#, "password"),
        (r#"{"type":"http"}"#, "neither"),
        (r#"{"command":"x","disabled":true}"#, "switched off"),
        ("3", "no object"),
    ] {
        let imported = import_servers(&format!(r#"{{"mcpServers":{{"a":{server}}}}}"#)).unwrap();
        assert!(imported.servers.is_empty(), "{server}");
        assert!(imported.notes.len() == 1 && imported.notes[0].contains(word), "{server}: {:?}", imported.notes);
    }
    let text = r#"{"mcpServers":{"a":{"command":"x","autoApprove":["*"],"envFile":".env"}}}"#;
    let (_, _, notes) = one(text);
    assert!(notes.iter().any(|note| note.contains("autoApprove") && note.contains("permission")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("envFile")), "{notes:?}");
    assert!(import_servers("{}").is_err() && import_servers("{ // no\n}").is_err());
}
