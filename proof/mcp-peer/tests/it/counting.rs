use serde_json::json;

use crate::peer::Peer;

#[test]
fn each_payment_is_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("paid");
    let mut peer = Peer::start(&["count", "--stdio", "--file", file.to_str().unwrap()]);
    peer.handshake();
    for _ in 0..3 {
        let id = peer.call("pay", &json!({ "delay_ms": 1 }));
        assert_eq!(peer.answer(id)["result"]["content"][0]["text"], "paid");
    }
    assert!(peer.ends());
    assert_eq!(std::fs::metadata(file).unwrap().len(), 3);
}

#[test]
fn a_payment_is_made_before_it_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("paid");
    let mut peer = Peer::start(&["count", "--stdio", "--file", file.to_str().unwrap()]);
    peer.handshake();
    peer.call("pay", &json!({ "delay_ms": 60_000 }));
    while std::fs::metadata(&file).map_or(0, |file| file.len()) == 0 {
        std::thread::yield_now();
    }
    drop(peer);
    assert_eq!(std::fs::metadata(file).unwrap().len(), 1);
}

#[test]
fn an_echo_says_back_what_it_is_told() {
    let mut peer = Peer::start(&["echo", "--stdio"]);
    peer.handshake();
    let id = peer.call("echo", &json!({ "text": "hello" }));
    assert_eq!(peer.answer(id)["result"]["content"][0]["text"], "hello");
    let id = peer.call("echo", &json!({}));
    assert_eq!(peer.answer(id)["error"]["code"], -32602);
    assert!(peer.ends());
}

#[test]
fn a_fixture_of_one_era_has_no_other() {
    let mut peer = Peer::start(&["serve", "--stdio", "--era", "modern"]);
    let id = peer.ask("server/discover", &crate::peer::modern(json!({})));
    assert_eq!(peer.answer(id)["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert!(peer.ends());

    let mut peer = Peer::start(&["serve", "--stdio", "--era", "legacy"]);
    assert_eq!(peer.handshake()["result"]["protocolVersion"], "2025-11-25");
    let id = peer.ask("tools/list", &json!({}));
    assert!(peer.answer(id)["result"]["tools"].as_array().unwrap().len() > 30);
    assert!(peer.ends());
}
