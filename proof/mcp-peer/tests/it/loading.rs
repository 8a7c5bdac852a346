use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn a_load_is_measured_in_both_eras() {
    let program = env!("CARGO_BIN_EXE_mcp-peer");
    let mut started = Command::new(program);
    let echo = ["echo", "--http", "127.0.0.1:0"];
    let mut server = started.args(echo).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    for era in ["modern", "legacy"] {
        let id = server.id().to_string();
        let words = ["load", "--url", url.trim(), "--era", era, "--callers", "4", "--calls", "40", "--watch", &id];
        let output = Command::new(program).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&said["calls"], &said["callers"]), (&Value::from(40), &Value::from(4)), "{era}");
        assert!(said["p99_ms"].as_f64() >= said["p50_ms"].as_f64() && said["memory_mib"].as_u64() > Some(0), "{said}");
    }
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}
