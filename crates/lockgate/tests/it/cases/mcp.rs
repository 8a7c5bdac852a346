//! MCP servers behind the gate: what they list, how they die, what cancels them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockgate::assembly::{Assembly, Overrides, Servers};
use lockgate::contract::run::RunBinding;
use lockgate::harness::{DirectAnswer, DirectCall, RunnerOptions};
use lockgate::mcp::upstream::{Condition, Status};
use lockgate::prelude::*;
use tempfile::TempDir;

use super::file::Case;
use crate::world::code_of;

/// Servers of a run file, each a script, and everything around them.
struct Scripted {
    folder: TempDir,
    assembly: Assembly,
}

/// A page of a list: the cursor that it stands under, what it holds, and the cursor after it.
type Page<'p> = (&'p str, Vec<String>, Option<&'p str>);

fn tool(name: &str, properties: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{{properties}}}}}}}"#)
}

fn pages(pages: &[Page<'_>]) -> String {
    pages.iter().fold(String::new(), |mut text, (cursor, tools, next)| {
        let next = next.map_or(String::new(), |next| format!(r#","nextCursor":"{next}""#));
        let _ = writeln!(text, r#"{cursor} {{"tools":[{}]{next}}}"#, tools.join(","));
        text
    })
}

fn one_page(names: &[&str]) -> String {
    pages(&[("first", names.iter().map(|name| tool(name, "")).collect(), None)])
}

#[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
impl Scripted {
    /// Servers by name, each with its pages and what its table says.
    async fn start(servers: &[(&str, &str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases/mcp_server.sh");
        let mut file = String::new();
        for (name, pages, table) in servers {
            let place = |what: &str| folder.path().join(format!("{name}.{what}"));
            fs::write(place("tools"), pages).unwrap();
            let (script, tools, log, count) = (script.display(), place("tools"), place("log"), place("count"));
            let _ = write!(
                file,
                "[mcp.{name}]\ncommand = ['/bin/sh', '{script}']\n{table}\n\
                 env_set = {{ TOOLS = '{}', LOG = '{}', COUNT = '{}' }}\n",
                tools.display(),
                log.display(),
                count.display(),
            );
        }
        let path = folder.path().join("run.toml");
        fs::write(&path, file).unwrap();
        let overrides = Overrides { journal_url: Some("memory:".to_owned()), ..Overrides::default() };
        let assembly = Assembly::open(&path, overrides).await.unwrap();
        Self { folder, assembly }
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_default()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn servers(&self) -> &Servers {
        self.assembly.servers.as_ref().unwrap()
    }

    fn status(&self, server: &str) -> Status {
        self.servers().statuses()[server].clone()
    }

    fn binding(&self) -> RunBinding {
        self.assembly.registry.discover(&Subject::default()).bind()
    }

    fn names(&self) -> Vec<String> {
        self.binding().allowed.names().map(str::to_owned).collect()
    }

    async fn call(&self, name: &str, binding: RunBinding, options: RunnerOptions) -> DirectAnswer {
        let call = DirectCall::new(Subject::default(), binding, name, "{}");
        self.assembly.caller(options).call(call).await.unwrap()
    }

    async fn code(&self, name: &str) -> String {
        code_of(&self.call(name, self.binding(), RunnerOptions::default()).await)
    }

    /// Waits until something holds that a server's own words bring about.
    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if holds(self) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what} did not come: {:?}\n{}", self.servers().statuses(), self.text("s.log"));
    }
}

const READS: &str = "effect = 'read'";
const EFFECTS: &str = "effect = 'external'\npermission = 'allow'";

pub(super) async fn list_pagination(case: Case) {
    let many = |from: u32, count: u32| {
        (from..from + count).map(|number| tool(&format!("t_{}", letters(number)), "")).collect()
    };
    let (first, second) = (case.number::<u32>("/input/pages/0/tools"), case.number::<u32>("/input/pages/1/tools"));
    let next = case.text("/input/pages/0/nextCursor");
    let whole =
        pages(&[("first", many(0, first), Some(&next)), (&format!("cursor={next}"), many(first, second), None)]);
    // A cursor that comes back, and one that is the empty text.
    let again = case.text("/input/evil/0/nextCursor");
    let evil = pages(&[("first", many(0, 2), Some(&again)), (&format!("cursor={again}"), many(2, 1), Some(&again))]);
    let empty = pages(&[("first", many(0, 1), Some("")), ("cursor=", many(1, 1), None)]);
    let world = Scripted::start(&[("whole", &whole, READS), ("evil", &evil, READS), ("empty", &empty, READS)]).await;
    let counts: BTreeMap<_, _> = world
        .servers()
        .statuses()
        .into_iter()
        .map(|(name, status)| (name, (status.tools, status.warnings.len())))
        .collect();
    let expected = [("whole", (54, 0)), ("evil", (3, 1)), ("empty", (2, 0))];
    assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)).into());
    let warning = world.status("evil").warnings.remove(0);
    assert!(warning.contains("cursor"), "{warning}");
    assert_eq!(world.code("whole__t_bb").await, "ok", "a tool of the second page");
}

/// `a`, `b` … `z`, `ba` …: names that the script's patterns know.
fn letters(number: u32) -> String {
    let (rest, last) = (number / 26, char::from(b'a' + u8::try_from(number % 26).unwrap()));
    if rest == 0 { last.to_string() } else { format!("{}{last}", letters(rest)) }
}

#[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
pub(super) async fn list_changed(case: Case) {
    super::allow_list::list_changes_under_a_run(case.clone()).await;
    let [start, change, calls] = case.texts("/input/events").try_into().unwrap();
    assert_eq!(start, "run starts with {a,b}");
    assert_eq!(change, "server drops b, changes a's schema, adds c, notifies");
    assert_eq!(calls, "model calls b, then a");
    let world = Scripted::start(&[("s", &one_page(&["a", "b", "change"]), READS)]).await;
    let bound = world.binding();
    let new = vec![tool("a", r#""x":{"type":"string"}"#), tool("c", ""), tool("change", "")];
    fs::write(world.path("s.tools.new"), pages(&[("first", new, None)])).unwrap();
    assert_eq!(world.code("s__change").await, "ok");
    world.until("the new list", |world| world.names() == ["s__a", "s__c", "s__change"]).await;
    // The run that began before keeps what it was bound to.
    for (name, code, reason) in [
        ("s__b", "unknown_tool", "revoked"),
        ("s__a", "definition_changed", "definition_changed"),
        ("s__c", "unknown_tool", "not_allowed"),
        ("s__change", "ok", ""),
    ] {
        let answer = world.call(name, bound.clone(), RunnerOptions::default()).await;
        assert_eq!((&*code_of(&answer), answer.audit.reason.as_deref().unwrap_or_default()), (code, reason), "{name}"); // R-151
        if name == "s__change" {
            break;
        }
    }
    for name in ["s__a", "s__c"] {
        assert_eq!(world.code(name).await, "ok"); // R-147
    }
}

pub(super) async fn dies_mid_call(case: Case) {
    Box::pin(super::later::lost_server(case.clone())).await;
    assert_eq!(case.text("/input/tool_effect"), "write");
    let world = Scripted::start(&[("s", &one_page(&["die", "fast"]), EFFECTS)]).await;
    // Noticed when it is lost, not when the time is up.
    let lost =
        tokio::time::timeout(Duration::from_secs(20), world.call("s__die", world.binding(), RunnerOptions::default()));
    let lost = lost.await.unwrap();
    assert_eq!(code_of(&lost), "outcome_unknown");
    assert!(!lost.result.error.as_ref().unwrap().retryable);
    world
        .until("the new start", |world| world.status("s").state == Condition::Ready && world.status("s").restarts > 0)
        .await;
    assert_eq!(world.code("s__fast").await, "ok");
    assert_eq!(world.text("s.count"), "x", "it was not sent again");
    assert_eq!(world.text("s.log"), "call die\ncall fast\n");
}

pub(super) async fn cancel_one(case: Case) {
    assert_eq!(case.text("/input/server"), "stdio");
    let world = Scripted::start(&[("s", &one_page(&["slow", "fast"]), EFFECTS)]).await;
    let process = |answer: &DirectAnswer| answer.result.data.as_ref().unwrap().text().to_owned();
    let before = process(&world.call("s__fast", world.binding(), RunnerOptions::default()).await);
    let options = RunnerOptions::default();
    let cancel = options.cancel.clone();
    let (slow, fast) = tokio::join!(world.call("s__slow", world.binding(), options), async {
        world.until("the slow call", |world| world.text("s.log").contains("call slow")).await;
        let fast = world.call("s__fast", world.binding(), RunnerOptions::default()).await;
        cancel.cancel();
        fast
    });
    assert_eq!((&*code_of(&slow), process(&fast)), ("interrupted", before.clone()));
    world.until("the cancellation", |world| world.text("s.log").contains("cancelled")).await;
    let after = world.call("s__fast", world.binding(), RunnerOptions::default()).await;
    assert_eq!(process(&after), before, "the server goes on");
    assert_eq!(world.status("s").restarts, 0);
}
