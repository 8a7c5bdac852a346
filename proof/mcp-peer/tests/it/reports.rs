//! What was reported of other hosts and gateways, at the gateway's level. `table.rs` says which report is shown by which test.

#![expect(clippy::disallowed_methods, reason = "a test looks into the files of the servers that it is about")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Session, exchange, get, modern, open, post, request};
use crate::gateway::{Gateway, code, peer, text, wait_for};
use crate::upstreams::{Server, who_am_i};

fn paid(gateway: &Gateway) -> u64 {
    std::fs::metadata(gateway.path("paid")).map_or(0, |file| file.len())
}

// anthropics/claude-code#55970, punkpeye/mcp-remote#106, spring-ai#3337; smg-project/smg#2441, Hmbown/Codewhale#4728
#[test]
fn a_server_that_was_started_again_is_called_again_and_nothing_twice() {
    let mut gateway = Gateway::new("");
    let server = Server::start(&["count"], "127.0.0.1:0", &gateway);
    gateway.write("gateway.toml", &format!("[journal]\nurl = \"memory:\"\n\n[mcp.bank]\nurl = \"http://{}/mcp\"\nera = \"legacy\"\npermission = \"allow\"\n", server.address));
    gateway.start();
    assert_eq!(gateway.status("bank")["protocol"], "2025-11-25");
    assert_eq!(text(&gateway.call("bank__pay", &json!({}))), "paid");
    let address = server.kill();
    let server = Server::start(&["count"], &address, &gateway);
    assert_eq!(
        text(&wait_for("the new session", || {
            let answer = gateway.call("bank__pay", &json!({}));
            // What was refused for its session was not taken up, and may be sent again; what was lost may not.
            (answer["result"]["isError"] != true).then_some(answer)
        })),
        "paid"
    );
    assert_eq!(paid(&gateway), 2);
    let (address, call) = (gateway.address(), json!({ "name": "bank__pay", "arguments": { "delay_ms": 60_000 } }));
    let waiting = std::thread::spawn(move || post(address, "/mcp", None, "tools/call", call).unwrap().json());
    wait_for("the payment", || (paid(&gateway) == 3).then_some(()));
    let place = server.kill();
    assert_eq!(code(&waiting.join().unwrap()), "outcome_unknown");
    let _server = Server::start(&["count"], &place, &gateway);
    gateway.until("bank", |status| status["state"] == "ready");
    wait_for("a good call", || (gateway.call("bank__pay", &json!({}))["result"]["isError"] != true).then_some(()));
    assert_eq!(paid(&gateway), 4);
}

