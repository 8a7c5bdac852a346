//! Clients of one era before servers of the other.

use lockgate::contract::document::Document;
use lockgate_mcp::wire::{RpcError, Version, code, key};
use serde_json::json;

use super::ALLOWED;
use super::world::{Client, World};

fn legacy() -> Client {
    Client { version: Version::NEWEST_LEGACY, ..Client::default() }
}

fn refused(answer: Result<Document, RpcError>) -> (i64, String) {
    let error = answer.unwrap_err();
    (error.code, error.message)
}

#[tokio::test]
async fn a_resource_that_is_not_there_is_said_in_the_client_s_words() {
    let world = World::new(ALLOWED).await;
    let gone = r#"{"uri":"test://gone"}"#;
    let modern = refused(world.ask(&Client::default(), "resources/read", gone).await);
    assert_eq!(modern, (code::INVALID_PARAMS, "gone".to_owned()));
    let old = refused(world.ask(&legacy(), "resources/read", gone).await);
    assert_eq!(old, (code::RESOURCE_NOT_FOUND, "gone".to_owned()));
}

#[tokio::test]
async fn what_a_server_says_of_its_own_hop_is_not_said_of_the_client_s() {
    let world = World::new(ALLOWED).await;
    let said = async |client: &Client, code: i64| {
        refused(world.call(client, "s__broken", &format!(r#"{{"code":{code}}}"#)).await).0
    };
    for client in [Client::default(), legacy()] {
        for hop in [code::HEADER_MISMATCH, code::UNSUPPORTED_VERSION] {
            assert_eq!(said(&client, hop).await, code::INTERNAL_ERROR);
        }
        assert_eq!(said(&client, code::MISSING_CAPABILITY).await, code::MISSING_CAPABILITY);
    }
    assert_eq!(said(&Client::default(), code::URL_ELICITATION_REQUIRED).await, code::INTERNAL_ERROR);
    assert_eq!(said(&legacy(), code::URL_ELICITATION_REQUIRED).await, code::URL_ELICITATION_REQUIRED);
}

// The conformance suite's `sep-2575-server-rejects-undeclared-capability`, before a server from before 2026-07-28.
#[tokio::test]
async fn a_client_hears_what_it_lacks_where_a_server_could_not_ask_it() {
    let world = World::new(ALLOWED).await;
    let error = world.call(&Client::default(), "s__asks_the_model", "{}").await.unwrap_err();
    assert_eq!(error.code, code::MISSING_CAPABILITY);
    assert_eq!(error.data.unwrap().to_json_value(), json!({ "requiredCapabilities": { "sampling": {} } }));
    let can = Client { capabilities: r#"{"sampling":{}}"#, ..Client::default() };
    assert!(world.call(&can, "s__asks_the_model", "{}").await.is_ok());
    assert_eq!(refused(world.call(&legacy(), "s__asks_the_model", "{}").await).0, code::METHOD_NOT_FOUND);
}

#[tokio::test]
async fn a_server_hears_of_tasks_from_clients_that_follow_them_and_for_those_that_cannot() {
    let world = World::new(ALLOWED).await;
    let heard = async |client: Client| {
        let result = world.call(&client, "s__can", "{}").await.unwrap();
        result.root().get("structuredContent").unwrap().to_json_value()
    };
    assert_eq!(heard(Client::default()).await, json!({}), "a modern client that does not follow tasks gets none");
    let tasks = json!({ "extensions": { key::TASKS: {} } });
    assert_eq!(heard(Client { capabilities: super::FOLLOWS, ..Client::default() }).await, tasks);
    assert_eq!(heard(legacy()).await, tasks, "the gate follows them in the place of an older one");
}
