//! The outside world: a server that performs effects, and knows how often. It is a process of its own, so that no driver
//! takes it along.
//!
//! One line a connection, one line back:
//!
//! ```text
//! perform SCOPE KEY each|once    performed N | known      N effects under this key by now
//! seen SCOPE KEY                 yes | no
//! log SCOPE                      KEY performed|known …    in the order in which they came
//! ```
//!
//! Connections are served one after the other, in the order in which they came. What a driver had sent when it died is
//! therefore counted before anybody who connects later is answered.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

use crate::kill;

/// How long a client may keep the others waiting.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a second request under the same key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is performed again.
    Each,
    /// It is recognised, and not performed again.
    Once,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Once => "once",
        }
    }
}

/// One request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The idempotency key that it came with.
    pub key: String,
    /// Whether it was performed; not so where its key was recognised.
    pub performed: bool,
}

/// Serves until the process is ended.
pub fn serve(listener: &TcpListener) {
    let mut scopes: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for stream in listener.incoming().flatten() {
        // A client that died says nothing, and is owed no answer.
        let _ = answer(&stream, &mut scopes);
    }
}

fn answer(stream: &TcpStream, scopes: &mut BTreeMap<String, Vec<Entry>>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let mut writer = stream;
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["perform", scope, key, mode] => {
            let entries = scopes.entry(scope.to_owned()).or_default();
            let known = entries.iter().any(|entry| entry.key == key);
            let performed = !known || mode == Mode::Each.word();
            entries.push(Entry { key: key.to_owned(), performed });
            let count = entries.iter().filter(|entry| entry.performed && entry.key == key).count();
            if performed { writeln!(writer, "performed {count}") } else { writeln!(writer, "known") }
        }
        ["seen", scope, key] => {
            let seen = scopes.get(scope).is_some_and(|entries| entries.iter().any(|entry| entry.key == key));
            writeln!(writer, "{}", if seen { "yes" } else { "no" })
        }
        ["log", scope] => {
            let entries = scopes.get(scope).into_iter().flatten();
            let word = |entry: &Entry| if entry.performed { "performed" } else { "known" };
            let words: Vec<String> = entries.map(|entry| format!("{} {}", entry.key, word(entry))).collect();
            writeln!(writer, "{}", words.join(" "))
        }
        _ => Ok(()),
    }
}

/// Performs an effect, as a tool does.
pub(crate) async fn perform(server: SocketAddr, scope: &str, key: &str, mode: Mode) -> io::Result<String> {
    let mut stream = tokio::net::TcpStream::connect(server).await?;
    stream.write_all(format!("perform {scope} {key} {}\n", mode.word()).as_bytes()).await?;
    kill::reach_effect_sent();
    said(stream).await
}

/// Asks whether a request came under this key.
pub(crate) async fn seen(server: SocketAddr, scope: &str, key: &str) -> io::Result<bool> {
    let mut stream = tokio::net::TcpStream::connect(server).await?;
    stream.write_all(format!("seen {scope} {key}\n").as_bytes()).await?;
    Ok(said(stream).await? == "yes")
}

async fn said(stream: tokio::net::TcpStream) -> io::Result<String> {
    let mut line = String::new();
    if tokio::io::BufReader::new(stream).read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// What came in a scope, for the judge.
pub fn log(server: SocketAddr, scope: &str) -> io::Result<Vec<Entry>> {
    let mut stream = TcpStream::connect(server)?;
    writeln!(stream, "log {scope}")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let entry = |pair: &[&str]| Entry { key: pair[0].to_owned(), performed: pair.get(1) == Some(&"performed") };
    Ok(words.chunks(2).map(entry).collect())
}