// anomalyco/opencode#28186, NousResearch/hermes-agent#94723, typescript-sdk#2250
#[test]
fn progress_keeps_a_call_alive_up_to_an_absolute_limit() {
    let server = peer(&["hostile", "progress-forever"]);
    let gateway = Gateway::serving(&format!(
        "[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.slow]\n{server}\npermission = \"allow\"\ntimeout = \"2s\"\nidle_timeout = \"700ms\"\n"
    ));
    let since = Instant::now();
    let answer = gateway.call("slow__act", &json!({}));
    assert!(since.elapsed() >= Duration::from_secs(2), "{:?}", since.elapsed());
    assert_eq!(code(&answer), "outcome_unknown");
    let run = answer["result"]["structuredContent"]["run_id"].as_str().unwrap();
    let shown = gateway.run(&["runs", "show", run, "--all", "--format", "jsonl", "--journal", "sqlite:journal.db"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("2s") && shown.contains("700ms"), "{shown}");
}

// openai/codex#33266, aaif-goose/goose#10433, maximhq/bifrost#6885, claude-code#79826
#[test]
fn a_changed_list_is_read_anew_and_told() {
    let server = peer(&["hostile", "changing"]);
    let mut gateway = Gateway::new(&format!(
        "[auth]\nanonymous = true\nrun_key_file = \"run.key\"\n\n[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.odd]\n{server}\npermission = \"ask\"\n"
    ));
    // A run that waits for a person, and a token of it: its key has to be there before it is named.
    let first = Gateway::serving(&format!(
        "[journal]\nurl = \"sqlite:{}\"\n\n[mcp.odd]\n{server}\npermission = \"ask\"\n",
        gateway.path("journal.db").display()
    ));
    first.call("odd__act", &json!({}));
    drop(first);
    let runs = gateway.json(&["runs", "list", "--format", "json", "--journal", "sqlite:journal.db"]);
    let run = runs[0]["run_id"].as_str().unwrap_or_else(|| panic!("{runs}")).to_owned();
    let token = gateway.run(&["token", "run", &run, "--key", "run.key", "--journal", "sqlite:journal.db"]);
    let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    gateway.start();
    assert_eq!(gateway.tools(), ["odd__act"]);
    let address = gateway.address();
    let of_run = |method: &str, params: Value| {
        post(address, &format!("/runs/{run}/mcp"), Some(&token), method, params).unwrap().json()
    };
    assert_eq!(of_run("tools/list", json!({}))["result"]["tools"][0]["name"], "odd__act");

    let listen =
        modern(address, "/mcp", None, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let mut listening = BufReader::new(open(address, listen.as_bytes()).unwrap());
    let mut hears = |word: &str| {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(listening.read_line(&mut line).unwrap(), 0, "the stream ended before `{word}`");
        }
    };
    hears("acknowledged");
    let noted = json!({ "note": "now" });
    let asked = gateway.call("odd__act", &noted);
    let id = asked["result"]["structuredContent"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    gateway.run(&["approvals", "approve", id, "--by", "chris", "--journal", "sqlite:journal.db"]);
    assert_eq!(text(&gateway.call("odd__act", &noted)), "acted: now");
    hears("notifications/tools/list_changed");
    wait_for("the new list", || (gateway.tools() == ["odd__act", "odd__act_more"]).then_some(()));
    // A run is bound to what it began with, and neither sees nor calls what came in its place.
    let answer = of_run("tools/call", json!({ "name": "odd__act", "arguments": {} }));
    assert_eq!(code(&answer), "definition_changed", "{answer}");
    // Nor another run's tools by this token, nor these by the token of nobody.
    let other = post(address, "/runs/run-000000000000/mcp", Some(&token), "tools/list", json!({})).unwrap();
    assert!(matches!(other.status, 401 | 403), "{}", other.status);
    assert!(matches!(post(address, "/mcp", Some(&token), "tools/list", json!({})).unwrap().status, 401 | 403));
    assert!(matches!(
        post(address, &format!("/runs/{run}/mcp"), None, "tools/list", json!({})).unwrap().status,
        401 | 403
    ));
}

/// A server that hears through a pipe which keeps what it heard.
fn overheard(mode: &[&str], file: &str) -> String {
    let program = [env!("CARGO_BIN_EXE_mcp-peer")].iter().chain(mode).copied().collect::<Vec<_>>().join(" ");
    format!("command = [\"bash\", \"-c\", \"tee {file} | {program}\"]")
}

// openai/codex#26956, opencode#24312, IBM/mcp-context-forge#1983
#[test]
fn an_interrupt_reaches_the_server_in_both_eras() {
    let servers = ["legacy", "modern"].map(|era| {
        let server = overheard(&["hostile", "silent-calls", "--era", era], &format!("{era}.heard"));
        format!("[mcp.{era}]\n{server}\npermission = \"allow\"\n\n")
    });
    let gateway = Gateway::serving(&format!("[journal]\nurl = \"memory:\"\n\n{}", servers.concat()));
    let address = gateway.address();
    let heard = |era: &str, word: &str| {
        wait_for(word, || {
            let heard = std::fs::read_to_string(gateway.path(&format!("{era}.heard"))).unwrap_or_default();
            (heard.matches(word).count() > 0).then_some(())
        });
        std::fs::write(gateway.path(&format!("{era}.heard")), "").unwrap();
    };
    for era in ["legacy", "modern"] {
        let tool = format!("{era}__act");
        // A client of the newer version goes away.
        let call = modern(address, "/mcp", None, "tools/call", json!({ "name": tool, "arguments": {} }));
        let stream = open(address, call.as_bytes()).unwrap();
        heard(era, "tools/call");
        drop(stream);
        heard(era, "notifications/cancelled");
        // One of the older versions says so.
        let session = Session::begin(address, "2025-11-25");
        let call =
            json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
        let stream = open(address, session.text(&call).as_bytes()).unwrap();
        heard(era, "tools/call");
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } }));
        heard(era, "notifications/cancelled");
        drop(stream);
    }
}

// hostinger/api-mcp-server#68
#[test]
fn each_call_has_a_key_that_goes_to_the_server() {
    let server = overheard(&["hostile", "polite"], "heard");
    let gateway = Gateway::serving(&format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.shop]\n{server}\npermission = \"allow\"\nidempotency_argument = \"note\"\n"
    ));
    for _ in 0..2 {
        assert!(text(&gateway.call("shop__act", &json!({}))).starts_with("acted: "));
    }
    let heard = std::fs::read_to_string(gateway.path("heard")).unwrap();
    let calls: Vec<Value> = heard
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|call: &Value| call["method"] == "tools/call")
        .collect();
    let keys: BTreeSet<_> =
        calls.iter().map(|call| call["params"]["_meta"]["dev.lockgate/idempotency-key"].as_str().unwrap()).collect();
    assert_eq!((calls.len(), keys.len()), (2, 2));
    assert!(
        calls
            .iter()
            .all(|call| call["params"]["arguments"]["note"] == call["params"]["_meta"]["dev.lockgate/idempotency-key"])
    );
}

