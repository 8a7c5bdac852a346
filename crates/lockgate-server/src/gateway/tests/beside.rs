//! What is asked of a server beside calls of tools: it goes through the gate all the same.

use lockgate::contract::document::Document;
use lockgate::contract::ports::RunFilter;
use lockgate::contract::run::RunStatus;
use lockgate_mcp::server::Service as _;
use lockgate_mcp::wire::code;

use super::world::{Client, SECRET, World};
use super::{ALLOWED, ASKING};

const SCOPED: &str = "[mcp.s]\ncommand = ['s']\nscopes = ['s']\n";
const COMPLETE: &str = r#"{"ref":{"type":"ref/resource","uri":"test://a"},"argument":{"name":"n","value":"pa"}}"#;

fn can(world: &World, pointer: &str) -> bool {
    world.gateway.facts(&world.principal()).capabilities.root().pointer(pointer).is_some()
}

/// Waits until the servers were told this, and no more.
async fn told(world: &World, expected: &str) {
    while world.watched.lock().unwrap().join(" ") != expected {
        tokio::task::yield_now().await;
    }
}

async fn runs(world: &World) -> Vec<(String, Option<RunStatus>)> {
    let runs = world.journal.runs(RunFilter::default()).await.unwrap();
    runs.into_iter().map(|run| (run.title, run.status)).collect()
}

#[tokio::test]
async fn a_completion_is_a_call_that_the_journal_has() {
    let world = World::new(ALLOWED).await;
    assert!(can(&world, "/completions"));
    let completed = world.ask(&Client::default(), "completion/complete", COMPLETE).await.unwrap();
    let said = |pointer: &str| completed.root().pointer(pointer).unwrap().as_str().unwrap().into_owned();
    assert!(said("/completion/values/0").starts_with("pa "), "{completed}");
    assert_eq!(said("/completion/of"), "test://a");
    assert!(!completed.text().contains(SECRET), "{completed}");
    let runs = runs(&world).await;
    assert!(matches!(&runs[..], [(title, Some(RunStatus::Completed))] if title.contains("completions")), "{runs:?}");
}

#[tokio::test]
async fn what_a_server_is_asked_is_what_the_rules_let_it_be_asked() {
    let hidden = World::new(SCOPED).await;
    assert!(!can(&hidden, "/completions"));
    assert!(hidden.ask(&Client::default(), "completion/complete", COMPLETE).await.is_err());
    assert!(hidden.subscribe(&Client::default(), "test://a").await.is_err());
    // Nobody is asked with every key that is pressed.
    let asking = World::new("[mcp.s]\ncommand = ['s']\npermission = 'ask'\n").await;
    assert!(asking.ask(&Client::default(), "completion/complete", COMPLETE).await.is_err());
    let waiting = asking.journal.approvals(lockgate::contract::ports::ApprovalFilter::default()).await.unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
    let error = asking.subscribe(&Client::default(), "test://a").await.err().unwrap();
    assert!(error.data.unwrap().text().contains("approval_required"), "a person decides about listening");
    for world in [&hidden, &asking] {
        assert!(world.watched.lock().unwrap().is_empty(), "no server heard of it");
    }
}

// One client's leaving ended what the others listened to.
#[tokio::test]
async fn clients_of_one_server_listen_each_for_itself() {
    let world = World::new(ASKING).await;
    assert!(can(&world, "/resources/subscribe"));
    let client = Client::default();
    let first = world.subscribe(&client, "test://a").await.unwrap();
    let second = world.subscribe(&client, "test://a").await.unwrap();
    told(&world, "+test://a").await;
    drop(first);
    let other = world.subscribe(&client, "test://b").await.unwrap();
    told(&world, "+test://a +test://b").await;
    drop(second);
    told(&world, "+test://a +test://b -test://a").await;
    drop(other);
    told(&world, "+test://a +test://b -test://a -test://b").await;
    let runs = runs(&world).await;
    assert_eq!(runs.len(), 3, "each stands in the journal: {runs:?}");
}

#[tokio::test]
async fn the_same_resource_of_two_servers_is_listened_to_apart() {
    let world = World::new("[mcp.s]\ncommand = ['s']\n[mcp.t]\ncommand = ['t']\n").await;
    let client = Client::default();
    let uri = |document: &Document| document.root().get("uri").unwrap().as_str().unwrap().into_owned();
    let listed = world.ask(&client, "resources/list", "{}").await.unwrap();
    let uris: Vec<_> = listed.root().get("resources").unwrap().elements().map(|one| uri(&one.to_document())).collect();
    let _both = [world.subscribe(&client, &uris[0]).await.unwrap(), world.subscribe(&client, &uris[1]).await.unwrap()];
    told(&world, "+test://a +test://a").await;
    let nowhere = world.subscribe(&client, "test://a").await.err().unwrap();
    assert_eq!(nowhere.code, code::INVALID_PARAMS);
}
