//! Every hostile server behind the gateway, beside a good one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::get;
use crate::gateway::{Gateway, peer, text};

/// How a server of each mode stands after its call, and what that call came to.
const MODES: [(&str, &str, &str); 31] = [
    ("polite", "ready", "acted: hello"),
    ("noise", "ready", "acted: hello"),
    ("huge-line", "ready", "xxxxx"),
    ("endless-line", "", "outcome_unknown"),
    ("slow-drip", "starting|failed", "-32602"),
    ("flood", "ready", "acted: hello"),
    ("same-cursor", "ready", "acted: hello"),
    ("new-cursors", "ready|starting", "-32602"),
    ("empty-cursor", "ready", "acted: hello"),
    ("bad-schema", "ready", "acted: hello"),
    ("schema-bomb", "ready", "acted: hello"),
    ("collisions", "ready", "-32602"),
    ("duplicate-names", "ready", "acted: hello"),
    ("poisoned", "ready", "acted: hello"),
    ("changing", "ready", "acted: hello"),
    ("answer-twice", "ready", "acted: hello"),
    ("early-answer", "ready", "acted: hello"),
    ("duplicate-ids", "ready", "acted: hello"),
    ("foreign-id", "ready", "outcome_unknown"),
    ("silent", "starting|failed", "-32602"),
    ("silent-calls", "ready", "outcome_unknown"),
    ("progress-forever", "ready", "outcome_unknown"),
    ("asks-back", "ready", "outcome_unknown"),
    ("odd-results", "ready", "outcome_unknown"),
    ("dies-on-probe", "ready", "acted: hello"),
    ("refuses-probe", "ready", "acted: hello"),
    ("silent-on-probe", "ready", "acted: hello"),
    ("odd-version", "starting|failed", "-32602"),
    ("dies-mid-call", "", "outcome_unknown"),
    ("dies-on-list", "starting|failed", "-32602"),
    ("stays", "ready", "acted: hello"),
];

fn server(mode: &str) -> String {
    format!(
        "[mcp.{mode}]\n{}\npermission = \"allow\"\ntimeout = \"3s\"\nidle_timeout = \"2s\"\nstart_timeout = \"8s\"\n\n",
        peer(&["hostile", mode])
    )
}

const GOOD: &str = "[journal]\nurl = \"memory:\"\n\n";

fn good() -> String {
    format!("{GOOD}[mcp.good]\n{}\npermission = \"allow\"\n\n", peer(&["echo", "--stdio"]))
}

/// What a call came to, in a word or two.
fn outcome(answer: &Value) -> String {
    let result = &answer["result"];
    match (result["structuredContent"]["code"].as_str(), answer["error"]["code"].as_i64()) {
        (Some(code), _) if result["isError"] == true => code.to_owned(),
        (_, Some(code)) => code.to_string(),
        _ => result["content"][0]["text"]
            .as_str()
            .map_or_else(|| result["content"].to_string(), |text| text.chars().take(40).collect()),
    }
}

