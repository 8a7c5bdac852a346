//! Servers that say back what they were given to know who calls: nobody hears it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::client::post;
use crate::gateway::{Gateway, wait_for};

/// A server that wants a token, and the issuer of its tokens: each is good for three requests, and over at once.
struct Echo {
    origin: String,
    given: Arc<AtomicUsize>,
}

/// The token of this number. It has no form that gives it away.
fn token(number: usize) -> String {
    format!("plain words of number {number:03}").replace(' ', ".")
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (given, used) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let echo = Self { origin: origin.clone(), given: Arc::clone(&given) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (origin, given, used) = (origin.clone(), Arc::clone(&given), Arc::clone(&used));
                std::thread::spawn(move || answer(stream, &origin, &given, &used));
            }
        });
        echo
    }
}

/// Answers one request, and closes.
fn answer(stream: TcpStream, origin: &str, given: &AtomicUsize, used: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut bearer, mut length) = (String::new(), None, 0);
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.trim().split_once(": ").unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "authorization" => bearer = value.strip_prefix("Bearer ").map(str::to_owned),
            "content-length" => length = value.parse().unwrap_or_default(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let (head, text) = match path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => json_of(&json!({
            "resource": format!("{origin}/mcp"), "authorization_servers": [origin]
        })),
        "/.well-known/oauth-authorization-server" => json_of(&json!({
            "issuer": origin, "token_endpoint": format!("{origin}/token"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        })),
        "/token" => {
            used.store(0, Ordering::SeqCst);
            let number = given.fetch_add(1, Ordering::SeqCst) + 1;
            json_of(&json!({ "access_token": token(number), "token_type": "Bearer", "expires_in": 0 }))
        }
        _ => {
            let newest = token(given.load(Ordering::SeqCst));
            if bearer.as_deref() == Some(newest.as_str()) && used.fetch_add(1, Ordering::SeqCst) < 3 {
                said(&serde_json::from_slice(&body).unwrap_or_default(), &newest)
            } else {
                let challenge = format!(
                    "401 Unauthorized\r\nWWW-Authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
                );
                (challenge, String::new())
            }
        }
    };
    let mut stream = stream;
    let answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
    let _ = stream.write_all(answer.as_bytes());
}

fn json_of(value: &Value) -> (String, String) {
    ("200 OK\r\nContent-Type: application/json".to_owned(), value.to_string())
}

/// What the server says to a message: always with the token in it.
fn said(message: &Value, token: &str) -> (String, String) {
    let id = &message["id"];
    let result = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let hidden = format!("you are {token}");
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => json_of(&result(json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} },
            "serverInfo": { "name": token, "version": "1" }, "instructions": hidden,
        }))),
        "tools/list" => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let mut described = tool("described");
            described["description"] = json!(hidden);
            let mut shaped = tool("shaped");
            shaped["outputSchema"] = json!({ "type": "object", "description": hidden });
            json_of(&result(json!({ "tools": [tool("echo"), tool("fail"), tool("refuse"), described, shaped] })))
        }
        "resources/list" => {
            json_of(&result(json!({ "resources": [{ "uri": "x://y", "name": "y", "description": hidden }] })))
        }
        "prompts/list" => json_of(&result(json!({ "prompts": [{ "name": "p", "description": hidden }] }))),
        "resources/read" => json_of(&result(json!({ "contents": [{ "uri": "x://y", "text": hidden }] }))),
        "prompts/get" | "completion/complete" => json_of(
            &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": hidden, "data": { "you": token } } }),
        ),
        "tools/call" => {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": message["params"]["_meta"]["progressToken"], "progress": 1, "message": hidden } });
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "error", "data": hidden } });
            let answer = match message["params"]["name"].as_str().unwrap_or_default() {
                "refuse" => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": hidden, "data": { "you": token } } })
                }
                name => result(json!({
                    "content": [{ "type": "text", "text": hidden }], "structuredContent": { "you": token, token: 1 },
                    "isError": name == "fail", "_meta": { "you": token },
                })),
            };
            let events = [progress, log, answer].map(|message| format!("event: message\ndata: {message}\n\n"));
            ("200 OK\r\nContent-Type: text/event-stream".to_owned(), events.concat())
        }
        method if method.starts_with("notifications/") => ("202 Accepted".to_owned(), String::new()),
        _ => json_of(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": hidden } })),
    }
}

