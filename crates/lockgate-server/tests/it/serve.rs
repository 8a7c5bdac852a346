//! `lockgate serve` from outside: what stands at its address, and which names and pages lead there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lockgate::assembly::{Assembly, Overrides};
use lockgate::contract::ports::Clock as _;
use lockgate::harness::RunnerOptions;
use lockgate::host::clock::SystemClock;
use lockgate_server::serve::{ServeOptions, over_http};
use lockgate_server::tokens::RunKey;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::browser::Browser;
use crate::web;
use crate::world::{add, person};

/// A server, until it is dropped.
struct Serving {
    address: SocketAddr,
    stop: CancellationToken,
    _folder: TempDir,
}

impl Serving {
    async fn of(text: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), text).await
    }

    async fn in_folder(folder: TempDir, text: &str) -> Self {
        let path = folder.path().join("lockgate.toml");
        std::fs::write(&path, text).unwrap();
        let (ready, listens) = oneshot::channel();
        let stop = CancellationToken::new();
        let options = ServeOptions {
            path,
            journal_url: Some(journal_in(&folder)),
            bind: Some(([127, 0, 0, 1], 0).into()),
            told: Arc::new(|_| {}),
        };
        let until = stop.clone();
        tokio::spawn(async move { over_http(options, until, |address| ready.send(address).unwrap()).await.unwrap() });
        Self { address: listens.await.unwrap(), stop, _folder: folder }
    }
}

fn journal_in(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("journal.db").display())
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

// Where nobody has to say who they are, another site's page could read the questions and what they are about.
#[tokio::test]
async fn a_name_that_was_made_to_lead_here_reads_nothing() {
    let serving = Serving::of("").await;
    let json = ("accept", "application/json");
    for path in ["/approvals", "/approvals/apr-0", "/login", "/status", "/oauth/callback?code=a&state=b", "/mcp"] {
        for host in ["evil.example", "127.0.0.1.evil.example"] {
            let answer = web::send(serving.address, "GET", path, &[("host", host), json], "").await;
            assert_eq!(answer.status, 403, "{path}: {answer:?}");
            assert!(answer.body.contains("`Host`"), "{path}: {answer:?}");
        }
    }
    for (path, headers) in
        [("/approvals", vec![json]), ("/status", Vec::new()), ("/healthz", vec![("host", "any.example")])]
    {
        let answer = web::send(serving.address, "GET", path, &headers, "").await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
}

// A browser asks without a credential whether it may send one.
#[tokio::test]
async fn a_page_of_a_named_origin_may_ask_whether_it_may_come_in() {
    let serving = Serving::of("[server]\norigins = [\"https://chat.example\"]\n").await;
    let asks = async |origin: &str| {
        let headers = [("origin", origin), ("access-control-request-method", "POST")];
        web::send(serving.address, "OPTIONS", "/mcp", &headers, "").await
    };
    let answer = asks("https://chat.example").await;
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!((answer.status, allowed), (204, Some("https://chat.example")), "{answer:?}");
    assert_eq!(asks("https://evil.example").await.status, 403);
}

#[tokio::test]
async fn a_token_of_one_run_does_not_tell_how_the_servers_stand() {
    const FILE: &str = "[auth]\nrun_key_file = \"run.key\"\n\n[[tools.mock]]\nname = \"now\"\nversion = \"1.0\"\ndescription = \"The time.\"\neffect = \"read\"\npermission = \"ask\"\ninput_schema = { type = \"object\" }\nbehaviour = [{ returns = 1 }]\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lockgate.toml");
    std::fs::write(&path, FILE).unwrap();
    let overrides = Overrides { journal_url: Some(journal_in(&folder)), ..Overrides::default() };
    let assembly = Assembly::load(&path, overrides).unwrap();
    let call = assembly.direct_call("now".to_owned(), "{}".to_owned());
    let run = assembly.caller(RunnerOptions::default()).call(call).await.unwrap().run_id;
    let key = RunKey::read_or_make(&folder.path().join("run.key")).unwrap();
    let (token, _) = key.seal(&run, SystemClock.now(), Duration::from_mins(1));
    let serving = Serving::in_folder(folder, FILE).await;
    let bearer = ("authorization", &*format!("Bearer {token}"));
    assert_eq!(web::send(serving.address, "GET", "/status", &[bearer], "").await.status, 403);
    let own = web::send(serving.address, "GET", &format!("/runs/{run}/mcp"), &[bearer], "").await;
    assert_ne!(own.status, 403, "it is let in where it was made for: {own:?}");
}

// The page said where no tool came from that a changed file had brought.
#[tokio::test]
async fn a_page_knows_the_tools_of_the_file_as_it_is_now() {
    const BEFORE: &str = "[subject]\ntenant = \"demo\"\nuser = \"alice\"\n\n[auth]\ntokens_file = \"tokens.toml\"\n\n";
    const TOOL: &str = "[[tools.mock]]\nname = \"book\"\nversion = \"1.0\"\ndescription = \"Books.\"\neffect = \"external\"\ninput_schema = { type = \"object\" }\nbehaviour = [{ returns = 1 }]\n";
    let folder = tempfile::tempdir().unwrap();
    let (path, after) = (folder.path().join("lockgate.toml"), folder.path().join("after.toml"));
    std::fs::write(&after, format!("{BEFORE}{TOOL}")).unwrap();
    let overrides = Overrides { journal_url: Some(journal_in(&folder)), ..Overrides::default() };
    let assembly = Assembly::load(&after, overrides).unwrap();
    let call = assembly.direct_call("book".to_owned(), "{}".to_owned());
    let answer = assembly.caller(RunnerOptions::default()).call(call).await.unwrap();
    let page = format!("/approvals/{}", answer.result.meta.approval_id.unwrap().as_str());
    let token = add(&folder, person("bob", "bob"));
    let serving = Serving::in_folder(folder, BEFORE).await;
    let mut browser = Browser::at(serving.address, &token).await;
    let first = browser.get(&page).await.body;
    assert!(first.contains("book") && !first.contains("mock"), "{first}");
    std::fs::copy(&after, &path).unwrap();
    while !browser.get(&page).await.body.contains("mock") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
