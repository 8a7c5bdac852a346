//! A server's door over a journal with a question in it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http::Response;
use lockgate::assembly::{Assembly, Overrides};
use lockgate::config::AuthTable;
use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::digest::Digest;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{ApprovalFilter, Clock, Decision};
use lockgate::contract::time::Timestamp;
use lockgate::harness::{DirectCall, RunnerOptions};
use lockgate::host::clock::SystemClock;
use lockgate_server::auth::Authenticator;
use lockgate_server::pages::{Pages, PagesOptions};
use lockgate_server::tokens::{Token, TokenFile};
use serde_json::json;
use tempfile::TempDir;

use crate::web::{self, Answer};

const RUN_FILE: &str = r#"
[subject]
tenant = "demo"
user = "alice"
agent = "night-watch"

[[tools.mock]]
name = "create_ticket"
version = "1.0"
description = "Create a ticket."
effect = "write"
input_schema = { type = "object", properties = { title = { type = "string" } }, required = ["title"], additionalProperties = false }
behaviour = [{ returns = { id = "T-1" } }]
"#;

/// The machine's clock, which a test sets forward.
#[derive(Default)]
pub(super) struct SetClock(AtomicI64);

impl SetClock {
    pub(super) fn forward(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().as_millis() + self.0.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic() + Duration::from_millis(self.0.load(Ordering::Relaxed).unsigned_abs())
    }
}

/// Everything around one door.
pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) assembly: Assembly,
    pub(super) clock: Arc<SetClock>,
    pub(super) address: SocketAddr,
}

impl World {
    /// A door with `[auth]`, over the runs of a file with these further tables.
    pub(super) async fn new(auth: &str, run_file: &str) -> Self {
        Self::with(auth, run_file, |_| {}, false).await
    }

    /// The usual one: tokens of a file.
    pub(super) async fn with_tokens(run_file: &str) -> Self {
        Self::new("tokens_file = \"tokens.toml\"", run_file).await
    }

    /// `before` may put files beside the run file.
    pub(super) async fn with(auth: &str, run_file: &str, before: impl FnOnce(&TempDir), https: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        std::fs::write(&path, format!("{run_file}\n{RUN_FILE}")).unwrap();
        let overrides = Overrides { journal_url: Some("memory:".to_owned()), ..Overrides::default() };
        let assembly = Assembly::load(&path, overrides).unwrap();
        before(&folder);
        let table: AuthTable = toml::from_str(auth).unwrap();
        if let Some(file) = &table.tokens_file
            && !folder.path().join(file).exists()
        {
            add(&folder, agent("agent"));
        }
        let clock = Arc::new(SetClock::default());
        let subject = assembly.run_file.subject.subject();
        let shared: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let journal = Arc::clone(&assembly.journal);
        let auth =
            Authenticator::new(&table, folder.path(), subject, Arc::clone(&journal), Arc::clone(&shared)).unwrap();
        let auth = Arc::new(auth);
        let options = PagesOptions { signs: false, https, session: table.session() };
        let registry = Arc::clone(&assembly.registry);
        let pages = Pages::new(Arc::clone(&auth), journal, Arc::new(move || Arc::clone(&registry)), shared, options);
        let pages = Arc::new(pages);
        let address = web::serve(move |parts, body| {
            let (auth, pages) = (Arc::clone(&auth), Arc::clone(&pages));
            async move {
                let path = parts.uri.path();
                if let Some(answer) = auth.metadata(path) {
                    return answer;
                }
                if Pages::has(path) {
                    return pages.answer(&parts, &body).await;
                }
                match auth.principal(&parts).await {
                    Ok(principal) => Response::new(
                        json!({
                            "subject": *principal.subject,
                            "credential": principal.credential,
                            "run": principal.run,
                        })
                        .to_string(),
                    ),
                    Err(refusal) => refusal.answer(),
                }
            }
        })
        .await;
        Self { folder, assembly, clock, address }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A token of the file, as whoever has it sends it.
    pub(super) fn token(&self, token: Token) -> String {
        add(&self.folder, token)
    }

    pub(super) async fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        web::send(self.address, "GET", target, headers, "").await
    }

    /// A call of a client's.
    pub(super) async fn call(&self, target: &str, token: &str) -> Answer {
        self.get(target, &[("authorization", &format!("Bearer {token}"))]).await
    }

    /// A call that waits for a person: its question, and its run.
    pub(super) async fn asked(&self, title: &str) -> Approval {
        let call = self.assembly.direct_call("create_ticket".to_owned(), json!({ "title": title }).to_string());
        let answer = self.assembly.caller(RunnerOptions::default()).call(call).await.unwrap();
        self.questions(&answer.run_id).await.pop().unwrap()
    }

    /// Says no to a question, and ends its run with that.
    pub(super) async fn ended(&self, approval: &Approval) {
        let decision = Decision::new(approval.approval_id.clone(), ApprovalState::Denied, "reviewer");
        self.assembly.journal.decide(decision).await.unwrap();
        let arguments = json!({ "title": "one" }).to_string();
        let call = self.assembly.direct_call("create_ticket".to_owned(), arguments);
        let call = DirectCall { approval: Some(approval.approval_id.clone()), ..call };
        let answer = self.assembly.caller(RunnerOptions::default()).call(call).await.unwrap();
        assert_eq!(answer.run_id, approval.run_id);
    }

    async fn questions(&self, run: &RunId) -> Vec<Approval> {
        let filter = ApprovalFilter { run_id: Some(run.clone()), ..ApprovalFilter::default() };
        self.assembly.journal.approvals(filter).await.unwrap()
    }

    /// A question as it is now.
    pub(super) async fn now(&self, approval: &Approval) -> Approval {
        self.assembly.journal.approval(&approval.approval_id).await.unwrap().unwrap()
    }
}

/// An agent's token for the subject of the run file.
pub(super) fn agent(id: &str) -> Token {
    Token { agent: Some("night-watch".to_owned()), ..person(id, "alice") }
}

/// A person's token.
pub(super) fn person(id: &str, name: &str) -> Token {
    Token {
        id: id.to_owned(),
        sha256: Digest::from_bytes([0; 32]),
        tenant: "demo".to_owned(),
        user: name.to_owned(),
        agent: None,
        scopes: [].into(),
        domains: [].into(),
        level: None,
        roles: [].into(),
        created_at: SystemClock.now(),
        expires_at: None,
        note: None,
    }
}

pub(super) fn add(folder: &TempDir, token: Token) -> String {
    let issued = Token::issue(token).unwrap();
    TokenFile::add(&folder.path().join("tokens.toml"), issued.token).unwrap();
    issued.secret
}
