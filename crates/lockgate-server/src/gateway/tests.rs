mod beside;
mod eras;
mod tasks;
mod world;

use lockgate::contract::approval::ApprovalState;
use lockgate::contract::ports::{ApprovalFilter, Decision};
use lockgate_mcp::server::{Change, Service as _};
use lockgate_mcp::wire::{Edit, code};

use self::world::{Client, World, document};

const ALLOWED: &str = "[mcp.s]\ncommand = ['s']\npermission = 'allow'\n";
const ASKING: &str = "[mcp.s]\ncommand = ['s']\n";

// IBM/mcp-context-forge#1258, PR 176, mcp-hangar#880, maximhq/bifrost#2373, stacklok/toolhive#4090, mcpjungle#149,
// wso2/carbon-apimgt#13901: gateways dropped `outputSchema`, annotations and `_meta`.
#[tokio::test]
async fn a_list_is_the_server_s_own_but_for_the_names() {
    let world = World::new(ALLOWED).await;
    let listed = world.ask(&Client::default(), "tools/list", "{}").await.unwrap();
    let tools: Vec<_> = listed.root().get("tools").unwrap().elements().map(|tool| tool.to_document()).collect();
    let mut expected = world::tools();
    expected.sort_by_key(|tool| tool.root().get("name").unwrap().as_str().unwrap().into_owned());
    assert_eq!(tools.len(), expected.len());
    for (tool, expected) in tools.iter().zip(&expected) {
        let raw = expected.root().get("name").unwrap().as_str().unwrap();
        let named = lockgate_mcp::wire::Edit::of(expected.root());
        let named = named.with("name", lockgate::contract::document::Document::string(&format!("s__{raw}"))).document();
        assert!(tool.same_value(&named), "{tool}\n{named}");
    }
}

#[tokio::test]
async fn a_result_is_the_server_s_own() {
    let world = World::new(ALLOWED).await;
    let result = world.call(&Client::default(), "s__echo", r#"{"text":"hello"}"#).await.unwrap();
    let expected = document(
        r#"{"content":[{"type":"text","text":"hello"}],"structuredContent":{"text":"hello"},"_meta":{"x/y":[1]}}"#,
    );
    assert!(result.same_value(&expected), "{result}");
    let failed = world.call(&Client::default(), "s__fail", "{}").await.unwrap();
    assert_eq!(failed.root().get("isError").unwrap().as_bool(), Some(true));
    assert_eq!(failed.root().pointer("/content/0/text").unwrap().as_str().unwrap(), "it failed");
    let error = world.call(&Client::default(), "s__broken", "{}").await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (code::INTERNAL_ERROR, "out of order"));
}

