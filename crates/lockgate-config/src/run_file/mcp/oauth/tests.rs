use std::path::Path;

use super::super::super::RunFile;
use super::*;

fn parse(oauth: &str) -> Result<McpOauthTable, String> {
    let text = format!("[mcp.a]\nurl = 'https://a.example/mcp'\n[mcp.a.oauth]\n{oauth}");
    let file = RunFile::parse(Path::new("lockgate.toml"), &text);
    file.map(|file| file.mcp["a"].oauth.clone().unwrap())
        .map_err(|error| format!("{error} {}", error.hint().unwrap_or_default()))
}

#[test]
fn every_documented_key_is_known() {
    assert_eq!(parse(""), Ok(McpOauthTable::default()));
    let machine = parse(
        r#"
        grant = "token_exchange"
        issuer = "https://id.example"
        client_id = "robot"
        client_secret_env = "ROBOT_SECRET"
        subject_token_file = "/var/run/token"
        subject_token_type = "urn:ietf:params:oauth:token-type:jwt"
        audience = "a"
        private_addresses = true
        credentials = "keys.json"
        "#,
    )
    .unwrap();
    assert_eq!((machine.grant, machine.audience.as_deref()), (McpGrant::TokenExchange, Some("a")));
    let key = "grant = 'client_credentials'\nissuer = 'https://i'\nclient_id = 'r'\nprivate_key_env = 'KEY'";
    assert_eq!(parse(key).unwrap().private_key_env.as_deref(), Some("KEY"));
    assert!(parse("client_metadata_url = 'https://a.example/client.json'").is_ok());
    assert!(parse("grant = 'token_exchange'\nissuer = 'https://i'\nclient_id = 'r'\nsubject_token_env = 'T'").is_ok());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let known = "issuer = 'https://i'\nclient_id = 'r'\n";
    for (oauth, word) in [
        ("client_id = 'r'".to_owned(), "needs an `issuer`"),
        ("client_secret_env = 'S'".to_owned(), "belongs to a `client_id`"),
        (format!("{known}client_secret_env = 'S'\nprivate_key_env = 'K'"), "one or the other"),
        ("grant = 'client_credentials'".to_owned(), "needs a `client_id`"),
        (format!("{known}grant = 'client_credentials'"), "`client_secret_env` or `private_key_env`"),
        (format!("{known}grant = 'token_exchange'"), "`subject_token_env` or `subject_token_file`"),
        ("audience = 'x'".to_owned(), "are for `grant"),
        ("subject_token_env = 'T'".to_owned(), "are for `grant"),
        (format!("{known}client_secret_env = 'a secret'"), "no environment variable"),
        ("client_secret = 'hush'".to_owned(), "client_secret_env"),
        ("grant = 'password'".to_owned(), "password"),
    ] {
        let error = parse(&oauth).unwrap_err();
        assert!(error.contains(word), "{oauth}: {error}");
    }
}
