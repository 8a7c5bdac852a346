//! The approvals page, as a program asks it.

use lockgate::contract::approval::ApprovalState;
use serde_json::json;

use crate::web::{self, Answer};
use crate::world::{World, agent, person};
use lockgate_server::tokens::Token;

async fn post(world: &World, target: &str, token: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    web::send(world.address, "POST", target, &headers, body).await
}

#[tokio::test]
async fn a_person_decides_with_what_was_shown() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let token = world.token(person("bob-phone", "bob"));
    let listed = world.call("/approvals", &token).await.json();
    assert_eq!(
        (listed["approvals"][0]["approval_id"].as_str(), &listed["more"]),
        (Some(approval.approval_id.as_str()), &0.into())
    );
    let target = format!("/approvals/{}", approval.approval_id);
    let shown = world.call(&target, &token).await.json();
    assert_eq!(shown["arguments"], json!({ "title": "one" }));
    let approve = format!("{target}/approve");
    for (body, status) in [
        (String::new(), 400),
        (json!({ "reason": "x" }).to_string(), 400),
        (json!({ "digest": "sha256:0" }).to_string(), 400),
        (json!({ "digest": shown["digest"], "by": "alice" }).to_string(), 400),
        (json!({ "digest": format!("sha256:{}", "0".repeat(64)) }).to_string(), 409),
    ] {
        let refused = post(&world, &approve, &token, &body).await;
        assert_eq!(refused.status, status, "{body}: {refused:?}");
        assert!(refused.json()["error"].is_string());
    }
    assert_eq!(world.now(&approval).await.state, ApprovalState::Pending);
    let decided =
        post(&world, &approve, &token, &json!({ "digest": shown["digest"], "reason": "fine" }).to_string()).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let decided = decided.json();
    assert_eq!((&decided["approval"]["state"], &decided["approval"]["decided_by"]), (&"granted".into(), &"bob".into()));
    assert!(decided["next"].as_str().unwrap().starts_with("The call may run once, before "), "{decided}");
}

#[tokio::test]
async fn an_agent_sees_what_it_asked_and_decides_nothing() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let target = format!("/approvals/{}", approval.approval_id);
    let own = world.token(agent("ci"));
    assert_eq!(world.call(&target, &own).await.json()["state"], "pending");
    let body = json!({ "digest": approval.digest }).to_string();
    for answer in ["approve", "deny"] {
        //
        let refused = post(&world, &format!("{target}/{answer}"), &own, &body).await;
        assert_eq!(
            (refused.status, refused.json()),
            (403, json!({ "error": "this credential calls: it decides nothing" }))
        );
    }
    // Another agent of the same person, and the same agent of another, see nothing.
    for other in [
        Token { agent: Some("other".to_owned()), ..agent("other") },
        Token { user: "bob".to_owned(), ..agent("bobs") },
        Token { tenant: "other".to_owned(), ..agent("elsewhere") },
    ] {
        let token = world.token(other);
        assert_eq!(world.call(&target, &token).await.status, 404);
        assert_eq!(world.call("/approvals", &token).await.json()["approvals"], json!([]));
    }
    assert_eq!(world.now(&approval).await.state, ApprovalState::Pending);
}

#[tokio::test]
async fn without_a_credential_nobody_decides() {
    let world = World::new("", "").await;
    let approval = world.asked("one").await;
    let json = [("accept", "application/json"), ("content-type", "application/json")];
    let target = format!("/approvals/{}/approve", approval.approval_id);
    let body = json!({ "digest": approval.digest }).to_string();
    assert_eq!(web::send(world.address, "POST", &target, &json, &body).await.status, 403);
    assert_eq!(web::send(world.address, "POST", &target, &json[1..], &body).await.status, 303);
    assert_eq!(world.now(&approval).await.state, ApprovalState::Pending);

    let world = World::with_tokens("").await;
    let refused = world.get("/approvals", &[("accept", "application/json")]).await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer realm=\"lockgate\"")));
}

#[tokio::test]
async fn a_credential_in_the_request_stands_before_a_cookie() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let token = world.token(person("bob-phone", "bob"));
    let mut browser = crate::browser::Browser::of(&world, &token).await;
    let own = format!("Bearer {}", world.token(agent("ci")));
    let target = format!("/approvals/{}/approve", approval.approval_id);
    let body = json!({ "digest": approval.digest }).to_string();
    let headers = [("authorization", own.as_str()), ("content-type", "application/json")];
    assert_eq!(browser.send("POST", &target, &headers, &body).await.status, 403);
}
