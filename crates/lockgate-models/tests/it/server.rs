//! A server of a few answers, each on a connection of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use lockgate_models::{Provider, RemoteModel, RemoteOptions, ToolCalls};

/// What the server does with one request.
pub(crate) enum Reply {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Writes these bytes and closes.
    Bytes(Vec<u8>),
    /// Writes these bytes, then nothing until the client gives up.
    Stall(Vec<u8>),
}

impl Reply {
    pub(crate) fn json(status: u16, body: impl Into<String>) -> Self {
        Self::Answer(status, vec![("content-type", "application/json".to_owned())], body.into())
    }

    /// A stream of server-sent events with these data.
    pub(crate) fn events<'a>(data: impl IntoIterator<Item = &'a str>) -> Self {
        let body: String =
            data.into_iter().flat_map(|data| ["data: ".to_owned(), data.to_string(), "\r\n\r\n".to_owned()]).collect();
        Self::Answer(200, vec![("content-type", "text/event-stream".to_owned())], body)
    }

    /// A stream of lines.
    pub(crate) fn lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let body: String = lines.into_iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
        Self::Answer(200, vec![("content-type", "application/x-ndjson".to_owned())], body)
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
}

pub(crate) struct Server {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    thread: JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let thread = std::thread::spawn(move || {
            for reply in replies {
                let (stream, _) = listener.accept().unwrap();
                serve(&stream, reply, &log);
            }
        });
        Self { address, received, thread }
    }

    /// The adapter's options for this server.
    pub(crate) fn options(&self) -> RemoteOptions {
        let base_url = Some(format!("http://{}/v1", self.address));
        RemoteOptions { base_url, ..RemoteOptions::new(Provider::OpenaiCompatible, "test-model") }
    }

    /// An adapter for another provider at this server.
    pub(crate) fn model_of(&self, provider: Provider, tools: ToolCalls) -> RemoteModel {
        let base_url = Some(format!("http://{}/base", self.address));
        let options = RemoteOptions { base_url, tools, ..RemoteOptions::new(provider, "test-model") };
        RemoteModel::with_environment(options, |_| None).unwrap()
    }

    /// An adapter for this server, without a key.
    pub(crate) fn model(&self) -> RemoteModel {
        RemoteModel::with_environment(self.options(), |_| None).unwrap()
    }

    /// Waits until every reply was used, and returns the requests. The client's own tasks go on meanwhile: the server may
    /// be waiting for one of them to hang up.
    pub(crate) async fn finish(self) -> Vec<Received> {
        tokio::task::spawn_blocking(|| self.thread.join()).await.unwrap().unwrap();
        self.received.lock().unwrap().clone()
    }
}

fn serve(mut stream: &TcpStream, reply: Reply, log: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "the client closed early");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    log.lock().unwrap().push(Received { head, body: String::from_utf8(body).unwrap() });

    // A client that stopped reading is part of some tests, so failed writes are no failure.
    match reply {
        Reply::Answer(status, headers, body) => {
            let mut answer =
                format!("HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                answer.extend([name, ": ", &value, "\r\n"]);
            }
            let _ = stream.write_all(format!("{answer}\r\n{body}").as_bytes());
        }
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes);
        }
        Reply::Stall(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = reader.read(&mut [0]);
        }
    }
}
