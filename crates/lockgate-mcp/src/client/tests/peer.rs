//! A server that does what a script says, over a pair of streams.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ports::{BoxFuture, Caller, Report, Unanswered};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc;

use crate::client::core::Core;
use crate::client::transport::{Pipes, Wire};
use crate::client::{ClientError, Connection, Event, Listener, Options, Outgoing, Patience, era};

/// What a script does about a message.
pub(super) enum Act {
    /// Sends a line.
    Line(String),
    /// Ends the process.
    Exit,
}

pub(super) fn line(message: &Value) -> Act {
    Act::Line(message.to_string())
}

/// Answers a request.
pub(super) fn reply(request: &Value, result: &Value) -> Act {
    line(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
}

pub(super) fn fail(request: &Value, code: i64, message: &str) -> Act {
    line(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": message } }))
}

type Script = dyn Fn(&Value) -> Vec<Act> + Send + Sync;

/// One process after the other, all with one script, and all that they read.
pub(super) struct Peer {
    pub(super) log: Arc<Mutex<Vec<Value>>>,
    pub(super) starts: Arc<Mutex<usize>>,
    pub(super) heard: Arc<Heard>,
    /// Says something by itself.
    pub(super) says: Arc<Mutex<Option<mpsc::UnboundedSender<Act>>>>,
    script: Arc<Script>,
}

impl Peer {
    pub(super) fn new(script: impl Fn(&Value) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self {
            log: Arc::default(),
            starts: Arc::default(),
            heard: Arc::default(),
            says: Arc::default(),
            script: Arc::new(script),
        }
    }

    pub(super) async fn open(&self, options: Options) -> Result<Connection, ClientError> {
        let start = || {
            *self.starts.lock().unwrap() += 1;
            let (ours, theirs) = duplex(1 << 20);
            let (says, said) = mpsc::unbounded_channel();
            *self.says.lock().unwrap() = Some(says);
            tokio::spawn(serve(theirs, self.script.clone(), self.log.clone(), said));
            let (reader, writer) = tokio::io::split(ours);
            let pipes = Pipes::over(Box::new(reader), Box::new(writer), None);
            let wire = Wire::Pipes(Box::new(pipes));
            let core = Core::new(wire, options.clone(), self.heard.clone());
            core.wire.begin(&core);
            Ok(core)
        };
        let (core, facts) = era::of_pipes(start).await?;
        Ok(Connection::begin(core, facts).await)
    }

    pub(super) fn say(&self, message: &Value) {
        self.say_act(line(message));
    }

    pub(super) fn say_act(&self, act: Act) {
        self.says.lock().unwrap().as_ref().unwrap().send(act).ok().unwrap();
    }

    /// What was sent by this method.
    pub(super) fn sent(&self, method: &str) -> Vec<Value> {
        self.log.lock().unwrap().iter().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Waits until something like it was sent.
    pub(super) async fn until_sent(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        until(|| self.log.lock().unwrap().iter().find(|message| is_it(message)).cloned()).await
    }
}

/// Looks until there is something; a test that waits for what never comes fails.
pub(super) async fn until<T>(look: impl Fn() -> Option<T>) -> T {
    for _ in 0..10_000 {
        if let Some(found) = look() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it never comes");
}

async fn serve(
    stream: DuplexStream,
    script: Arc<Script>,
    log: Arc<Mutex<Vec<Value>>>,
    mut said: mpsc::UnboundedReceiver<Act>,
) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    loop {
        let acts = tokio::select! {
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                let message: Value = serde_json::from_str(&line).unwrap();
                log.lock().unwrap().push(message.clone());
                script(&message)
            }
            Some(act) = said.recv() => vec![act],
        };
        for act in acts {
            match act {
                Act::Line(line) => {
                    let line = line + "\n";
                    if writer.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
                Act::Exit => return,
            }
        }
    }
}

/// What was heard.
#[derive(Default)]
pub(super) struct Heard(pub(super) Mutex<Vec<Event>>);

impl Listener for Heard {
    fn heard(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl Heard {
    pub(super) fn shown(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|event| format!("{event:?}")).collect()
    }
}

/// Whoever called: reports are kept, and questions answered as a test says.
pub(super) struct Person {
    pub(super) reports: Mutex<Vec<Report>>,
    pub(super) asked: Mutex<Vec<Document>>,
    answers: Result<Value, Unanswered>,
}

impl Person {
    pub(super) fn new(answers: Result<Value, Unanswered>) -> Arc<Self> {
        Arc::new(Self { reports: Mutex::default(), asked: Mutex::default(), answers })
    }
}

impl Caller for Person {
    fn beside(&self) -> Option<Document> {
        None
    }

    fn report(&self, report: Report) {
        self.reports.lock().unwrap().push(report);
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        let names: Vec<String> = questions.root().members().map(|(name, _)| name.into_owned()).collect();
        self.asked.lock().unwrap().push(questions);
        let answer =
            |answer: &Value| names.into_iter().map(|name| (name, answer.clone())).collect::<serde_json::Map<_, _>>();
        let answers = self.answers.clone().map(|value| doc(&Value::Object(answer(&value))));
        Box::pin(async move { answers })
    }
}

pub(super) fn doc(value: &Value) -> Document {
    Document::parse(value.to_string(), Limits::OUTPUT).unwrap()
}

pub(super) const PATIENCE: Patience = Patience { idle: Duration::from_secs(20), absolute: Duration::from_mins(1) };

pub(super) fn options() -> Options {
    Options { patience: PATIENCE, ..Options::new("test", "1") }
}

/// Who can be asked to fill in a form.
pub(super) fn askable() -> Options {
    let capabilities = doc(&json!({ "elicitation": { "form": {} } }));
    Options { capabilities, ..options() }
}

pub(super) fn call(name: &str) -> Outgoing<'static> {
    Outgoing::new("tools/call", doc(&json!({ "name": name, "arguments": {} })), PATIENCE)
}

/// A modern server that answers everything it is asked at the start, and the rest as the script says.
pub(super) fn modern(script: impl Fn(&Value) -> Vec<Act> + Send + Sync + 'static) -> Peer {
    modern_with(json!({ "tools": {} }), script)
}

pub(super) fn modern_with(capabilities: Value, script: impl Fn(&Value) -> Vec<Act> + Send + Sync + 'static) -> Peer {
    Peer::new(move |message| match message["method"].as_str() {
        Some("server/discover") => {
            let result = json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                "ttlMs": 0, "cacheScope": "private",
            });
            vec![reply(message, &result)]
        }
        _ => script(message),
    })
}

/// The same of the legacy era.
pub(super) fn legacy(script: impl Fn(&Value) -> Vec<Act> + Send + Sync + 'static) -> Peer {
    Peer::new(move |message| match message["method"].as_str() {
        Some("server/discover") => vec![fail(message, -32601, "Method not found")],
        Some("initialize") => vec![reply(message, &initialized("2025-11-25"))],
        Some("notifications/initialized") => Vec::new(),
        _ => script(message),
    })
}

pub(super) fn initialized(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } })
}