// VoidNullable/lific#57; modelcontextprotocol/rust-sdk#434, kerlenton/mcpsnoop#44
#[test]
fn a_good_server_is_there_whatever_stands_beside_it() {
    // Ten million bytes are read, scrubbed and stored beside all others: that takes as long as it takes.
    let patient = server("huge-line").replace("timeout = \"3s\"\nidle_timeout = \"2s\"\n", "");
    let hasty = MODES.iter().filter(|(mode, ..)| *mode != "huge-line").map(|(mode, ..)| server(mode));
    let all: String = hasty.chain([patient]).collect();
    let since = Instant::now();
    let gateway = Gateway::serving(&(good() + &all));
    assert!(since.elapsed() < Duration::from_secs(15), "started after {:?}", since.elapsed());
    let done = AtomicBool::new(false);
    let (found, slowest) = std::thread::scope(|threads| {
        let good = threads.spawn(|| {
            let (mut slowest, mut calls) = (Duration::ZERO, 0);
            while !done.load(Ordering::Relaxed) {
                let since = Instant::now();
                assert_eq!(text(&gateway.call("good__echo", &json!({ "text": "well" }))), "well");
                slowest = slowest.max(since.elapsed());
                calls += 1;
            }
            assert!(calls > 10);
            slowest
        });
        let bad = MODES.map(|(mode, ..)| {
            let gateway = &gateway;
            threads.spawn(move || {
                // One that needs its time to be started is waited for; others never come.
                if mode == "silent-on-probe" {
                    gateway.until(mode, |status| status["state"] == "ready");
                }
                outcome(&gateway.call(&format!("{mode}__act"), &json!({ "note": "hello" })))
            })
        });
        let found = bad.map(|call| call.join().unwrap());
        done.store(true, Ordering::Relaxed);
        (found, good.join().unwrap())
    });
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    assert!(gateway.most_memory() < 400 << 20, "{} MiB", gateway.most_memory() >> 20);
    // A call may have its outcome a moment before the loss of its server is known.
    let told = Instant::now();
    let wrong = loop {
        let wrong = wrong(&get(gateway.address(), "/status").json(), &found);
        if wrong.is_empty() || told.elapsed() > Duration::from_secs(10) {
            break wrong;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The modes whose outcome or state is another than it should be.
fn wrong(status: &Value, found: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    for ((mode, state, outcome), found) in MODES.iter().zip(found) {
        let status = &status["servers"][mode];
        let is_state = state.is_empty() || state.split('|').any(|state| status["state"] == state);
        let says_why = status["state"] == "ready" || status["reason"].is_string() || status["restarts"] == 0;
        if !found.starts_with(outcome) || !is_state || !says_why {
            wrong.push(format!("{mode}: {found}: {status}"));
        }
    }
    wrong
}

/// A server of one mode, and what is known of it once it is ready.
fn alone(mode: &str) -> (Gateway, Value) {
    let gateway = Gateway::serving(&(good() + &server(mode)));
    let status = gateway.until(mode, |status| status["state"] == "ready");
    (gateway, status)
}

// makenotion/notion-mcp-server#340, zereight/gitlab-mcp#550; opentokenz/mcpx#28, anthropics/claude-code#76040
#[test]
fn one_bad_tool_is_left_out_alone() {
    let (gateway, status) = alone("bad-schema");
    assert!(status["quarantined"]["bad"].is_string(), "{status}");
    assert_eq!(gateway.tools(), ["bad-schema__act", "bad-schema__act_too", "good__echo"]);
    let (gateway, status) = alone("schema-bomb");
    assert!(status["warnings"].to_string().contains("too deep"), "{status}");
    assert!(
        status["quarantined"]["bulk"].is_string()
            || status["quarantined"]["doubling"].is_string()
            || status["tools"] == 3,
        "{status}"
    );
    assert!(gateway.tools().contains(&"schema-bomb__act".to_owned()));
    assert_eq!(text(&gateway.call("schema-bomb__act", &json!({ "note": "x" }))), "acted: x");
    let (_gateway, status) = alone("duplicate-names");
    assert!(status["quarantined"]["act"].is_string(), "{status}");
    let (gateway, _) = alone("collisions");
    assert_eq!(gateway.tools().len(), 7);
}

/// Whoever sends a line without an end is no longer there, and is started again.
#[test]
fn a_line_without_an_end_is_given_up() {
    let (gateway, _) = alone("endless-line");
    assert_eq!(outcome(&gateway.call("endless-line__act", &json!({}))), "outcome_unknown");
    let status = gateway.until("endless-line", |status| status["restarts"] != 0);
    assert!(status["state"] != "failed" || status["reason"].to_string().contains("does not end"), "{status}");
    assert_eq!(text(&gateway.call("good__echo", &json!({ "text": "well" }))), "well");
}

// QwenLM/qwen-code#2439, tailcallhq/forgecode#2281, nicobailon/pi-mcp-adapter#55
#[test]
fn a_huge_result_is_cut_and_kept() {
    let run_file = good() + &server("huge-line").replace("timeout = \"3s\"\nidle_timeout = \"2s\"\n", "");
    let gateway = Gateway::serving(&run_file);
    let answer = gateway.call("huge-line__act", &json!({}));
    assert!(answer.to_string().len() < 1 << 20, "{}", answer.to_string().len());
    let said = &answer["result"]["_meta"]["dev.lockgate/result"];
    assert!(said["artifact"].is_string(), "{said}");
    assert!(
        said["truncated_bytes"].as_u64() > Some(9 << 20) || said["truncated_chars"].as_u64() > Some(9 << 20),
        "{said}"
    );
    assert!(gateway.most_memory() < 400 << 20);
}
