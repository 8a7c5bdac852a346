//! Tasks that ask, and tasks that nobody wants any more.

use std::time::Duration;

use lockgate::contract::document::Document;
use lockgate_mcp::wire::code;
use serde_json::{Value, json};

use super::ALLOWED;
use super::world::{Client, World};

fn follower() -> Client {
    let capabilities = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    Client { capabilities, ..Client::default() }
}

impl World {
    async fn begun(&self) -> String {
        let created = self.call(&follower(), "s__asks_later", "{}").await.unwrap().to_json_value();
        assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")), "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    async fn about(&self, method: &str, params: Value) -> Value {
        let params = Document::from_json_value(&params);
        self.ask(&follower(), method, params.text()).await.unwrap().to_json_value()
    }

    /// As it is once it is no longer this.
    async fn after(&self, status: &str, task: &str) -> Value {
        loop {
            let shown = self.about("tasks/get", json!({ "taskId": task })).await;
            if shown["status"] != status {
                return shown;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_whoever_follows_it_and_goes_on_with_the_answers() {
    let world = World::new(ALLOWED).await;
    let task = world.begun().await;
    let asking = world.after("working", &task).await;
    assert_eq!(asking["status"], "input_required", "{asking}");
    let keys: Vec<String> = asking["inputRequests"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 2);
    let answered = |key: &str, word: &str| json!({ "taskId": task, "inputResponses": { key: { "action": "accept", "content": { "word": word } } } });
    assert_eq!(world.about("tasks/update", answered("nobody-asked", "x")).await, json!({}));
    assert_eq!(world.about("tasks/update", answered(&keys[0], "one")).await, json!({}));
    let half = world.about("tasks/get", json!({ "taskId": task })).await;
    assert_eq!(half["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), [&keys[1]]);
    // The first answer counts.
    world.about("tasks/update", answered(&keys[0], "other")).await;
    world.about("tasks/update", answered(&keys[1], "two")).await;
    let done = world.after("working", &task).await;
    assert_eq!(done["status"], "completed", "{done}");
    let said = &done["result"]["structuredContent"];
    let words = ["first", "second"].map(|key| said[key]["content"]["word"].as_str().unwrap());
    assert_eq!(words, ["one", "two"]);
    // It has ended: nothing more becomes of it, and whoever cancels it is told so politely.
    assert_eq!(world.about("tasks/cancel", json!({ "taskId": task })).await, json!({}));
    assert_eq!(world.about("tasks/get", json!({ "taskId": task })).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_ends_so_and_one_that_is_not_there_is_nobody_s() {
    let world = World::new(ALLOWED).await;
    let task = world.begun().await;
    world.after("working", &task).await;
    assert_eq!(world.about("tasks/cancel", json!({ "taskId": task })).await, json!({}));
    let ended = world.after("input_required", &task).await;
    assert_eq!(ended["status"], "cancelled", "{ended}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let error = world.ask(&follower(), method, r#"{"taskId":"run-000000000000"}"#).await.unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
}
