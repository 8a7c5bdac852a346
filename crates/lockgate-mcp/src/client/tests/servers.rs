//! Servers that are programs.

use std::sync::Arc;
use std::time::Duration;

use super::peer::{Heard, call, options, until};
use crate::client::{ClientError, Connection, Process, Transport};

/// A legacy server in few words. It answers the handshake, and `tools/call` by the rest of the script.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *server/discover*) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{}}}' ;;
    *tools/call*)
"#;

fn process(on_call: &str) -> Transport {
    Transport::Process(Process {
        command: ["sh", "-c", &format!("{SERVER}{on_call};;\n esac\ndone\necho bye >&2")].map(str::to_owned).to_vec(),
        environment: vec!["PATH".to_owned()],
        variables: Vec::new(),
        folder: None,
        patience: lockgate_sandbox::Patience {
            after_close: Duration::from_secs(2),
            after_request: Duration::from_millis(200),
        },
    })
}

#[tokio::test]
async fn a_program_is_started_called_and_closed() {
    let transport = process(r#"echo noise >&2; say '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[]}}' "#);
    let heard = Arc::new(Heard::default());
    let connection = Connection::open(transport, options(), heard.clone()).await.unwrap();
    assert!(connection.fence().is_some());
    connection.request(call("t")).await.unwrap();
    let began = tokio::time::Instant::now();
    connection.close().await;
    // It ends by itself when its input does.
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(heard.shown(), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_dies_in_a_call_says_its_last_words() {
    let transport = process("echo 'fatal: no database' >&2; exit 7");
    let heard = Arc::new(Heard::default());
    let connection = Connection::open(transport, options(), heard.clone()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Lost(why) if why.ends_with("fatal: no database")), "{error:?}");
    until(|| heard.shown().iter().any(|event| event.starts_with("Lost(")).then_some(())).await;
}

#[tokio::test]
async fn a_program_that_floods_its_standard_error_does_not_stand_still() {
    let transport = process(
        r#"head -c 3000000 /dev/zero | tr '\0' x >&2; say '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[]}}' "#,
    );
    let connection = Connection::open(transport, options(), Arc::new(Heard::default())).await.unwrap();
    connection.request(call("t")).await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_was_not_sent_anything() {
    let Transport::Process(mut process) = process("") else { unreachable!() };
    process.command = vec!["no-such-server".to_owned()];
    let error = Connection::open(Transport::Process(process), options(), Arc::new(Heard::default())).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing was sent: the program `no-such-server` is not found");
}
