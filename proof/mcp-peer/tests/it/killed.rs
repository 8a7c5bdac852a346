//! The gateway is killed in the middle of calls. What was paid was paid once, and the journal knows of each.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::post;
use crate::gateway::{Gateway, code, peer, text, wait_for};

/// Enough to see every moment of a call, few enough to wait for.
const ROUNDS: u64 = 20;
const CALLERS: usize = 8;

fn run_file(permission: &str) -> String {
    let counting = peer(&["count", "--stdio", "--file", "paid"]);
    format!(
        "[journal]\nurl = \"sqlite:journal.db\"\n\n[mcp.bank]\n{counting}\neffect = \"external\"\npermission = \"{permission}\"\n"
    )
}

fn paid(gateway: &Gateway) -> u64 {
    std::fs::metadata(gateway.path("paid")).map_or(0, |file| file.len())
}

/// A payment under a key, which says all that it is.
fn payment(key: &str) -> Value {
    let delay = key.len() % 3;
    let meta = json!({ "dev.lockgate/idempotency-key": key });
    json!({ "name": "bank__pay", "arguments": { "delay_ms": delay, "note": key }, "_meta": meta })
}

fn pay(gateway: &Gateway, key: &str) -> Value {
    gateway.ask("tools/call", payment(key))
}

/// Eight callers until the gateway is killed under them: the keys that they sent, and those that were answered.
fn calls_until_killed(gateway: &mut Gateway, round: u64) -> (Vec<String>, BTreeSet<String>) {
    let address = gateway.address();
    let (sender, answered) = mpsc::channel();
    let callers = (0..CALLERS).map(|caller| {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut sent = Vec::new();
            for call in 0.. {
                let key = format!("key-{round}-{caller}-{call}");
                sent.push(key.clone());
                let Ok(answer) = post(address, "/mcp", None, "tools/call", payment(&key)) else { return sent };
                // Half of an answer is none.
                let Some(answer) = answer.messages().pop() else { return sent };
                assert_eq!(text(&answer), "paid");
                sender.send(key).unwrap();
            }
            sent
        })
    });
    let callers: Vec<_> = callers.collect();
    // So many calls are answered before it is killed, and a little later: between them lie all the moments of a call.
    let before = usize::try_from(round * 7 % 24).unwrap();
    let mut known: BTreeSet<_> = answered.iter().take(before).collect();
    std::thread::sleep(Duration::from_micros(round * 613 % 5_000));
    gateway.kill();
    drop(sender);
    known.extend(answered);
    (callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect(), known)
}

#[test]
fn no_call_is_paid_twice_however_often_the_gateway_is_killed() {
    let mut gateway = Gateway::new(&run_file("allow"));
    let (mut all, mut unknown) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        gateway.start();
        let (sent, answered) = calls_until_killed(&mut gateway, round);
        // Nobody is left behind who could still pay.
        wait_for("the end of its children", || gateway.children().is_empty().then_some(()));
        all.extend(sent.iter().cloned());
        assert!(paid(&gateway) <= all.len() as u64);

        // It works at once on the same journal, and whoever sends again is told what became of it.
        gateway.start();
        let before = paid(&gateway);
        let again: Vec<_> = sent.iter().filter(|key| !answered.contains(*key)).collect();
        let mut run_now = 0;
        for key in &again {
            let answer = pay(&gateway, key);
            if answer["result"]["isError"] == true {
                assert!(matches!(code(&answer), "outcome_unknown" | "cancelled" | "interrupted"), "{answer}");
                unknown += 1;
            } else if answer["result"]["_meta"]["dev.lockgate/result"]["deduplicated"].is_null() {
                run_now += 1;
            }
        }
        assert_eq!(paid(&gateway), before + run_now, "only what had not begun is paid now");
        for key in answered.iter().take(3) {
            let answer = pay(&gateway, key);
            assert_eq!(text(&answer), "paid");
            assert!(!answer["result"]["_meta"]["dev.lockgate/result"]["deduplicated"].is_null(), "{answer}");
        }
        assert_eq!(paid(&gateway), before + run_now);
        assert!(gateway.stops());
    }
    assert!(unknown > 0, "no kill came in the middle of a call");
    assert!(paid(&gateway) <= all.len() as u64);
    accounted_for(&gateway);
}

/// Every run of the journal is whole, and each that is not settled is one that a person can settle.
fn accounted_for(gateway: &Gateway) {
    let journal = ["--journal", "sqlite:journal.db", "--format", "json"];
    let checked = gateway.json(&[&["journal", "check"][..], &journal].concat());
    assert_eq!(checked["clean"], true, "{checked}");
    let runs = gateway.json(&[&["runs", "list", "--limit", "100000"][..], &journal].concat());
    let runs = runs.as_array().unwrap_or_else(|| panic!("{runs}"));
    assert!(!runs.is_empty());
    for run in runs {
        let status = run["status"].as_str().unwrap_or("open");
        assert!(matches!(status, "completed" | "needs_reconciliation" | "cancelled" | "open"), "{run}");
        if status == "open" {
            // Its caller died before the call began, so that no key leads back to it.
            let id = run["run_id"].as_str().unwrap();
            let shown =
                gateway.run(&["runs", "show", id, "--all", "--format", "jsonl", "--journal", "sqlite:journal.db"]);
            let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
            assert!(shown.contains("run.started") && !shown.contains("tool.started"), "{shown}");
        }
    }
}
