mod fake;

use std::sync::atomic::Ordering;
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
use lockgate_contract::subject::Subject;
use tokio_util::sync::CancellationToken;

pub(super) use self::fake::{Fake, Kept, document, settings, subject, upstreams, upstreams_of};
use super::*;
use crate::client::{ClientError, Event, List, Patience};

/// Asks a server something; nothing where that cannot be sent.
async fn ask(upstream: &Arc<Upstream>, subject: &Subject) -> Result<Document, Option<ClientError>> {
    let held = upstream.link_for(subject).await.map_err(|_| None)?;
    let errand = Errand {
        method: "prompts/get",
        params: document("{}"),
        beside: None,
        caller: None,
        cancel: CancellationToken::new(),
        patience: Patience { idle: Duration::from_hours(1), absolute: Duration::from_hours(1) },
        mirrors: None,
    };
    held.request(errand).await.map_err(Some)
}

#[tokio::test(start_paused = true)]
async fn a_server_s_tools_are_offered_under_its_name() {
    let fake = Fake::with_tools(&["read", "write.all"]);
    let (upstreams, kept) = upstreams([("git", &fake)]);
    upstreams.settled().await;
    let status = &upstreams.statuses()["git"];
    assert_eq!((status.state, status.tools, status.protocol), (Condition::Ready, 2, Some("2025-11-25")));
    let names = kept.names("git");
    assert!(names.contains(&"git__read".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("git__write_all_")), "{names:?}");
}

