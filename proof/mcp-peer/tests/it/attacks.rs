//! What somebody tries who is not let in, or who wants more than what is theirs.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::{Answer, Session, exchange, get, modern, open, post, request};
use crate::gateway::{Gateway, code, peer, text, wait_for};

pub(crate) fn counting(permission: &str) -> String {
    let counting = peer(&["count", "--stdio", "--file", "paid"]);
    format!("[mcp.bank]\n{counting}\neffect = \"external\"\npermission = \"{permission}\"\n")
}

/// Without a credential, as on a person's own machine.
fn open_run_file(permission: &str) -> String {
    format!("[journal]\nurl = \"sqlite:journal.db\"\n\n{}", counting(permission))
}

/// With tokens of a file.
pub(crate) fn guarded(permission: &str) -> String {
    let auth = "[auth]\ntokens_file = \"tokens.toml\"\nrun_key_file = \"run.key\"\n\n";
    format!("[journal]\nurl = \"sqlite:journal.db\"\n\n{auth}{}", counting(permission))
}

pub(crate) fn paid(gateway: &Gateway) -> u64 {
    std::fs::metadata(gateway.path("paid")).map_or(0, |file| file.len())
}

/// Makes a token, and gives it.
pub(crate) fn token(gateway: &Gateway, words: &[&str]) -> String {
    let output = gateway.run(&[&["token", "create"][..], words, &["--tokens", "tokens.toml"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Logs in at the page, as a browser does that sends its form.
fn log_in(gateway: &Gateway, token: &str) -> Answer {
    let shown = get(gateway.address(), "/login");
    let cookie = shown.header("set-cookie").unwrap().split(';').next().unwrap();
    let page = shown.text();
    let seal = page.split("name=\"seal\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let form = format!("token={token}&seal={}", seal.unwrap_or_else(|| panic!("{page}")));
    let head = format!(
        "POST /login HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded",
        gateway.address()
    );
    gateway.raw(format!("{head}\r\nContent-Length: {}\r\n\r\n{form}", form.len()).as_bytes())
}

fn pay(gateway: &Gateway, bearer: &str) -> Value {
    let params = json!({ "name": "bank__pay", "arguments": {} });
    post(gateway.address(), "/mcp", Some(bearer), "tools/call", params).unwrap().json()
}

/// A page whose name leads to this machine reads nothing, at whatever path it asks.
#[test]
fn other_names_of_this_machine_lead_nowhere() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let address = gateway.address();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let hosts = [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1@evil.example",
        "[::ffff:1.2.3.4]",
        "",
        "localhost, evil.example",
        "0.0.0.0",
    ];
    for host in hosts {
        for path in ["/mcp", "/status", "/approvals", "/login", "/approvals/a-1", "/oauth/callback", "/runs/run-1/mcp"]
        {
            for (method, body) in [("GET", ""), ("POST", body)] {
                let request = format!(
                    "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
                     Accept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let answer = gateway.raw(request.as_bytes());
                assert!(
                    matches!(answer.status, 400 | 403),
                    "{host} {method} {path}: {} {}",
                    answer.status,
                    answer.text()
                );
                assert!(!answer.text().contains("bank"), "{host} {path}");
            }
        }
    }
    let twice = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert!(matches!(gateway.raw(twice.as_bytes()).status, 400 | 403));
    let origins = [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "file://",
        "http://evil.example:80@localhost",
    ];
    for origin in origins {
        for path in ["/mcp", "/status"] {
            let answer = gateway.raw(request(address, path, &format!("Origin: {origin}\r\n"), body).as_bytes());
            assert!(matches!(answer.status, 403 | 405), "{origin} {path}: {}", answer.status);
        }
        let asked = format!("GET /status HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n");
        assert_eq!(gateway.raw(asked.as_bytes()).status, 403);
    }
    assert_eq!(gateway.tools(), ["bank__pay"]);
}

/// Two servers on the way read one request differently: here it is one, or none.
#[test]
fn a_request_within_a_request_is_none() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let address = gateway.address();
    let inner = modern(address, "/mcp", None, "tools/call", json!({ "name": "bank__pay", "arguments": {} }));
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n";
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (short, long) = (ping.len(), ping.len() + inner.len());
    let chunked = format!("{:x}\r\n{ping}\r\n0\r\n\r\n", ping.len());
    let heads = [
        (format!("Content-Length: {short}\r\nContent-Length: {long}\r\n"), ping.to_owned()),
        (format!("Content-Length: {short}, {long}\r\n"), ping.to_owned()),
        (format!("Content-Length: {long}\r\nTransfer-Encoding: chunked\r\n"), chunked.clone()),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {short}\r\n"), chunked.clone()),
        ("Transfer-Encoding: chunked, identity\r\n".to_owned(), chunked.clone()),
        ("Transfer-Encoding: identity\r\n".to_owned(), chunked.clone()),
        ("Transfer-Encoding: xchunked\r\n".to_owned(), chunked.clone()),
        ("Transfer-Encoding:\u{b}chunked\r\n".to_owned(), chunked.clone()),
        ("Transfer-Encoding : chunked\r\n".to_owned(), chunked.clone()),
        (format!("X: y\r\n Content-Length: {long}\r\n"), ping.to_owned()),
        (format!("Content-Length: +{short}\r\n"), ping.to_owned()),
        (format!("Content-Length: 0x{short:x}\r\n"), ping.to_owned()),
        ("Content-Length: -1\r\n".to_owned(), ping.to_owned()),
    ];
    for (head, body) in heads {
        let bytes = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n{json}{head}\r\n{body}{inner}");
        let mut stream = open(address, bytes.as_bytes()).unwrap();
        let mut answers = Vec::new();
        let _ = stream.read_to_end(&mut answers);
        let answers = String::from_utf8_lossy(&answers);
        assert!(answers.matches("HTTP/1.1 ").count() <= 1, "{head}: {answers}");
        assert_eq!(paid(&gateway), 0, "{head}: {answers}");
    }
    assert_eq!(exchange(address, inner.as_bytes()).unwrap().status, 200);
    assert_eq!(paid(&gateway), 1);
}

#[test]
fn what_is_too_large_is_refused_and_costs_little() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let address = gateway.address();
    let before = gateway.most_memory();
    let long = "x".repeat(200 << 10);
    let answer = exchange(address, request(address, "/mcp", &format!("X-Long: {long}\r\n"), "{}").as_bytes()).unwrap();
    assert_eq!(answer.status, 431, "{}", answer.text());
    let many: Vec<_> = (0..2000).map(|index| format!("X-{index}: y\r\n")).collect();
    let many = many.concat();
    assert_eq!(exchange(address, request(address, "/mcp", &many, "{}").as_bytes()).unwrap().status, 431);
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5 << 20));
    assert_eq!(exchange(address, request(address, "/mcp", "", &huge).as_bytes()).unwrap().status, 413);
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).repeat(80);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    assert_eq!(exchange(address, format!("{head}{chunk}0\r\n\r\n").as_bytes()).unwrap().status, 413);
    let form = request(address, "/login", "", &"x".repeat(1 << 20));
    assert_eq!(exchange(address, form.as_bytes()).unwrap().status, 413);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}1{}}}",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    assert_eq!(exchange(address, request(address, "/mcp", "", &deep).as_bytes()).unwrap().status, 400);
    // A length that is said and never comes.
    let promised = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n"
    );
    let waiting: Vec<_> = (0..200).map(|_| open(address, promised.as_bytes()).unwrap()).collect();
    assert_eq!(text(&gateway.call("bank__pay", &json!({}))), "paid");
    assert!(gateway.most_memory() - before < 64 << 20, "{} MiB", (gateway.most_memory() - before) >> 20);
    drop(waiting);
}

