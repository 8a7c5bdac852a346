use std::path::Path;

use super::super::RunFile;
use super::*;

fn parse(text: &str) -> Result<BTreeMap<String, McpTable>, String> {
    let file = RunFile::parse(Path::new("lockgate.toml"), text);
    file.map(|file| file.mcp).map_err(|error| format!("{error} {}", error.hint().unwrap_or_default()))
}

#[test]
fn every_documented_key_is_known() {
    let tables = parse(
        r#"
        [mcp.files]
        command = ["npx", "-y", "server-filesystem", "/srv"]
        env = ["LANG"]
        env_set = { TOKEN = "${FILES_TOKEN}", LEVEL = "debug" }
        folder = "work"
        era = "legacy"
        version = "1.2.3"
        prefix = "f"
        allow = ["read_*"]
        hide = ["read_secret"]
        effect = "read"
        permission = "ask"
        replay = "safe"
        scopes = ["files"]
        timeout = "60s"
        idle_timeout = "10s"
        required = true
        start_timeout = "5s"
        restarts = 3
        relay = ["elicitation", "sampling", "roots"]
        idempotency_argument = "request_id"
        [mcp.files.tool."write.file"]
        effect = "write"
        permission = "deny"
        replay = "never"
        scopes = ["files:write"]
        timeout = "5s"
        version = "2.0"
        [mcp.hub]
        url = "https://hub.example.com/mcp"
        headers_env = { "X-Team" = "TEAM" }
        bearer_env_by_user = { "acme/alice" = "ALICE_HUB" }
        "#,
    )
    .unwrap();
    let files = &tables["files"];
    assert_eq!((files.prefix("files"), files.start_timeout(), files.restarts()), ("f", Duration::from_secs(5), 3));
    assert!(files.relays(McpRelay::Sampling));
    assert_eq!(files.tool["write.file"].effect, Some(Effect::Write));
    let hub = &tables["hub"];
    assert_eq!((hub.prefix("hub"), hub.start_timeout(), hub.restarts()), ("hub", Duration::from_secs(30), 10));
    assert!(hub.relays(McpRelay::Elicitation) && !hub.relays(McpRelay::Sampling) && !hub.relays(McpRelay::Roots));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (text, word) in [
        ("[mcp.a]", "`command` or a `url`"),
        ("[mcp.a]\ncommand = ['x']\nurl = 'https://x'", "one or the other"),
        ("[mcp.a]\ncommand = []", "names no program"),
        ("[mcp.a]\ncommand = ['x']\nbearer_env = 'T'", "for a `url`"),
        ("[mcp.a]\nurl = 'https://x'\nfolder = 'y'", "for a `command`"),
        ("[mcp.a]\nurl = 'http://example.com'", "plain http"),
        ("[mcp.a]\nurl = 'http://localhost.example.com'", "plain http"),
        ("[mcp.a]\nurl = 'ftp://x'", "neither"),
        ("[mcp.a]\nurl = 'https://me:secret@x'", "bearer_env"),
        ("[mcp.a]\nurl = 'https://x'\nbearer_env_by_user = { alice = 'U' }", "TENANT/USER"),
        ("[mcp.a]\nurl = 'https://x'\nheaders_env = { authorization = 'T' }", "bearer_env"),
        ("[mcp.a]\nurl = 'https://x'\nbearer_env = 'Bearer abc'", "no environment variable"),
        ("[mcp.a]\ncommand = ['x']\nenv_set = { A = '${B' }", "no `}`"),
        ("[mcp.a]\ncommand = ['x']\nenv_set = { A = '${b c}' }", "names no"),
        ("[mcp.a]\ncommand = ['x']\nenv_set = { 'A=B' = 'c' }", "no variable's name"),
        ("[mcp.a]\ncommand = ['x']\ntimeout = '0s'", "is zero"),
        ("[mcp.a]\ncommand = ['x']\ntimeout = '1s'\nidle_timeout = '2s'", "longer"),
        ("[mcp.a]\ncommand = ['x']\nreplay = 'safe'", "idempotency"),
        ("[mcp.a]\ncommand = ['x']\n[mcp.a.tool.b]\nreplay = 'safe'", "idempotency"),
        ("[mcp.a__b]\ncommand = ['x']", "no name"),
        ("[mcp.a_]\ncommand = ['x']", "no name"),
        ("[mcp.'a.b']\ncommand = ['x']", "no name"),
        ("[mcp.a]\ncommand = ['x']\nprefix = 'p__'", "prefix"),
        ("[mcp.a]\ncomand = ['x']", "did you mean `command`"),
        ("[mcp.a]\ncommand = ['x']\n[mcp.a.tool.b]\nefect = 'read'", "did you mean `effect`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn prefixes_tell_servers_apart() {
    let one = "[mcp.a]\ncommand = ['x']\nprefix = ''\n";
    assert!(parse(one).is_ok());
    assert!(parse(&format!("{one}[mcp.b]\ncommand = ['x']")).unwrap_err().contains("single server"));
    let clash = parse("[mcp.a]\ncommand = ['x']\nprefix = 'b'\n[mcp.b]\ncommand = ['x']").unwrap_err();
    assert!(clash.contains("`mcp.a` and `mcp.b`") && clash.contains("clash"), "{clash}");
}

#[test]
fn values_refer_to_variables() {
    assert_eq!(pieces("${A}").unwrap(), [Piece::Variable("A")]);
    assert_eq!(
        pieces("x${A}y${B_1}").unwrap(),
        [Piece::Text("x"), Piece::Variable("A"), Piece::Text("y"), Piece::Variable("B_1")]
    );
    assert_eq!(pieces("$A").unwrap(), [Piece::Text("$A")]);
    assert!(pieces("${}").is_err() && pieces("${1}").is_err() && pieces("${A:-b}").is_err());
}
