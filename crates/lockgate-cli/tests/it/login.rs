//! Logins at MCP servers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command::{Desk, Done};

/// An MCP server that lets in who has a token of its own issuer, which is the same program.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Requests of these methods need a token; without, all do.
    fn start(protected: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (origin, seen) = (url.clone(), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read(&mut stream);
                let (head, body) = request.split_once("\r\n\r\n").unwrap();
                let target = head.split(' ').nth(1).unwrap();
                let (status, headers, answer) = answer(&origin, protected, target, head, body);
                seen.lock().unwrap().push(format!(
                    "{} {}",
                    head.split(' ').next().unwrap(),
                    target.split('?').next().unwrap()
                ));
                let length = answer.len();
                let head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
                );
                stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn answer(origin: &str, protected: Option<&str>, target: &str, head: &str, body: &str) -> (u16, String, String) {
    let json = |value: Value| (200, String::new(), value.to_string());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            json(json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] }))
        }
        "/.well-known/oauth-authorization-server" => json(json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        })),
        "/register" => json(json!({ "client_id": "command" })),
        "/authorize" => {
            let field = |name: &str| {
                let mut fields = query.split('&').filter_map(|field| field.split_once('='));
                fields.find(|(known, _)| *known == name).unwrap().1.to_owned()
            };
            let back = field("redirect_uri").replace("%3A", ":").replace("%2F", "/");
            (302, format!("location: {back}?code=abc&state={}\r\n", field("state")), String::new())
        }
        "/token" => json(json!({ "access_token": "opensesame", "token_type": "Bearer" })),
        "/mcp" => {
            let request: Value = serde_json::from_str(body).unwrap();
            let method = request["method"].as_str().unwrap();
            let has_token = head.to_lowercase().contains("authorization: bearer opensesame");
            if !has_token && protected.is_none_or(|protected| protected == method) {
                return (401, "www-authenticate: Bearer\r\n".to_owned(), String::new());
            }
            let mut result = match method {
                "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }),
                "tools/list" => json!({ "tools": [{ "name": "send", "inputSchema": { "type": "object" } }] }),
                "tools/call" => json!({ "content": [{ "type": "text", "text": "it is sent" }] }),
                _ => panic!("{body}"),
            };
            let rest = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
            result.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        }
        _ => (404, String::new(), String::new()),
    }
}

fn read(stream: &mut TcpStream) -> String {
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    let is_whole = |text: &str| {
        text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
            body.len() >= head.lines().find_map(length).unwrap_or(0_usize)
        })
    };
    while !is_whole(&text) {
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "{text}");
        text += &String::from_utf8_lossy(&chunk[..count]);
    }
    text
}

/// What a browser does with a URL: the head of the answer.
fn visit(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).unwrap();
    read(&mut stream)
}

fn desk(server: &Server) -> Desk {
    let desk = Desk::empty();
    desk.write("lockgate.toml", &format!("[mcp.mail]\nurl = \"{}/mcp\"\n[mcp.mail.oauth]\n", server.url));
    desk
}

#[test]
fn a_person_logs_in_with_a_browser_of_their_own_and_out() {
    let server = Server::start(None);
    let desk = desk(&server);
    let login = ["mcp", "login", "mail", "--wait", "60"];
    let mut child = desk.command(&login).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let shown = lines.next().unwrap().unwrap();
    let url = shown.strip_prefix("visit ").unwrap();
    assert!(
        url.starts_with(&format!("{}/authorize?response_type=code&client_id=command&redirect_uri=", server.url)),
        "{url}"
    );
    // Nothing opened it.
    assert!(!server.asked().contains(&"GET /authorize".to_owned()));
    let went = visit(url);
    let back = went.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(visit(back).starts_with("HTTP/1.1 200 OK"));
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert_eq!((rest, child.wait().unwrap().code()), (vec!["logged in at mail".to_owned()], Some(0)));
    let kept = std::fs::read_to_string(desk.path(".lockgate/mcp-credentials.json")).unwrap();
    assert!(kept.contains("opensesame"));
    server.asked();

    // Who is logged in stays so.
    let again = desk.run(&login);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "logged in at mail\n"), "{}", again.stderr);
    assert_eq!(server.asked(), ["POST /mcp"]);

    let out = desk.run(&["mcp", "logout", "mail"]);
    assert_eq!((out.code, out.stdout.as_str()), (Some(0), "logged out of mail\n"), "{}", out.stderr);
    assert!(!std::fs::read_to_string(desk.path(".lockgate/mcp-credentials.json")).unwrap().contains("opensesame"));
    assert_eq!(desk.run(&["mcp", "logout", "mail"]).stdout, "nobody was logged in at mail\n");
    // What could be had again at once would be no logout.
    let alone = desk.run(&["mcp", "login", "mail", "--wait", "0"]);
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
    assert!(alone.stderr.contains("nobody answered within 0 s"), "{}", alone.stderr);
}