#[test]
fn nobody_uses_what_is_another_s() {
    let mut gateway = Gateway::new(&guarded("ask"));
    let anna = token(&gateway, &["anna", "--user", "anna", "--agent", "bot", "--tenant", "a"]);
    let berta = token(&gateway, &["berta", "--user", "berta", "--agent", "bot", "--tenant", "b"]);
    let person = token(&gateway, &["anna-phone", "--user", "chris", "--tenant", "a"]);
    let stranger = token(&gateway, &["berta-phone", "--user", "dora", "--tenant", "b"]);
    gateway.run(&["token", "run", "run-1", "--key", "run.key", "--journal", "sqlite:journal.db"]);
    let run_key = gateway.path("run.key");
    if !run_key.exists() {
        let text = gateway.path("gateway.toml");
        let file = std::fs::read_to_string(&text).unwrap().replace("run_key_file = \"run.key\"\n", "");
        std::fs::write(text, file).unwrap();
    }
    gateway.start();
    let address = gateway.address();

    // Without a token, with a wrong one, with one in the URL, and with a person's, nothing is called.
    let call = json!({ "name": "bank__pay", "arguments": {} });
    for bearer in [None, Some("lgt_no_such"), Some(""), Some(person.as_str())] {
        let answer = post(address, "/mcp", bearer, "tools/call", call.clone()).unwrap();
        assert!(matches!(answer.status, 400 | 401 | 403), "{bearer:?}: {}", answer.status);
    }
    for name in ["token", "access_token", "bearer", "api_key"] {
        let path = format!("/mcp?{name}={anna}");
        let answer = post(address, &path, None, "tools/call", call.clone()).unwrap();
        assert!(matches!(answer.status, 400 | 401 | 403), "{name}: {}", answer.status);
    }
    let twice = format!("Authorization: Bearer {anna}\r\nAuthorization: Bearer {berta}\r\n");
    assert!(matches!(exchange(address, request(address, "/mcp", &twice, "{}").as_bytes()).unwrap().status, 400 | 401));

    // A question of anna's.
    let asked = pay(&gateway, &anna);
    assert_eq!(code(&asked), "approval_required");
    let id = asked["result"]["structuredContent"]["approval_id"].as_str().unwrap().to_owned();
    let shown = |bearer: &str| {
        let request = format!(
            "GET /approvals/{id} HTTP/1.1\r\nHost: {address}\r\nAccept: application/json\r\nAuthorization: Bearer {bearer}\r\nConnection: close\r\n\r\n"
        );
        exchange(address, request.as_bytes()).unwrap()
    };
    assert_eq!((shown(&anna).status, shown(&person).status), (200, 200));
    assert_eq!((shown(&berta).status, shown(&stranger).status), (404, 404));
    let digest = shown(&person).json()["digest"].as_str().unwrap().to_owned();
    let decide = |bearer: &str, digest: &str| {
        let headers = format!("Authorization: Bearer {bearer}\r\n");
        let body = json!({ "digest": digest }).to_string();
        exchange(address, request(address, &format!("/approvals/{id}/approve"), &headers, &body).as_bytes())
            .unwrap()
            .status
    };
    // Agents decide nothing, strangers neither, and nobody about something else than what is there.
    assert_eq!(decide(&anna, &digest), 403);
    assert_eq!(decide(&berta, &digest), 403);
    assert_eq!(decide(&stranger, &digest), 404);
    assert!(matches!(decide(&person, &format!("sha256:{}", "0".repeat(64))), 400 | 409));
    let answer = log_in(&gateway, &anna);
    assert!(answer.status >= 400, "{}", answer.status);
    // The question's id opens it for nobody else.
    let taken = json!({ "name": "bank__pay", "arguments": {}, "_meta": { "dev.lockgate/approval": id } });
    let answer = post(address, "/mcp", Some(&berta), "tools/call", taken.clone()).unwrap().json();
    assert!(answer["error"]["code"] == -32602 || code(&answer) == "approval_stale", "{answer}");
    assert_eq!(paid(&gateway), 0);
    assert_eq!(decide(&person, &digest), 200);
    let answer = post(address, "/mcp", Some(&berta), "tools/call", taken.clone()).unwrap().json();
    assert!(answer["error"]["code"] == -32602 || code(&answer) == "approval_stale", "{answer}");
    assert_eq!(paid(&gateway), 0);
    assert_eq!(text(&pay(&gateway, &anna)), "paid");
    assert_eq!(paid(&gateway), 1);
    // Used up.
    post(address, "/mcp", Some(&anna), "tools/call", taken).unwrap();
    assert_eq!(paid(&gateway), 1);

    // Tasks that are not there and those of others are one and the same.
    for method in ["tasks/get", "tasks/cancel"] {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } } });
        let answer = post(address, "/mcp", Some(&berta), method, json!({ "taskId": "no-such-task", "_meta": meta }))
            .unwrap()
            .json();
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    // A state that was made up, or of another call.
    for state in ["", "AAAA", "e30", &"x".repeat(100_000)] {
        let params = json!({ "name": "bank__pay", "arguments": {}, "requestState": state, "inputResponses": {} });
        let answer = post(address, "/mcp", Some(&berta), "tools/call", params).unwrap().json();
        assert!(answer["error"].is_object(), "{state:.10}: {answer}");
    }
    assert_eq!(paid(&gateway), 1);
}