// anthropics/claude-code#26658, openai/codex#18881, hermes-agent#57228, QwenPaw#4105
#[test]
fn no_server_outlives_the_gateway() {
    let servers = format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.stays]\n{}\n\n[mcp.tree]\ncommand = [\"bash\", \"-c\", \"sleep 3600 & {} hostile polite; wait\"]\n",
        peer(&["hostile", "stays"]),
        env!("CARGO_BIN_EXE_mcp-peer")
    );
    let mut gateway = Gateway::serving(&servers);
    gateway.until("tree", |status| status["state"] == "ready");
    assert!(gateway.children().len() >= 3, "{:?}", gateway.children());
    gateway.kill();
    wait_for("the end of all children", || gateway.children().is_empty().then_some(()));
    gateway.start();
    assert!(gateway.stops());
    wait_for("the end of all children", || gateway.children().is_empty().then_some(()));
}

// anthropics/claude-code#19882, microsoft/vscode#243602, metatool-ai/metamcp#249
#[test]
fn odd_names_are_called_by_others() {
    let gateway = Gateway::serving(&format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.odd]\n{}\npermission = \"allow\"\n",
        peer(&["hostile", "collisions"])
    ));
    let names = gateway.tools();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 6);
    for name in names {
        assert!(
            name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'),
            "{name}"
        );
        assert_eq!(text(&gateway.call(&name, &json!({ "note": name }))), format!("acted: {name}"));
    }
}

// agentgateway#962, #138, open-webui/mcpo#193, harness-sdk#1481
#[test]
fn dead_servers_keep_nobody_waiting() {
    let servers = format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.good]\n{}\npermission = \"allow\"\n\n[mcp.silent]\n{}\n\n[mcp.missing]\ncommand = [\"/no/such/program\"]\n\n[mcp.away]\nurl = \"http://127.0.0.1:1/mcp\"\n",
        peer(&["echo", "--stdio"]),
        peer(&["hostile", "silent"])
    );
    let since = Instant::now();
    let mut gateway = Gateway::serving(&servers);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert_eq!(gateway.tools(), ["good__echo"]);
    assert_eq!(gateway.status("silent")["state"], "starting");
    for server in ["missing", "away"] {
        let status = gateway.until(server, |status| status["reason"].is_string());
        assert!(matches!(status["state"].as_str(), Some("failed" | "starting")), "{status}");
    }
    let since = Instant::now();
    assert!(gateway.stops());
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    // One that is required is waited for, and without it nothing starts.
    gateway.write("gateway.toml", &servers.replace("[mcp.missing]\n", "[mcp.missing]\nrequired = true\n"));
    let output = gateway.run(&["serve", "gateway.toml", "--bind", "127.0.0.1:0"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("missing"));
}

