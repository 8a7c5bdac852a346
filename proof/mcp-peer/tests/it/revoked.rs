//! Credentials that are taken back while they are in use.

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::json;

use crate::attacks::{guarded, paid, token};
use crate::client::{Session, modern, open, post, until};
use crate::gateway::{Gateway, wait_for};

/// Everything until it ends.
fn rest(mut stream: TcpStream, what: &str) -> String {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap_or_else(|error| panic!("{what} does not end: {error}"));
    String::from_utf8_lossy(&rest).into_owned()
}

fn listen(gateway: &Gateway, bearer: &str) -> TcpStream {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern(gateway.address(), "/mcp", Some(bearer), "subscriptions/listen", params);
    let mut stream = open(gateway.address(), listen.as_bytes()).unwrap();
    until(&mut stream, "subscriptions/acknowledged");
    stream
}

#[test]
fn what_is_open_ends_when_its_credential_is_taken_back() {
    let mut gateway = Gateway::new(&guarded("allow").replace("run_key_file = \"run.key\"\n", ""));
    let anna = token(&gateway, &["anna", "--user", "anna", "--agent", "bot"]);
    let berta = token(&gateway, &["berta", "--user", "berta", "--agent", "bot"]);
    let before = std::fs::read_to_string(gateway.path("tokens.toml")).unwrap();
    gateway.start();
    let address = gateway.address();
    let (listening, mut other) = (listen(&gateway, &anna), listen(&gateway, &berta));
    let session = Session::begin_as(Some(&anna), address, "2025-11-25");
    let mut stream = open(address, session.bare("GET", None).as_bytes()).unwrap();
    until(&mut stream, "text/event-stream");
    let slow = json!({ "name": "bank__pay", "arguments": { "delay_ms": 60_000 } });
    let in_session = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": slow });
    let in_session = open(address, session.text(&in_session).as_bytes()).unwrap();
    let alone = open(address, modern(address, "/mcp", Some(&anna), "tools/call", slow).as_bytes()).unwrap();
    wait_for("both payments", || (paid(&gateway) == 2).then_some(()));

    assert!(gateway.run(&["token", "revoke", "anna", "--tokens", "tokens.toml"]).status.success());
    rest(listening, "the subscription");
    rest(stream, "the stream of the session");
    for (call, what) in [(in_session, "the call in the session"), (alone, "the call")] {
        let answer = rest(call, what);
        assert!(!answer.contains("paid"), "{answer}");
    }
    assert_eq!(session.ask("ping", &json!({})).status, 401);
    // The session is gone with it, and does not come back.
    gateway.write("tokens.toml", &before);
    wait_for("the token", || {
        (post(address, "/mcp", Some(&anna), "tools/list", json!({})).unwrap().status == 200).then_some(())
    });
    assert_eq!(session.ask("ping", &json!({})).status, 404);

    // Whoever else listens goes on.
    let file = std::fs::read_to_string(gateway.path("gateway.toml")).unwrap();
    gateway.write("gateway.toml", &format!("{file}# changed\n"));
    until(&mut other, "notifications/tools/list_changed");
}

/// An agent that may do less than when it began listens no longer to what it may not see.
#[test]
fn what_is_open_ends_when_its_credential_may_do_less() {
    let mut gateway = Gateway::new(&guarded("allow").replace("run_key_file = \"run.key\"\n", ""));
    let anna = token(&gateway, &["anna", "--user", "anna", "--agent", "bot", "--scope", "pay"]);
    gateway.start();
    let listening = listen(&gateway, &anna);
    let file = std::fs::read_to_string(gateway.path("tokens.toml")).unwrap();
    gateway.write("tokens.toml", &file.replace("\"pay\"", "\"look\""));
    rest(listening, "the subscription");
    assert_eq!(post(gateway.address(), "/mcp", Some(&anna), "tools/list", json!({})).unwrap().status, 200);
}