#[test]
fn tokens_are_gone_at_once_and_a_broken_file_lets_nobody_in() {
    let mut gateway = Gateway::new(&guarded("allow").replace("run_key_file = \"run.key\"\n", ""));
    let anna = token(&gateway, &["anna", "--user", "anna", "--agent", "bot"]);
    gateway.start();
    assert_eq!(text(&pay(&gateway, &anna)), "paid");
    let list = || post(gateway.address(), "/mcp", Some(&anna), "tools/list", json!({})).unwrap().status;
    let good = std::fs::read_to_string(gateway.path("tokens.toml")).unwrap();
    // Made anew under the same name, half written, emptied, open to all, gone.
    for broken in [&good[..good.len() / 2], "", "[[token]]\nid = 3\n", "\0\u{1}"] {
        gateway.write("tokens.toml", broken);
        assert!(matches!(list(), 401 | 503), "{broken:?}");
        gateway.write("tokens.toml", &good);
        assert_eq!(list(), 200);
    }
    let may = |mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(gateway.path("tokens.toml"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    may(0o644);
    assert!(matches!(list(), 401 | 503));
    may(0o600);
    assert_eq!(list(), 200);
    std::fs::rename(gateway.path("tokens.toml"), gateway.path("away")).unwrap();
    assert!(matches!(list(), 401 | 503));
    std::fs::rename(gateway.path("away"), gateway.path("tokens.toml")).unwrap();
    assert_eq!(list(), 200);
    assert!(gateway.run(&["token", "revoke", "anna", "--tokens", "tokens.toml"]).status.success());
    assert_eq!(list(), 401);
}

#[test]
fn a_changed_file_that_is_broken_changes_nothing_however_often_it_is_written() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let good = std::fs::read_to_string(gateway.path("gateway.toml")).unwrap();
    gateway.write("gateway.toml", &good[..good.len() / 2]);
    gateway.says("the changed file is not used");
    for round in 0..50 {
        gateway.write("gateway.toml", if round % 2 == 0 { "[mcp" } else { &good });
        assert_eq!(text(&gateway.call("bank__pay", &json!({}))), "paid");
    }
    gateway.write("gateway.toml", &good.replace("[mcp.bank]", "[mcp.shop]"));
    wait_for("the other server", || (gateway.tools() == ["shop__pay"]).then_some(()));
    assert_eq!(gateway.call("bank__pay", &json!({}))["error"]["code"], -32602);
    assert_eq!(text(&gateway.call("shop__pay", &json!({}))), "paid");
}

#[test]
fn a_thousand_calls_at_once_are_answered() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let address = gateway.address();
    let params = json!({ "name": "bank__pay", "arguments": { "delay_ms": 0 } });
    let call = modern(address, "/mcp", None, "tools/call", params);
    let streams: Vec<_> = (0..1000).map(|_| open(address, call.as_bytes()).unwrap()).collect();
    let (mut done, mut later) = (0, 0);
    for mut stream in streams {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        match answer.split(' ').nth(1) {
            Some("200") => done += 1,
            Some("429" | "503") => later += 1,
            _ => panic!("{answer}"),
        }
    }
    assert!(done >= 200, "{done} done, {later} later");
    assert_eq!(paid(&gateway), done);
}