fn token(gateway: &Gateway, id: &str, user: &str) -> String {
    let output = gateway.run(&["token", "create", id, "--user", user, "--agent", "bot", "--tokens", "tokens.toml"]);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

// IBM/mcp-context-forge#1078
#[test]
fn nobody_calls_under_anothers_token() {
    let address = who_am_i();
    let run_file = format!(
        "[auth]\ntokens_file = \"tokens.toml\"\n\n[journal]\nurl = \"memory:\"\n\n[mcp.hub]\nurl = \"http://{address}/mcp\"\npermission = \"allow\"\nbearer_env = \"OF_ALL\"\nbearer_env_by_user = {{ \"default/anna\" = \"OF_ANNA\", \"default/berta\" = \"OF_BERTA\" }}\n"
    );
    let mut gateway = Gateway::new(&run_file)
        .with_variable("OF_ALL", "all-0123456789-abcdef")
        .with_variable("OF_ANNA", "anna-0123456789-abcdef")
        .with_variable("OF_BERTA", "berta-0123456789-abcdef");
    let tokens = ["anna", "berta", "chris"].map(|user| (user, token(&gateway, user, user)));
    gateway.start();
    let address = gateway.address();
    let threads = (0..30).map(|turn| {
        let (user, token) = tokens[turn % 3].clone();
        std::thread::spawn(move || {
            let answer =
                post(address, "/mcp", Some(&token), "tools/call", json!({ "name": "hub__who", "arguments": {} }))
                    .unwrap()
                    .json();
            let said: String =
                answer["result"]["content"][1]["text"].as_str().unwrap_or_default().chars().rev().collect();
            match user {
                "chris" => {
                    assert!(answer["result"]["isError"] == true && !answer.to_string().contains("it is"), "{answer}");
                }
                user => assert!(said.contains(&format!("{user}-0123")), "{user}: {answer}"),
            }
        })
    });
    let threads: Vec<_> = threads.collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

// github/gh-aw#50772, punkpeye/mcp-remote#268
#[test]
fn a_server_s_secret_is_nowhere() {
    let secret = "s3cr3t-9f8e7d6c5b4a39281706f5e4";
    let run_file = format!(
        "[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.good]\n{}\nenv = [\"HUB_TOKEN\"]\npermission = \"allow\"\n\n[mcp.dies]\ncommand = [\"bash\", \"-c\", \"echo token $HUB_TOKEN; echo token $HUB_TOKEN >&2; exit 1\"]\nenv_set = {{ HUB_TOKEN = \"${{HUB_TOKEN}}\" }}\n",
        peer(&["echo", "--stdio"])
    );
    let mut gateway = Gateway::new(&run_file)
        .with_variable("HUB_TOKEN", secret)
        .with_variable("LOCKGATE_LOG", "trace")
        .with_variable("RUST_LOG", "trace");
    gateway.start();
    let address = gateway.address();
    let status = gateway.until("dies", |status| status["reason"].is_string());
    assert!(!status.to_string().contains(secret), "{status}");
    let answer = gateway.call("good__echo", &json!({ "text": format!("it is {secret}") }));
    assert!(!answer.to_string().contains(secret), "{answer}");
    for path in [format!("/mcp?token={secret}"), format!("/approvals?access_token={secret}")] {
        assert!(!get(address, &path).text().contains(secret));
    }
    let bearer = format!("Authorization: Bearer {secret}\r\n");
    let refused = exchange(address, request(address, "/mcp", &bearer, "{}").as_bytes()).unwrap();
    assert!(!refused.text().contains(secret));
    assert!(!gateway.said().contains(secret), "{}", gateway.said());
    assert!(gateway.stops());
    for file in std::fs::read_dir(gateway.path("")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
}

// agentic-community/mcp-gateway-registry#960, agentgateway#754
#[test]
fn calls_and_questions_are_bound_to_no_replica() {
    let server = peer(&["hostile", "polite"]);
    let first = Gateway::serving(&format!("[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.shop]\n{server}\n"));
    let journal = first.path("journal.db");
    let second =
        Gateway::serving(&format!("[journal]\nurl = \"sqlite:{}\"\n\n[mcp.shop]\n{server}\n", journal.display()));
    let session = Session::begin(first.address(), "2025-11-25");
    let elsewhere = session.text(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(exchange(second.address(), elsewhere.as_bytes()).unwrap().status, 404);
    let asked = first.call("shop__act", &json!({ "note": "once" }));
    let id = asked["result"]["structuredContent"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(second.call("shop__act", &json!({ "note": "once" }))["result"]["structuredContent"]["approval_id"], id);
    let approved = first.run(&["approvals", "approve", id, "--by", "chris", "--journal", "sqlite:journal.db"]);
    assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    assert_eq!(text(&second.call("shop__act", &json!({ "note": "once" }))), "acted: once");
    // It was good for one call.
    assert_ne!(first.call("shop__act", &json!({ "note": "once" }))["result"]["content"][0]["text"], "acted: once");
}

// typescript-sdk#2650
#[test]
fn who_listens_to_nothing_is_not_held() {
    let gateway =
        Gateway::serving(&format!("[journal]\nurl = \"memory:\"\n\n[mcp.good]\n{}\n", peer(&["echo", "--stdio"])));
    for nothing in [
        json!({}),
        json!({ "toolsListChanged": false }),
        json!({ "resourceSubscriptions": [] }),
        json!({ "unheardOf": true }),
    ] {
        // It ends, or nothing would be read here in time.
        let answer =
            post(gateway.address(), "/mcp", None, "subscriptions/listen", json!({ "notifications": nothing })).unwrap();
        let last = answer.json();
        assert!(last["result"]["resultType"] == "complete" || last["error"].is_object(), "{last}");
    }
}

// dcc-mcp-core#2432, mcp_agent_mail_rust#321
#[test]
fn a_handshake_agrees_on_every_version_that_has_one_and_no_other() {
    let gateway = Gateway::serving(&format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.good]\n{}\npermission = \"allow\"\n",
        peer(&["echo", "--stdio"])
    ));
    let agreed = |version: &str| {
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let answer =
            exchange(gateway.address(), request(gateway.address(), "/mcp", "", &body).as_bytes()).unwrap().json();
        answer["result"]["protocolVersion"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(agreed(version), version);
    }
    for version in ["2026-07-28", "2031-01-01", "", "latest"] {
        assert_eq!(agreed(version), "2025-11-25", "{version}");
    }
    let session = Session::begin(gateway.address(), "2025-06-18");
    let answer = session.ask("tools/call", &json!({ "name": "good__echo", "arguments": { "text": "well" } })).json();
    assert_eq!(text(&answer), "well");
}
