//! What really goes to an OpenAI-compatible server: a local one, whose answers a test writes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

use lockgate::contract::ports::ProposedCall;
use lockgate::models::{Provider, RemoteModel, RemoteOptions};
use lockgate::prelude::*;
use serde_json::{Value, json};

/// Reads a request and writes the assistant's message.
pub(super) type Reply = Box<dyn FnOnce(&Value) -> Value + Send>;

/// A server with one reply a request; it keeps what it was asked.
pub(super) struct Wire {
    address: String,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Wire {
    pub(super) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for reply in replies {
                let (stream, _) = listener.accept().unwrap();
                serve(&stream, reply, &seen);
            }
        });
        Self { address, bodies }
    }

    /// A server whose model asks for these calls, and then is done.
    pub(super) fn asking_for(calls: Vec<ProposedCall>) -> Self {
        let first: Reply = Box::new(move |_| assistant(&calls));
        Self::start(vec![first, Box::new(|_| done())])
    }

    /// The adapter for this server.
    pub(super) fn model(&self) -> Arc<dyn ModelAdapter> {
        let mut options = RemoteOptions::new(Provider::OpenaiCompatible, "test-model");
        options.base_url = Some(format!("http://{}/v1", self.address));
        Arc::new(RemoteModel::with_environment(options, |_| None).unwrap())
    }

    /// The text of the requests so far.
    pub(super) fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }

    /// The last request; it must be one that such a server takes.
    pub(super) fn last_request(&self) -> Value {
        let request = serde_json::from_str(self.bodies().last().unwrap()).unwrap();
        check_request(&request);
        request
    }
}

/// The message of an assistant that is done.
pub(super) fn done() -> Value {
    json!({"role": "assistant", "content": "done"})
}

/// The message of an assistant that asks for calls.
pub(super) fn assistant(calls: &[ProposedCall]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments_text});
            json!({"id": call.provider_call_id, "type": "function", "function": function})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

/// What such servers refuse a whole request for: names of other characters, more than 128 calls in a message, ids that
/// are used twice, calls without a result right behind them, arguments that are no object, `strict` where it is not kept.
fn check_request(request: &Value) {
    let name_fits = |name: &Value| {
        let name = name.as_str().unwrap();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!((1..=64).contains(&name.len()) && name.bytes().all(allowed), "{name}");
    };
    for tool in request["tools"].as_array().into_iter().flatten() {
        name_fits(&tool["function"]["name"]);
        assert_ne!(tool["function"]["strict"], true);
        assert_eq!(tool["function"]["parameters"]["type"], "object");
    }
    let mut due: Vec<String> = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for message in request["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            assert_eq!(due.remove(0), message["tool_call_id"].as_str().unwrap());
            serde_json::from_str::<serde::de::IgnoredAny>(message["content"].as_str().unwrap()).unwrap();
            continue;
        }
        assert!(due.is_empty(), "a call without a result");
        let calls = message["tool_calls"].as_array();
        assert!(calls.is_none_or(|calls| calls.len() <= 128), "too many calls in one message");
        for call in calls.into_iter().flatten() {
            let id = call["id"].as_str().unwrap().to_owned();
            assert!(!id.is_empty() && used.insert(id.clone()), "id `{id}` is used twice");
            name_fits(&call["function"]["name"]);
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(Document::parse(arguments, lockgate::contract::document::Limits::OWN).is_ok(), "{arguments}");
            assert!(arguments.trim_start().starts_with('{'), "{arguments}");
            due.push(id);
        }
    }
    assert!(due.is_empty(), "a call without a result");
}

fn serve(mut stream: &TcpStream, reply: Reply, bodies: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the client closed early");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let message = reply(&serde_json::from_str(&body).unwrap());
    bodies.lock().unwrap().push(body);
    let reason = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]}).to_string();
    let length = answer.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{answer}").as_bytes()).unwrap();
}
