use serde_json::{Value, json};

use crate::peer::{Peer, modern};

fn hostile(mode: &str) -> Peer {
    Peer::start(&["hostile", mode])
}

fn list(peer: &mut Peer, params: &Value) -> Value {
    let id = peer.ask("tools/list", params);
    peer.answer(id)["result"].clone()
}

fn names(page: &Value) -> Vec<&str> {
    page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_polite_one_speaks_both_eras() {
    let mut peer = hostile("polite");
    let id = peer.ask("server/discover", &modern(json!({})));
    let discovered = peer.answer(id);
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2025-11-25", "2026-07-28"]));
    assert_eq!(discovered["result"]["resultType"], "complete");
    assert_eq!(peer.handshake()["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(names(&list(&mut peer, &json!({}))), ["act"]);
    let id = peer.call("act", &json!({ "note": "well" }));
    assert_eq!(said(&peer.answer(id)), "acted: well");
    assert!(peer.ends());
}

#[test]
fn noise_stands_between_answers() {
    let mut peer = hostile("noise");
    let first = peer.line().unwrap();
    assert!(serde_json::from_slice::<Value>(&first).is_err());
    peer.handshake();
    let id = peer.call("act", &json!({}));
    assert_eq!(said(&peer.answer(id)), "acted: ");
}

#[test]
fn lines_are_long_and_longer() {
    let mut peer = hostile("huge-line");
    let id = peer.call("act", &json!({}));
    assert_eq!(said(&peer.answer(id)).len(), 10 * 1024 * 1024);

    let mut peer = hostile("endless-line");
    peer.call("act", &json!({}));
    assert!(!peer.bytes(20 * 1024 * 1024).contains(&b'\n'));
}

#[test]
fn a_flood_precedes_an_answer() {
    let mut peer = hostile("flood");
    peer.ask("ping", &json!({}));
    for _ in 0..1000 {
        assert_eq!(peer.message().unwrap()["method"], "notifications/tools/list_changed");
    }
    assert_eq!(peer.message().unwrap()["result"], json!({}));
}

#[test]
fn pages_never_end_or_end_at_an_empty_cursor() {
    let mut peer = hostile("same-cursor");
    for _ in 0..3 {
        assert_eq!(list(&mut peer, &json!({ "cursor": "again" }))["nextCursor"], "again");
    }
    let mut peer = hostile("new-cursors");
    for page in 0..3 {
        let found = list(&mut peer, &json!({ "cursor": page.to_string() }));
        assert_eq!(
            (names(&found)[0], &found["nextCursor"]),
            (format!("act_{page}").as_str(), &json!((page + 1).to_string()))
        );
    }
    let mut peer = hostile("empty-cursor");
    assert_eq!(list(&mut peer, &json!({}))["nextCursor"], "");
    let last = list(&mut peer, &json!({ "cursor": "" }));
    assert_eq!((names(&last), last.get("nextCursor")), (vec!["act_more"], None));
}

#[test]
fn tools_are_bad_alone() {
    assert_eq!(names(&list(&mut hostile("bad-schema"), &json!({}))), ["act", "bad", "act_too"]);
    assert_eq!(names(&list(&mut hostile("duplicate-names"), &json!({}))), ["act", "act"]);
    assert_eq!(names(&list(&mut hostile("collisions"), &json!({}))).len(), 6);
    let poisoned = list(&mut hostile("poisoned"), &json!({}));
    assert!(poisoned["tools"][0]["description"].as_str().unwrap().contains('\u{e0072}'));
}

#[test]
fn a_bomb_is_deeper_than_a_parser_goes() {
    let mut peer = hostile("schema-bomb");
    peer.ask("tools/list", &json!({}));
    let line = String::from_utf8(peer.line().unwrap()).unwrap();
    assert!(line.len() > 5 * 1024 * 1024 && line.contains("#/$defs/d30"));
    assert_eq!(line.matches('{').count(), line.matches('}').count());
    assert!(serde_json::from_str::<Value>(&line).is_err_and(|error| error.to_string().contains("recursion")));
}

#[test]
fn tools_change_after_a_call() {
    let mut peer = hostile("changing");
    let listening = peer.ask("subscriptions/listen", &modern(json!({ "notifications": { "toolsListChanged": true } })));
    assert_eq!(peer.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let id = peer.call("act", &modern(json!({})));
    assert_eq!(said(&peer.answer(id)), "acted: ");
    let told = peer.message().unwrap();
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
    assert_eq!(names(&list(&mut peer, &json!({}))), ["act", "act_more"]);
}

#[test]
fn answers_are_too_many_too_early_or_for_nobody() {
    let mut peer = hostile("answer-twice");
    let id = peer.call("act", &json!({}));
    assert_eq!([said(&peer.answer(id)).to_owned(), said(&peer.answer(id)).to_owned()], ["acted: ", "answered again"]);

    let mut peer = hostile("early-answer");
    let id = peer.call("act", &json!({}));
    assert_eq!(peer.message().unwrap()["id"], id + 1);
    assert_eq!(peer.message().unwrap()["id"], id);

    let mut peer = hostile("foreign-id");
    peer.call("act", &json!({}));
    assert_eq!(peer.message().unwrap()["id"], "nobody");

    let mut peer = hostile("duplicate-ids");
    let id = peer.call("act", &json!({}));
    assert_eq!([(); 3].map(|()| peer.message().unwrap()["id"].clone()), [1, 1, 1].map(Value::from));
    assert_eq!(said(&peer.answer(id)), "acted: ");
}

#[test]
fn progress_goes_on() {
    let mut peer = hostile("progress-forever");
    peer.ask("tools/call", &json!({ "name": "act", "_meta": { "progressToken": "t" } }));
    for step in 0..3 {
        let told = peer.message().unwrap();
        assert_eq!((&told["params"]["progressToken"], &told["params"]["progress"]), (&json!("t"), &json!(step)));
    }
    assert!(peer.ends());
}

#[test]
fn a_nosy_one_says_what_it_heard() {
    let mut peer = hostile("asks-back");
    let call = peer.call("act", &json!({}));
    for question in ["sampling/createMessage", "elicitation/create", "roots/list"] {
        assert_eq!(peer.message().unwrap()["method"], question);
        peer.send(&json!({ "jsonrpc": "2.0", "id": question, "error": { "code": -32601, "message": "no" } }));
    }
    assert_eq!(said(&peer.answer(call)).lines().count(), 3);
}

#[test]
fn results_are_odd_in_five_ways() {
    let mut peer = hostile("odd-results");
    let results = [(); 5].map(|()| {
        let id = peer.call("act", &modern(json!({})));
        peer.answer(id)["result"].clone()
    });
    assert_eq!(results[0]["resultType"], "surprise");
    assert_eq!(results[4], Value::Null);
}

#[test]
fn a_probe_is_answered_in_every_wrong_way() {
    let mut peer = hostile("dies-on-probe");
    peer.ask("server/discover", &modern(json!({})));
    assert_eq!(peer.message(), None);

    let mut peer = hostile("refuses-probe");
    let id = peer.ask("server/discover", &modern(json!({})));
    assert_eq!(peer.answer(id)["error"]["code"], -32602);
    assert_eq!(peer.handshake()["result"]["protocolVersion"], "2025-11-25");

    let mut peer = hostile("silent-on-probe");
    peer.ask("server/discover", &modern(json!({})));
    assert_eq!(peer.handshake()["result"]["protocolVersion"], "2025-11-25");

    let mut peer = hostile("odd-version");
    assert_eq!(peer.handshake()["result"]["protocolVersion"], "2026-07-28");
}

#[test]
fn a_dying_one_has_had_its_effect() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("effects");
    let mut peer = Peer::start(&["hostile", "dies-mid-call", "--file", file.to_str().unwrap()]);
    peer.handshake();
    peer.call("act", &json!({}));
    assert_eq!(peer.message(), None);
    assert_eq!(std::fs::metadata(file).unwrap().len(), 1);

    let mut peer = hostile("dies-on-list");
    peer.ask("tools/list", &json!({}));
    assert_eq!(peer.message(), None);
}

#[test]
fn silence_ends_with_stdin() {
    for mode in ["silent", "silent-calls"] {
        let mut peer = hostile(mode);
        peer.call("act", &json!({}));
        assert!(peer.ends(), "{mode}");
    }
}

#[test]
fn a_slow_one_is_slow() {
    let mut peer = hostile("slow-drip");
    peer.ask("ping", &json!({}));
    assert_eq!(peer.bytes(10), b"{\"jsonrpc\"");
}