#[tokio::test]
async fn hidden_and_absent_tools_look_alike() {
    let world = World::new("[mcp.s]\ncommand = ['s']\nscopes = ['s']\n").await;
    let there = world.call(&Client::default(), "s__echo", "{}").await.unwrap_err();
    let absent = world.call(&Client::default(), "s__nothing", "{}").await.unwrap_err();
    assert_eq!((there.code, absent.code), (code::INVALID_PARAMS, code::INVALID_PARAMS));
    assert_eq!(there.message.replace("s__echo", "X"), absent.message.replace("s__nothing", "X"));
    let listed = world.ask(&Client::default(), "tools/list", "{}").await.unwrap();
    assert!(listed.root().get("tools").unwrap().is_empty());
    // What reads resources is no tool for anybody.
    let beside = lockgate_mcp::upstream::beside_name("s", "s", lockgate_mcp::upstream::Beside::Resources);
    let world = World::new(ALLOWED).await;
    assert!(world.call(&Client::default(), &beside, r#"{"uri":"test://a"}"#).await.is_err());
}

// zai-org/feedback#610, openai/codex#16911: the same was asked again and again.
#[tokio::test]
async fn a_call_that_needs_a_person_is_asked_about_once_and_goes_on() {
    let world = World::new(ASKING).await;
    let client = Client::default();
    let arguments = r#"{"text":"hello"}"#;
    let first = world.call(&client, "s__echo", arguments).await.unwrap();
    let said = |result: &lockgate::contract::document::Document, key: &str| {
        let value = result.root().pointer(&format!("/structuredContent/{key}")).unwrap();
        value.as_str().unwrap().into_owned()
    };
    assert_eq!(said(&first, "code"), "approval_required");
    let approval = said(&first, "approval_id");
    assert_eq!(said(&first, "url"), format!("http://127.0.0.1:8377/approvals/{approval}"));
    let again = world.call(&client, "s__echo", arguments).await.unwrap();
    assert_eq!(said(&again, "approval_id"), approval, "it is the same question");
    world.decide(&approval, ApprovalState::Granted).await;
    let other = world.call(&client, "s__echo", r#"{"text":"bye"}"#).await.unwrap();
    assert_ne!(said(&other, "approval_id"), approval, "a yes is for these arguments");
    let ran = world.call(&client, "s__echo", arguments).await.unwrap();
    assert_eq!(ran.root().pointer("/content/0/text").unwrap().as_str().unwrap(), "hello");
    assert_eq!(
        said(&world.call(&client, "s__echo", arguments).await.unwrap(), "code"),
        "approval_required",
        "used once"
    );
    assert_eq!(world.entered(), 1);
}

#[tokio::test]
async fn an_approval_that_is_named_is_taken_and_only_for_its_own_call() {
    let world = World::new(ASKING).await;
    let client = Client::default();
    let first = world.call(&client, "s__echo", r#"{"text":"a"}"#).await.unwrap();
    let id = first.root().pointer("/structuredContent/approval_id").unwrap().as_str().unwrap().into_owned();
    world.decide(&id, ApprovalState::Granted).await;
    let with = |text: &str| {
        format!(r#"{{"name":"s__echo","arguments":{{"text":"{text}"}},"_meta":{{"dev.lockgate/approval":"{id}"}}}}"#)
    };
    let other = world.ask(&client, "tools/call", &with("b")).await.unwrap();
    assert_eq!(other.root().pointer("/structuredContent/code").unwrap().as_str().unwrap(), "approval_stale");
    let ran = world.ask(&client, "tools/call", &with("a")).await.unwrap();
    assert!(ran.root().get("isError").is_none(), "{ran}");
    let unknown = r#"{"name":"s__echo","arguments":{},"_meta":{"dev.lockgate/approval":"apr-0000000000000000"}}"#;
    assert_eq!(world.ask(&client, "tools/call", unknown).await.unwrap_err().code, code::INVALID_PARAMS);
}

#[tokio::test]
async fn a_client_that_shows_the_page_waits_for_the_decision() {
    let world = World::new(ASKING).await;
    let client = Client { capabilities: r#"{"elicitation":{"url":{}}}"#, accepts: true, ..Client::default() };
    let deciding = async {
        loop {
            let open = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
            if let Some(approval) = world.journal.approvals(open).await.unwrap().first() {
                return world.decide(approval.approval_id.as_str(), ApprovalState::Granted).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (ran, ()) = tokio::join!(world.call(&client, "s__echo", r#"{"text":"hello"}"#), deciding);
    assert_eq!(ran.unwrap().root().pointer("/content/0/text").unwrap().as_str().unwrap(), "hello");
    let asked = client.asked.lock().unwrap().clone();
    assert!(
        asked.len() == 1 && asked[0].contains("/approvals/apr-") && asked[0].contains(r#""mode":"url""#),
        "{asked:?}"
    );
}

#[tokio::test]
async fn an_answer_in_a_form_is_no_decision_unless_the_operator_says_so() {
    let form = || Client {
        capabilities: r#"{"elicitation":{}}"#,
        accepts: true,
        content: r#"{"approve":true}"#,
        ..Client::default()
    };
    let world = World::new(ASKING).await;
    let client = form();
    let result = world.call(&client, "s__echo", r#"{"text":"a"}"#).await.unwrap();
    assert_eq!(result.root().pointer("/structuredContent/code").unwrap().as_str().unwrap(), "approval_required");
    assert!(client.asked.lock().unwrap().is_empty(), "it was not even asked");
    let world = World::with(ASKING, true).await;
    let client = form();
    let result = world.call(&client, "s__echo", r#"{"text":"a"}"#).await.unwrap();
    assert_eq!(result.root().pointer("/content/0/text").unwrap().as_str().unwrap(), "a", "{result}");
    let decided = world.journal.approvals(ApprovalFilter::default()).await.unwrap();
    assert_eq!(decided[0].decided_by.as_deref(), Some("client:test"));
}

const FOLLOWS: &str = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

#[tokio::test]
async fn a_client_that_follows_tasks_waits_for_a_person_as_long_as_the_question_stands() {
    let world = World::new(ASKING).await;
    let client = Client { capabilities: FOLLOWS, ..Client::default() };
    let created = world.call(&client, "s__echo", r#"{"text":"hello"}"#).await.unwrap();
    let said = |document: &lockgate::contract::document::Document, key: &str| {
        document.root().get(key).and_then(|value| value.as_str()).unwrap_or_default().into_owned()
    };
    assert_eq!((said(&created, "resultType"), said(&created, "status")), ("task".to_owned(), "working".to_owned()));
    let task = format!(r#"{{"taskId":"{}"}}"#, said(&created, "taskId"));
    let mut told = world.gateway.changes(&world.principal());
    let waiting = world.ask(&client, "tasks/get", &task).await.unwrap();
    assert!(said(&waiting, "statusMessage").contains("/approvals/apr-"), "{waiting}");
    assert!(world.ask(&client, "tasks/get", r#"{"taskId":"run-000000000000"}"#).await.is_err());
    let open = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
    let approval = world.journal.approvals(open).await.unwrap().remove(0);
    world.decide(approval.approval_id.as_str(), ApprovalState::Granted).await;
    let done = loop {
        let shown = world.ask(&client, "tasks/get", &task).await.unwrap();
        if said(&shown, "status") != "working" {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(said(&done, "status"), "completed", "{done}");
    assert_eq!(done.root().pointer("/result/content/0/text").unwrap().as_str().unwrap(), "hello");
    assert_eq!(said(&done, "taskId"), approval.run_id.as_str());
    // Whoever listens hears of it too, and as whole.
    let Change::Task(news) = told.recv().await.unwrap() else { panic!("something else changed") };
    assert!(news.root().get("resultType").is_none());
    assert!(news.same_value(&Edit::of(done.root()).without("resultType").document()), "{news}");
    // Another process finds it in the journal.
    let later = world.gateway_over_the_same_journal().await;
    let found = later.ask(&client, "tasks/get", &task).await.unwrap();
    assert_eq!(found.root().pointer("/result/content/0/text").unwrap().as_str().unwrap(), "hello");
}

// After kill -9, or from another process: a client that is told to send such a call again may pay twice.
#[tokio::test]
async fn a_task_whose_process_is_gone_is_not_to_be_sent_again_where_it_may_have_changed_something() {
    let world = World::new(ALLOWED).await;
    let client = Client { capabilities: FOLLOWS, ..Client::default() };
    let created = world.call(&client, "s__hang", "{}").await.unwrap();
    let task = format!(r#"{{"taskId":"{}"}}"#, created.root().get("taskId").unwrap().as_str().unwrap());
    let later = world.gateway_over_the_same_journal().await;
    let found = later.ask(&client, "tasks/get", &task).await.unwrap();
    let said = |pointer: &str| found.root().pointer(pointer).unwrap().as_str().unwrap().into_owned();
    assert_eq!((said("/status"), said("/error/data/code")), ("failed".to_owned(), "outcome_unknown".to_owned()));
    assert!(said("/error/message").contains("not to be sent again"), "{found}");
}

#[tokio::test]
async fn what_is_done_at_once_is_no_task() {
    let world = World::new(ALLOWED).await;
    let client = Client { capabilities: FOLLOWS, ..Client::default() };
    let result = world.call(&client, "s__echo", r#"{"text":"hello"}"#).await.unwrap();
    assert!(result.root().get("taskId").is_none(), "{result}");
}

#[tokio::test]
async fn resources_and_prompts_are_read_through_the_gate() {
    let world = World::new(ALLOWED).await;
    let client = Client::default();
    let listed = world.ask(&client, "resources/list", "{}").await.unwrap();
    assert_eq!(listed.root().pointer("/resources/0/uri").unwrap().as_str().unwrap(), "test://a");
    let read = world.ask(&client, "resources/read", r#"{"uri":"test://a"}"#).await.unwrap();
    assert_eq!(read.root().pointer("/contents/0/text").unwrap().as_str().unwrap(), "of test://a");
    let prompt = world.ask(&client, "prompts/get", r#"{"name":"s__greet","arguments":{"who":"you"}}"#).await.unwrap();
    assert_eq!(prompt.root().get("description").unwrap().as_str().unwrap(), "greet you");
    let runs = world.journal.runs(lockgate::contract::ports::RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 2, "each stands in the journal");
    let hidden = World::new("[mcp.s]\ncommand = ['s']\nscopes = ['s']\n").await;
    let listed = hidden.ask(&client, "resources/list", "{}").await.unwrap();
    assert!(listed.root().get("resources").unwrap().is_empty());
    assert!(hidden.ask(&client, "resources/read", r#"{"uri":"test://a"}"#).await.is_err());
    assert!(hidden.ask(&client, "prompts/get", r#"{"name":"s__greet"}"#).await.is_err());
}

#[tokio::test]
async fn one_uri_of_two_servers_leads_to_each() {
    let world = World::new("[mcp.s]\ncommand = ['s']\n[mcp.t]\ncommand = ['t']\n").await;
    let client = Client::default();
    let listed = world.ask(&client, "resources/list", "{}").await.unwrap();
    let uris = listed.root().get("resources").unwrap().elements();
    let uris: Vec<_> = uris.map(|entry| entry.get("uri").unwrap().as_str().unwrap().into_owned()).collect();
    assert_eq!(uris, ["lockgate:s:test://a", "lockgate:t:test://a"]);
    for (uri, server) in uris.iter().zip(["s", "t"]) {
        let read = world.ask(&client, "resources/read", &format!(r#"{{"uri":"{uri}"}}"#)).await.unwrap();
        assert_eq!(read.root().pointer("/contents/0/uri").unwrap().as_str().unwrap(), *uri);
        assert_eq!(read.root().pointer("/contents/0/server").unwrap().as_str().unwrap(), server);
    }
}

// A client that is shown a link reads it under that very URI.
#[tokio::test]
async fn a_resource_in_a_result_is_named_as_it_is_read() {
    let world = World::new("[mcp.s]\ncommand = ['s']\npermission = 'allow'\n[mcp.t]\ncommand = ['t']\n").await;
    let client = Client::default();
    let uri = |result: &lockgate::contract::document::Document, pointer: &str| {
        result.root().pointer(pointer).unwrap().as_str().unwrap().into_owned()
    };
    for fails in ["no", "yes"] {
        let result = world.call(&client, "s__links", &format!(r#"{{"fails":"{fails}"}}"#)).await.unwrap();
        let link = uri(&result, "/content/0/uri");
        assert_eq!(link, "lockgate:s:test://a", "{result}");
        assert_eq!(uri(&result, "/content/1/resource/uri"), "lockgate:s:test://b");
        let read = world.ask(&client, "resources/read", &format!(r#"{{"uri":"{link}"}}"#)).await.unwrap();
        assert_eq!(uri(&read, "/contents/0/uri"), link);
    }
    let prompt = world.ask(&client, "prompts/get", r#"{"name":"s__greet"}"#).await.unwrap();
    assert_eq!(uri(&prompt, "/messages/0/content/uri"), "lockgate:s:test://a");
    // One server alone is shown as it is.
    let world = World::new(ALLOWED).await;
    let result = world.call(&client, "s__links", "{}").await.unwrap();
    assert_eq!(uri(&result, "/content/0/uri"), "test://a");
}

#[tokio::test]
async fn what_a_client_is_told_is_what_it_may_see() {
    let world = World::new(ALLOWED).await;
    let facts = world.gateway.facts(&world.principal());
    let can = |what: &str| facts.capabilities.root().get(what).is_some();
    assert!(can("tools") && can("resources") && can("prompts"));
    let hidden = World::new("[mcp.s]\ncommand = ['s']\nscopes = ['s']\n").await;
    let facts = hidden.gateway.facts(&hidden.principal());
    assert!(facts.capabilities.root().get("resources").is_none());
    assert_eq!(facts.instructions, None, "they are of a server that it does not see");
    let open = World::new(ALLOWED).await;
    assert_eq!(open.gateway.facts(&open.principal()).instructions.as_deref(), Some("how to use s"));
}

#[tokio::test]
async fn what_a_server_wrote_among_its_messages_is_shown_without_secrets() {
    let world = World::new(ALLOWED).await;
    let status = loop {
        let status = world.gateway.status();
        if status.text().contains("starting with the token") {
            break status;
        }
        tokio::task::yield_now().await;
    };
    assert!(!status.text().contains(world::SECRET) && status.text().contains("[redacted:"), "{status}");
}

impl World {
    async fn decide(&self, approval: &str, answer: ApprovalState) {
        let decision = Decision::new(lockgate::contract::ids::ApprovalId::new(approval), answer, "reviewer");
        self.journal.decide(decision).await.unwrap();
    }
}