/// A program that says its environment, by everything that it says.
const PROGRAM: &str = r#"
words="$PEER_API_KEY $DSN"
echo "starting with $words" >&2
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
    case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"env","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$id" "$words" ;;
    *'"method":"notifications/'*) ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    esac
done
"#;

// R-083, R-178
#[test]
fn a_server_that_says_its_credential_back_tells_it_to_nobody() {
    let echo = Echo::start();
    let run_file = format!(
        "[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.mail]\nurl = \"{0}/mcp\"\nera = \"legacy\"\npermission = \"allow\"\n\n\
         [mcp.mail.oauth]\ngrant = \"client_credentials\"\nissuer = \"{0}\"\nclient_id = \"lockgate\"\nclient_secret_env = \"MAIL_SECRET\"\n\n\
         [mcp.env]\ncommand = [\"bash\", \"server.sh\"]\npermission = \"allow\"\nenv = [\"PEER_API_KEY\"]\n\
         env_set = {{ DSN = \"db://app:${{DB_WORD}}@host\" }}\n",
        echo.origin
    );
    let mut gateway = Gateway::new(&run_file)
        .with_variable("MAIL_SECRET", "the-client-says-so")
        .with_variable("PEER_API_KEY", "handed on by name")
        .with_variable("DB_WORD", "within other words");
    gateway.write("server.sh", PROGRAM);
    gateway.start();
    gateway.until("mail", |status| status["state"] == "ready");
    gateway.until("env", |status| status["state"] == "ready");
    let mut heard = String::new();
    let mut ask = |method: &str, mut params: Value| {
        params["_meta"] = json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "debug" });
        let answer = post(gateway.address(), "/mcp", None, method, params).unwrap();
        heard.push_str(&answer.text());
        answer.text()
    };
    // Each round needs a new token.
    for _ in 0..3 {
        for tool in ["mail__echo", "mail__fail", "mail__refuse", "env__env"] {
            let said = ask("tools/call", json!({ "name": tool, "arguments": {} }));
            assert!(said.contains("[redacted:"), "{tool}: {said}");
        }
        let tools = ask("tools/list", json!({}));
        assert!(tools.contains("mail__echo") && !tools.contains("mail__described"), "{tools}");
        assert!(ask("resources/list", json!({})).contains("[redacted:"));
        assert!(ask("prompts/list", json!({})).contains("[redacted:"));
        assert!(ask("resources/read", json!({ "uri": "lockgate:mail:x://y" })).contains("[redacted:"));
        assert!(ask("prompts/get", json!({ "name": "mail__p" })).contains("[redacted:"));
        let reference = json!({ "type": "ref/prompt", "name": "mail__p" });
        let completion = json!({ "ref": reference, "argument": { "name": "a", "value": "b" } });
        assert!(ask("completion/complete", completion).contains("[redacted:"));
        ask("server/discover", json!({}));
    }
    heard.push_str(&gateway.status("mail").to_string());
    heard.push_str(&gateway.status("env").to_string());
    let given = echo.given.load(Ordering::SeqCst);
    assert!(given >= 4, "{given} tokens");
    assert!(gateway.stops());
    heard.push_str(&gateway.said());
    let output = gateway.run(&["mcp", "status", "gateway.toml"]);
    heard.extend([output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    let journal: Vec<u8> = ["journal.db", "journal.db-wal"]
        .into_iter()
        .filter_map(|name| std::fs::read(gateway.path(name)).ok())
        .flatten()
        .collect();
    heard.push_str(&String::from_utf8_lossy(&journal));
    wait_for("the last token", || (echo.given.load(Ordering::SeqCst) >= given).then_some(()));
    let tokens = (1..=echo.given.load(Ordering::SeqCst)).map(token);
    let words = ["the-client-says-so", "handed on by name", "within other words"].map(str::to_owned);
    for secret in tokens.chain(words) {
        assert!(!heard.contains(&secret), "`{secret}` was told: {}", around(&heard, &secret));
    }
}

fn around<'t>(text: &'t str, word: &str) -> &'t str {
    let at = text.find(word).unwrap_or_default();
    let (from, to) = (at.saturating_sub(200), (at + 200).min(text.len()));
    &text[text.floor_char_boundary(from)..text.ceil_char_boundary(to)]
}