// agentgateway/agentgateway#962, #138, open-webui/mcpo#193, strands-agents/harness-sdk#1481: one dead upstream took all tools away,
// or blocked the start.
#[tokio::test(start_paused = true)]
async fn a_dead_server_hides_no_other_and_blocks_no_start() {
    let (alive, dead, silent) = (Fake::with_tools(&["a"]), Fake::with_tools(&["b"]), Fake::with_tools(&["c"]));
    dead.refuses.store(true, Ordering::SeqCst);
    silent.hangs.store(true, Ordering::SeqCst);
    let (upstreams, kept) = upstreams([("alive", &alive), ("dead", &dead), ("silent", &silent)]);
    tokio::time::timeout(Duration::from_secs(31), upstreams.settled()).await.unwrap();
    let statuses = upstreams.statuses();
    assert_eq!(statuses["alive"].state, Condition::Ready);
    assert_eq!(statuses["dead"].state, Condition::Failed);
    assert!(statuses["dead"].reason.as_ref().unwrap().contains("no such program"), "{statuses:?}");
    assert!(statuses["silent"].reason.as_ref().unwrap().contains("not ready within"), "{statuses:?}");
    assert_eq!(kept.names("alive"), ["alive__a"]);
    assert!(kept.names("dead").is_empty());
    // It is tried again by itself, and comes to life.
    dead.refuses.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(upstreams.statuses()["dead"].state, Condition::Ready);
    assert_eq!(kept.names("dead"), ["dead__b"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_is_started_again_within_a_budget() {
    let fake = Fake::with_tools(&["a"]);
    let (upstreams, kept) = upstreams([("s", &fake)]);
    upstreams.settled().await;
    for round in 1..=10 {
        fake.loses_all("it exited");
        tokio::time::sleep(Duration::from_secs(61)).await;
        let status = &upstreams.statuses()["s"];
        assert_eq!((status.state, status.restarts), (Condition::Ready, round), "{status:?}");
        assert_eq!(kept.names("s"), ["s__a"], "its tools stay the same");
    }
    fake.loses_all("it exited");
    tokio::time::sleep(Duration::from_secs(61)).await;
    let status = &upstreams.statuses()["s"];
    assert_eq!(status.state, Condition::Failed);
    assert!(status.reason.as_ref().unwrap().contains("10 times within an hour"), "{status:?}");
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(upstreams.statuses()["s"].state, Condition::Ready, "the hour is over");
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_is_offered_at_once_and_a_bad_tool_is_left_out_alone() {
    let fake = Fake::with_tools(&["a", "b"]);
    let (upstreams, kept) = upstreams([("s", &fake)]);
    upstreams.settled().await;
    let mut said = upstreams.said();
    fake.set_tools(vec![
        document(r#"{"name":"a","inputSchema":{"type":"object"}}"#),
        document(r#"{"name":"c","inputSchema":{"type":"object"}}"#),
        document(r#"{"name":"no-schema"}"#),
        document(r#"{"name":"c","inputSchema":{"type":"object","description":"another"}}"#),
        document(r#"{"description":"no name","inputSchema":{"type":"object"}}"#),
        document(r#"{"name":"refused","inputSchema":{"type":"object"}}"#),
        document("7"),
    ]);
    fake.says(&Event::ListChanged(List::Tools));
    assert!(matches!(said.recv().await.unwrap(), Said::Changed { list: List::Tools, .. }));
    assert_eq!(kept.names("s"), ["s__a", "s__c"]);
    let status = &upstreams.statuses()["s"];
    assert_eq!((status.state, status.tools), (Condition::Ready, 2));
    let left_out: Vec<_> = status.quarantined.keys().map(String::as_str).collect();
    assert_eq!(left_out, ["#5", "#7", "c", "no-schema", "refused"]);
}

// A server that was started anew with other tools says nothing of it: clients went on with the list that they had.
#[tokio::test(start_paused = true)]
async fn another_list_after_a_new_start_is_told_and_the_same_one_is_not() {
    let fake = Fake::with_tools(&["a"]);
    let (upstreams, kept) = upstreams([("s", &fake)]);
    let mut said = upstreams.said();
    upstreams.settled().await;
    assert!(
        matches!(said.try_recv().unwrap(), Said::Changed { list: List::Tools, .. }),
        "it may come after its clients"
    );
    fake.loses_all("it exited");
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(said.is_empty(), "nothing is another one");
    fake.set_tools(vec![document(r#"{"name":"a","description":"another one","inputSchema":{"type":"object"}}"#)]);
    fake.loses_all("it exited");
    let told = tokio::time::timeout(Duration::from_secs(61), said.recv()).await.expect("it is told").unwrap();
    assert!(matches!(told, Said::Changed { list: List::Tools, .. }));
    assert_eq!(kept.with("s__a", |spec| spec.description().to_owned()), "another one", "it is there when it is told");
    assert_eq!(upstreams.statuses()["s"].state, Condition::Ready);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_comes_back_as_another_version_is_told_to_be_gone() {
    let fake = Fake::with_tools(&["a"]);
    let mut one = settings("s");
    one.version = Some("1.0".to_owned());
    let (upstreams, kept) = fake::upstreams_of(vec![(one, &fake)]);
    upstreams.settled().await;
    let mut said = upstreams.said();
    *fake.version.lock().unwrap() = "2.0".to_owned();
    fake.loses_all("it exited");
    let told = tokio::time::timeout(Duration::from_secs(61), said.recv()).await.expect("it is told").unwrap();
    assert!(matches!(told, Said::Changed { list: List::Tools, .. }));
    let status = &upstreams.statuses()["s"];
    assert_eq!((status.state, status.tools), (Condition::Quarantined, 0));
    assert!(kept.names("s").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_of_another_version_is_left_alone() {
    let fake = Fake::with_tools(&["a"]);
    let mut one = settings("s");
    one.version = Some("2.0".to_owned());
    let (upstreams, kept) = fake::upstreams_of(vec![(one, &fake)]);
    upstreams.settled().await;
    tokio::time::sleep(Duration::from_hours(2)).await;
    let status = &upstreams.statuses()["s"];
    assert_eq!((status.state, fake.dials.load(Ordering::SeqCst)), (Condition::Quarantined, 1));
    assert!(status.reason.as_ref().unwrap().contains("`1.0`"), "{status:?}");
    assert!(kept.names("s").is_empty());
    assert_eq!(fake.listed.load(Ordering::SeqCst), 0, "not even for a moment were its tools offered");
}

#[tokio::test(start_paused = true)]
async fn what_is_configured_as_before_is_left_alone() {
    let (one, other) = (Fake::with_tools(&["a"]), Fake::with_tools(&["b"]));
    let (upstreams, kept) = upstreams([("one", &one), ("other", &other)]);
    upstreams.settled().await;
    let mut changed = settings("other");
    changed.prefix = "o".to_owned();
    upstreams.set(vec![settings("one"), changed]);
    upstreams.settled().await;
    assert_eq!((one.dials.load(Ordering::SeqCst), other.dials.load(Ordering::SeqCst)), (1, 2));
    assert_eq!(kept.names("other"), ["o__b"]);
    upstreams.set(vec![settings("one")]);
    tokio::task::yield_now().await;
    kept.until("other", <[String]>::is_empty).await;
    assert!(upstreams.get("other").is_none() && upstreams.get("one").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_must_be_reached_as_somebody_is_asked_as_nobody_else() {
    let fake = Fake::with_tools(&["a"]);
    let mut one = settings("hub");
    let user = |name: &str| (("acme".to_owned(), name.to_owned()), Secret::new(format!("of-{name}")));
    one.tokens.by_user.extend([user("alice"), user("bob")]);
    let (upstreams, _kept) = fake::upstreams_of(vec![(one, &fake)]);
    upstreams.settled().await;
    let upstream = upstreams.get("hub").unwrap();
    for name in ["alice", "bob", "alice", "carol"] {
        let subject = fake::subject("acme", name);
        let answer = ask(&upstream, &subject).await;
        assert_eq!(answer.is_ok(), name != "carol", "{name}");
    }
    let tokens = fake.tokens.lock().unwrap().clone();
    // IBM/mcp-context-forge#1078
    assert_eq!(tokens, ["", "of-alice", "of-bob"], "one connection each, and none for whoever has no token");
}

// A user's own connection would reach a server by tools that are still as they were before the operator changed their rules.
#[tokio::test(start_paused = true)]
async fn nobody_reaches_a_server_whose_tools_were_not_taken_in_as_it_is_configured_now() {
    let fake = Fake::with_tools(&["a"]);
    let mut one = settings("hub");
    one.tokens.by_user.insert(("acme".to_owned(), "alice".to_owned()), Secret::new("of-alice".to_owned()));
    let (upstreams, _kept) = fake::upstreams_of(vec![(one.clone(), &fake)]);
    upstreams.settled().await;
    let ask = async |upstreams: &Upstreams| {
        let (upstream, subject) = (upstreams.get("hub").unwrap(), fake::subject("acme", "alice"));
        self::ask(&upstream, &subject).await
    };
    assert!(ask(&upstreams).await.is_ok());
    fake.refuses.store(true, Ordering::SeqCst);
    one.rules.permission = Some(Permission::Ask);
    upstreams.set(vec![one]);
    upstreams.settled().await;
    fake.refuses.store(false, Ordering::SeqCst);
    assert!(ask(&upstreams).await.is_err(), "its lists could not be read");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(ask(&upstreams).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_under_way_come_to_their_end() {
    let fake = Fake::with_tools(&["a"]);
    fake.slow.store(5, Ordering::SeqCst);
    let (upstreams, _kept) = upstreams([("s", &fake)]);
    upstreams.settled().await;
    let upstream = upstreams.get("s").unwrap();
    let asked = tokio::spawn(async move {
        let subject = fake::subject("t", "u");
        ask(&upstream, &subject).await
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    upstreams.set(Vec::new());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.closed.load(Ordering::SeqCst), 0);
    assert!(asked.await.unwrap().is_ok());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.closed.load(Ordering::SeqCst), 1);
}

// A tool may take hours; whoever stops the gateway does not wait for it, nor for one server after the other.
#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_longest_call() {
    let (one, other) = (Fake::with_tools(&["a"]), Fake::with_tools(&["b"]));
    let mut patient = ["one", "other"].map(settings);
    for settings in &mut patient {
        settings.timeout = Duration::from_hours(1);
    }
    let [first, second] = patient;
    let (upstreams, _kept) = upstreams_of(vec![(first, &one), (second, &other)]);
    upstreams.settled().await;
    for (name, fake) in [("one", &one), ("other", &other)] {
        fake.slow.store(1800, Ordering::SeqCst);
        let upstream = upstreams.get(name).unwrap();
        tokio::spawn(async move {
            let subject = fake::subject("t", "u");
            ask(&upstream, &subject).await
        });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    tokio::time::timeout(Duration::from_secs(12), upstreams.stop()).await.unwrap();
}

#[test]
fn whoever_says_nothing_gets_the_strictest() {
    let fake = Fake::with_tools(&["a"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (upstreams, kept) = upstreams([("s", &fake)]);
        upstreams.settled().await;
        let facts = kept.facts("s__a");
        assert_eq!(facts, (Effect::External, Permission::Ask, ReplayPolicy::Never));
    });
}
