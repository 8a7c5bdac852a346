//! A server that a check needs: started, asked for its URL, and ended with this value.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a server has to say where it is. Cargo may have to build it first.
const START: Duration = Duration::from_mins(10);

/// How long a server has to end after its stdin did.
const END: Duration = Duration::from_secs(5);

/// A running server.
pub(crate) struct Peer {
    child: Child,
    url: String,
}

impl Peer {
    /// Starts a server, and waits until it has said its URL, on stdout or stderr. A URL without a path is that of `/mcp`.
    pub(crate) fn start(started: &mut Command) -> Result<Self, String> {
        let spawned = started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("xtask: {started:?} cannot be started: {error}"))?;
        let (sender, receiver) = mpsc::channel();
        listen(child.stdout.take(), sender.clone());
        listen(child.stderr.take(), sender);
        let mut peer = Self { child, url: String::new() };
        let mut said = Vec::new();
        while let Ok(line) = receiver.recv_timeout(START) {
            if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) {
                let has_path = url.trim_start_matches("http://").contains('/');
                peer.url = if has_path { url.to_owned() } else { format!("{url}/mcp") };
                return Ok(peer);
            }
            said.push(line);
        }
        Err(format!("xtask: {started:?} did not say its URL: {}", said.join("\n")))
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// Takes every line to the end, so that the server never waits for a reader.
fn listen(output: Option<impl Read + Send + 'static>, sender: mpsc::Sender<String>) {
    std::thread::spawn(move || {
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok)) {
            // Once the URL is known nobody wants the rest.
            let _ = sender.send(line);
        }
    });
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let step = Duration::from_millis(20);
        for _ in 0..END.as_millis() / step.as_millis() {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(step);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