#[test]
fn nobody_logs_in_where_that_is_not_configured() {
    let desk = Desk::empty();
    desk.write(
        "lockgate.toml",
        "[mcp.mail]\nurl = \"http://127.0.0.1:9/mcp\"\nbearer_env = \"TOKEN\"\n[mcp.clock]\ncommand = [\"clock\"]\n",
    );
    for (name, said) in
        [("mial", "the file has no such server"), ("clock", "nobody logs in there: that takes a table `oauth`")]
    {
        let done: Done = desk.run(&["mcp", "login", name]);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(&format!("MCP server `{name}`: {said}")), "{}", done.stderr);
    }
    let done = desk.run(&["mcp", "logout", "mail"]);
    assert!(done.stderr.contains("`TOKEN`, which is not set"), "{}", done.stderr);
}

/// A call at a gateway, as a client that can show its person a URL sends it: the result.
fn call(gateway: &str, more: &Value) -> Value {
    let mut params = json!({ "name": "mail__send", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "url": {} } },
    } });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut stream = TcpStream::connect(gateway).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {gateway}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: mail__send\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut message = answer.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let message = message.rfind(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str::<Value>(message).unwrap_or_else(|_| panic!("{answer}"))["result"].clone()
}

/// MCP 2026-07-28: the gateway has no token of this person for the server, and asks them by a URL; the browser comes back to it.
#[cfg(unix)]
#[test]
fn a_gateway_asks_whoever_calls_to_log_in() {
    let server = Server::start(Some("tools/call"));
    let desk = Desk::empty();
    let table = format!(
        "[mcp.mail]\nurl = \"{}/mcp\"\npermission = \"allow\"\ntimeout = \"20s\"\n[mcp.mail.oauth]\n",
        server.url
    );
    desk.write("lockgate.toml", &table);
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let mut child = desk.command(&serve).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let gateway = lines.find_map(|line| Some(line.unwrap().split_once("listening on http://")?.1.to_owned())).unwrap();

    let asked = call(&gateway, &json!({}));
    let login = &asked["inputRequests"]["login"]["params"];
    assert_eq!((&asked["resultType"], &login["mode"]), (&json!("input_required"), &json!("url")), "{asked}");
    let went = visit(login["url"].as_str().unwrap());
    let back = went.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(back.starts_with(&format!("http://{gateway}/oauth/callback?code=abc&state=")), "{back}");
    // A guess finishes nothing, and neither does the same answer twice.
    assert!(visit(&back.replace("state=", "state=x")).starts_with("HTTP/1.1 400"));
    assert!(visit(back).starts_with("HTTP/1.1 200"));
    assert!(visit(back).starts_with("HTTP/1.1 400"));
    let answers =
        json!({ "inputResponses": { "login": { "action": "accept" } }, "requestState": asked["requestState"] });
    let sent = call(&gateway, &answers);
    assert_eq!(sent["content"][0]["text"], "it is sent", "{sent}");
    // From then on nobody is asked.
    assert_eq!(call(&gateway, &json!({}))["content"][0]["text"], "it is sent");
    let _ = child.kill();
    let _ = child.wait();
}