/// Sessions that nobody ends, and clients that read nothing.
#[test]
fn idle_clients_take_no_room_from_others() {
    let gateway = Gateway::serving(&open_run_file("allow"));
    let address = gateway.address();
    let first = Session::begin(address, "2025-11-25");
    let before = gateway.most_memory();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    let initialize = request(address, "/mcp", "", &initialize.to_string());
    for _ in 0..3000 {
        assert_eq!(exchange(address, initialize.as_bytes()).unwrap().status, 200);
    }
    assert_eq!(first.ask("ping", &json!({})).status, 404, "the longest idle one has made room");
    assert!(gateway.most_memory() - before < 32 << 20);
    let listen =
        modern(address, "/mcp", None, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let deaf: Vec<_> =
        (0..200).map(|_| open(address, listen.replace("Connection: close\r\n", "").as_bytes()).unwrap()).collect();
    assert_eq!(text(&gateway.call("bank__pay", &json!({}))), "paid");
    drop(deaf);
    assert_eq!(get(address, "/healthz").status, 200);
}

/// A disk that is full: what could not be written down did not happen.
#[test]
fn a_full_disk_stops_calls_and_not_the_gateway() {
    let mut gateway = Gateway::new(&open_run_file("allow"));
    // A file may have so many blocks of 512 or 1024 bytes, and no signal comes with it.
    gateway.start_limited(600);
    let mut answered = 0;
    let refused = wait_for("a full disk", || {
        let answer = gateway.call("bank__pay", &json!({ "note": "x".repeat(2000) }));
        if answer["result"]["isError"] == true || answer["error"].is_object() {
            return Some(answer);
        }
        answered += 1;
        None
    });
    assert!(!refused.to_string().contains("journal.db"), "{refused}");
    let before = paid(&gateway);
    assert!(before == answered || before == answered + 1, "{before} {answered}");
    for _ in 0..5 {
        let answer = gateway.call("bank__pay", &json!({ "note": "y".repeat(2000) }));
        assert!(answer["result"]["isError"] == true || answer["error"].is_object(), "{answer}");
    }
    assert_eq!(paid(&gateway), before, "nothing is paid that cannot be written down");
    assert_eq!(get(gateway.address(), "/healthz").status, 200);
    gateway.kill();
    gateway.start();
    assert_eq!(text(&gateway.call("bank__pay", &json!({}))), "paid");
    let checked = gateway.json(&["journal", "check", "--journal", "sqlite:journal.db", "--format", "json"]);
    assert_eq!(checked["clean"], true, "{checked}");
}

/// What a tool says of itself, and what a call says, reach a terminal and a page without power over them.
#[test]
fn what_servers_say_has_no_power_over_terminals_and_pages() {
    let run_file = format!(
        "[mcp.bad]\n{}\npermission = \"ask\"\n\n[mcp.noise]\n{}\n",
        peer(&["hostile", "poisoned"]),
        peer(&["hostile", "noise"])
    );
    let mut gateway = Gateway::new(&format!(
        "[auth]\ntokens_file = \"tokens.toml\"\n\n[journal]\nurl = \"sqlite:journal.db\"\n\n{run_file}"
    ));
    let agent = token(&gateway, &["anna", "--user", "anna", "--agent", "bot"]);
    let person = token(&gateway, &["phone", "--user", "chris"]);
    gateway.start();
    let note = "\u{1b}[2J\u{1b}]0;owned\u{7}<script>alert(1)</script>\u{202e}gnp.exe\u{e0041}";
    let params = json!({ "name": "bad__act", "arguments": { "note": note } });
    let asked = post(gateway.address(), "/mcp", Some(&agent), "tools/call", params).unwrap().json();
    let id =
        asked["result"]["structuredContent"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let harmless = |text: &str| {
        !text.chars().any(|letter| {
            (letter.is_control() && !matches!(letter, '\n' | '\t' | '\r'))
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
        })
    };
    let commands: [&[&str]; 5] = [
        &["mcp", "status", "gateway.toml"],
        &["tools", "list", "gateway.toml"],
        &["tools", "show", "bad__act", "gateway.toml"],
        &["approvals", "show", &id, "--journal", "sqlite:journal.db"],
        &["approvals", "list", "--journal", "sqlite:journal.db"],
    ];
    for words in commands {
        let output = gateway.command(words).stdin(Stdio::null()).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!said.is_empty() && harmless(&said), "{words:?}: {said:?}");
    }
    let answer = log_in(&gateway, &person);
    let cookie = answer
        .header("set-cookie")
        .unwrap_or_else(|| panic!("{} {}", answer.status, answer.text()))
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    for path in ["/approvals".to_owned(), format!("/approvals/{id}")] {
        let asked = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n",
            gateway.address()
        );
        let page = gateway.raw(asked.as_bytes());
        assert_eq!(page.status, 200, "{}", page.text());
        assert!(!page.text().contains("<script") && harmless(&page.text()), "{path}");
    }
}
