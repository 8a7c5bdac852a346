//! The real command `lockgate serve`, in a folder of its own, before peers that the same run built.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, exchange, get, post};

/// How long anything may take before it counts as hanging.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A folder with a run file, and the gateway that serves it.
pub(crate) struct Gateway {
    folder: TempDir,
    child: Option<Child>,
    /// The command's own arguments behind `serve gateway.toml`.
    words: Vec<String>,
    variables: Vec<(String, String)>,
    address: Option<SocketAddr>,
    said: Said,
}

/// What the gateway said on standard error.
#[derive(Clone, Default)]
struct Said(Arc<(Mutex<String>, Condvar)>);

/// The command: built beside this test by whoever runs the workspace's tests.
pub(crate) fn lockgate() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-peer")).with_file_name("lockgate");
    assert!(program.exists(), "`{}` is not there: `cargo build -p lockgate-cli` makes it", program.display());
    program
}

/// A server's command as a run file has it.
pub(crate) fn peer(words: &[&str]) -> String {
    let words = [env!("CARGO_BIN_EXE_mcp-peer")].iter().chain(words);
    format!("command = {}", json!(words.collect::<Vec<_>>()))
}

impl Gateway {
    /// A folder with this run file. Nothing runs yet.
    pub(crate) fn new(run_file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gateway = Self {
            folder,
            child: None,
            words: vec!["--bind".to_owned(), "127.0.0.1:0".to_owned()],
            variables: Vec::new(),
            address: None,
            said: Said::default(),
        };
        gateway.write("gateway.toml", run_file);
        gateway
    }

    /// The same, started.
    pub(crate) fn serving(run_file: &str) -> Self {
        let mut gateway = Self::new(run_file);
        gateway.start();
        gateway
    }

    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command with these words, in this folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(lockgate());
        command.args(words).current_dir(self.folder.path()).envs(self.variables.iter().cloned());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).stdin(Stdio::null()).output().unwrap()
    }

    /// What the command printed as JSON.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("{words:?}: {said}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Starts it, and waits until it listens.
    pub(crate) fn start(&mut self) {
        let mut words = vec!["serve", "gateway.toml"];
        words.extend(self.words.iter().map(String::as_str));
        let command = self.command(&words);
        self.spawn(command);
    }

    /// The same, with no file longer than so many blocks: as on a full disk, an attempt to write more is an error.
    pub(crate) fn start_limited(&mut self, blocks: u32) {
        let mut command = Command::new("bash");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        command.args(["-c", &script, "bash"]).arg(lockgate()).args(["serve", "gateway.toml"]).args(&self.words);
        command.current_dir(self.folder.path());
        self.spawn(command);
    }

    fn spawn(&mut self, mut command: Command) {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        self.said = Said::default();
        self.said.hear(child.stderr.take().unwrap());
        self.child = Some(child);
        let said = self.said.until(|said| said.contains("listening on http://"));
        let address = said.split("listening on http://").nth(1).and_then(|rest| rest.split_whitespace().next());
        self.address = Some(address.unwrap_or_else(|| panic!("it does not listen: {said}")).parse().unwrap());
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// What it said on standard error so far.
    pub(crate) fn said(&self) -> String {
        self.said.0.0.lock().unwrap().clone()
    }

    /// Waits until it has said something.
    pub(crate) fn says(&self, words: &str) {
        let said = self.said.until(|said| said.contains(words));
        assert!(said.contains(words), "it did not say `{words}`: {said}");
    }

    /// Kills it, as the system does when memory runs out.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks it to end. Whether it did, and well.
    pub(crate) fn stops(&mut self) -> bool {
        let mut child = self.child.take().unwrap();
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        wait_for("the end of the gateway", || child.try_wait().unwrap()).success()
    }

    /// The processes that it has started, whoever their parent is now: all those that work in its folder.
    pub(crate) fn children(&self) -> BTreeSet<u32> {
        let folder = self.folder.path().canonicalize().unwrap();
        let processes =
            std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        processes
            .filter(|process: &u32| Some(*process) != self.child.as_ref().map(Child::id))
            .filter(|process| std::fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|cwd| cwd == folder))
            .collect()
    }

    /// Its memory, in bytes, at its most.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
    }

    /// How a server stands, as `/status` says it.
    pub(crate) fn status(&self, server: &str) -> Value {
        get(self.address(), "/status").json()["servers"][server].clone()
    }

    /// Waits until a server stands so.
    pub(crate) fn until(&self, server: &str, is: impl Fn(&Value) -> bool) -> Value {
        wait_for(&format!("a state of `{server}`"), || Some(self.status(server)).filter(|status| is(status)))
    }

    /// A request of the newer version.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        post(self.address(), "/mcp", None, method, params).unwrap().json()
    }

    /// A call of a tool, and its whole answer.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The names of the tools that it lists.
    pub(crate) fn tools(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Bytes as they are, and the answer to them.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        exchange(self.address(), bytes).unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Said {
    fn hear(&self, stream: impl Read + Send + 'static) {
        let said = Self(Arc::clone(&self.0));
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let (text, heard) = &*said.0;
                let mut text = text.lock().unwrap();
                text.push_str(&line);
                text.push('\n');
                heard.notify_all();
            }
        });
    }

    /// What was said once it is what is waited for, or once that took too long.
    fn until(&self, is: impl Fn(&str) -> bool) -> String {
        let (text, heard) = &*self.0;
        let (text, _) = heard.wait_timeout_while(text.lock().unwrap(), SOON, |text| !is(text)).unwrap();
        text.clone()
    }
}

/// Looks until there is something, or for too long.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < SOON, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The text of a call's first block of content.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// The gate's own code of a call that led to nothing.
pub(crate) fn code(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["code"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
