//! Messages on their way: to a server on this machine, and to a program.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{NoRedaction, Redactor};
use lockgate_contract::time::Timestamp;
use lockgate_notify::{Happening, News, Notifier, Program, SIGNATURE, TIMESTAMP, Target, Webhook, signature};
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(20);

fn news(because: &str) -> News {
    let run_id = RunId::new("run-1");
    News {
        v: 1,
        happening: Happening::Requested,
        at: Timestamp::from_millis(0),
        approval_id: ApprovalId::new("apr-1"),
        call_id: run_id.call(0, 0),
        run_id,
        tool_name: Some("pay".to_owned()),
        effect: None,
        digest: None,
        expires_at: None,
        because: Some(because.to_owned()),
        approvers: None,
        state: None,
        decided_by: None,
    }
}

/// One request: its head and its body.
struct Received {
    head: String,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let line =
            self.head.lines().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)));
        line.map_or("", |(_, value)| value)
    }
}

/// A server that answers each request in turn with one of these; with the last one from then on.
fn server(answers: &'static [&'static str]) -> (String, mpsc::Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut bytes = Vec::new();
            let mut chunk = [0; 4096];
            let (head, length) = loop {
                let count = stream.read(&mut chunk).unwrap();
                bytes.extend_from_slice(&chunk[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, _)) = text.split_once("\r\n\r\n") {
                    let length = head
                        .lines()
                        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                    break (head.to_owned(), length.unwrap_or(0_usize));
                }
                assert!(count > 0);
            };
            while bytes.len() < head.len() + 4 + length {
                let count = stream.read(&mut chunk).unwrap();
                assert!(count > 0);
                bytes.extend_from_slice(&chunk[..count]);
            }
            let body = String::from_utf8(bytes[head.len() + 4..].to_vec()).unwrap();
            let answer = answers[number.min(answers.len() - 1)];
            if sender.send(Received { head, body }).is_err() {
                return;
            }
            if answer == "silence" {
                // The caller gives up first.
                let _ = stream.read(&mut chunk);
                continue;
            }
            write!(stream, "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        }
    });
    (format!("http://{address}/hook"), received)
}

fn to(url: &str, timeout: Duration) -> Notifier {
    let webhook = Webhook::new(url, "the-shared-secret", timeout).unwrap();
    Notifier::new(vec![Target::Webhook(webhook)], Arc::new(NoRedaction))
}

#[tokio::test]
async fn a_message_is_signed_over_its_time_and_its_body() {
    let (url, received) = server(&["204 No Content"]);
    let notifier = to(&url, PATIENCE);
    notifier.tell(&news("it is dear"));
    assert!(notifier.flush(PATIENCE).await);
    let message = received.try_recv().unwrap();
    assert!(message.head.starts_with("POST /hook HTTP/1.1"), "{}", message.head);
    let at: i64 = message.header(TIMESTAMP).parse().unwrap();
    assert_eq!(message.header(SIGNATURE), signature(b"the-shared-secret", at, &message.body));
    assert_ne!(message.header(SIGNATURE), signature(b"another-secret", at, &message.body));
    let body: serde_json::Value = serde_json::from_str(&message.body).unwrap();
    assert_eq!((&body["type"], &body["because"]), (&"approval.requested".into(), &"it is dear".into()));
    assert!(body.get("arguments").is_none());
    assert!(!format!("{}{}", message.head, message.body).contains("the-shared-secret"));
}

#[tokio::test]
async fn what_is_not_taken_is_sent_again_a_few_times() {
    let (url, received) = server(&["500 No", "503 No", "200 OK"]);
    let notifier = to(&url, PATIENCE);
    notifier.tell(&news("one"));
    assert!(notifier.flush(PATIENCE).await);
    assert_eq!(received.try_iter().count(), 3);
    let (url, received) = server(&["500 No"]);
    let notifier = to(&url, PATIENCE);
    notifier.tell(&news("one"));
    notifier.tell(&news("two"));
    assert!(notifier.flush(PATIENCE).await);
    let bodies: Vec<String> = received.try_iter().map(|message| message.body).collect();
    assert_eq!(bodies.len(), 6);
    // In order, and one that is given up does not keep the next.
    assert!(bodies[..3].iter().all(|body| body.contains("one")) && bodies[3..].iter().all(|body| body.contains("two")));
}

#[tokio::test]
async fn telling_never_waits() {
    let (url, received) = server(&["silence"]);
    let notifier = to(&url, Duration::from_millis(50));
    let begun = Instant::now();
    // More than there is room for.
    for _ in 0..1000 {
        notifier.tell(&news("slow"));
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!notifier.flush(Duration::from_millis(100)).await);
    drop(received);
    // Nobody listens there.
    let gone = to("http://127.0.0.1:1/", PATIENCE);
    gone.tell(&news("gone"));
    assert!(gone.flush(PATIENCE).await);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (url, received) = server(&["302 Found\r\nlocation: /elsewhere", "200 OK"]);
    let notifier = to(&url, PATIENCE);
    notifier.tell(&news("one"));
    assert!(notifier.flush(PATIENCE).await);
    assert!(received.try_iter().all(|message| message.head.starts_with("POST /hook ")));
}

/// Knows one word.
struct Knows;

impl Redactor for Knows {
    fn scrub<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        text.replace("hunter22", "[redacted]").into()
    }

    fn scrub_document(&self, document: &Document) -> Option<Document> {
        let scrubbed = self.scrub(document.text()).into_owned();
        (scrubbed != document.text())
            .then(|| Document::parse(scrubbed, lockgate_contract::document::Limits::OWN).unwrap())
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_reads_it_and_no_secret_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told");
    let command = ["/bin/sh", "-c", "cat >> \"$0\"", file.to_str().unwrap()];
    let program = Program::new(command.map(str::to_owned).to_vec(), Vec::new(), PATIENCE).unwrap();
    let notifier = Notifier::new(vec![Target::Program(program)], Arc::new(Knows));
    notifier.tell(&news("the password is hunter22"));
    assert!(notifier.flush(PATIENCE).await);
    let told = lockgate_host::files::read_to_string(&file).unwrap();
    assert!(told.contains("the password is [redacted]"), "{told}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["approval_id"], "apr-1");
}
