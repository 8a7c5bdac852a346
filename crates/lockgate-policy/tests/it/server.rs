//! A decision point on this machine that answers what the test says.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};

/// What one request was.
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A server that sends these bytes to whoever asks; `None` says nothing, and holds the connection.
pub(crate) fn server(answer: impl Into<Option<Vec<u8>>>) -> (String, Receiver<Received>) {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
            let request = loop {
                let count = stream.read(&mut chunk).unwrap_or(0);
                bytes.extend_from_slice(&chunk[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
                    if body.len() >= head.lines().find_map(length).unwrap_or(0_usize) {
                        break Some(Received { head: head.to_owned(), body: body.to_owned() });
                    }
                }
                if count == 0 {
                    break None;
                }
            };
            // Not every test looks at what was asked.
            let Some(request) = request else { continue };
            drop(sender.send(request));
            match &answer {
                // Whoever asked may have given up by now.
                Some(answer) => drop(stream.write_all(answer)),
                None => held.push(stream),
            }
        }
    });
    (format!("http://{address}/v1/data/lockgate/decision"), received)
}

/// An answer with a status line and a body.
pub(crate) fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}
