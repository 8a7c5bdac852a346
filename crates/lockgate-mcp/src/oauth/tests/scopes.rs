//! Which scopes are asked for.

use serde_json::json;

use super::site::Response;
use super::world::{RESOURCE, World};

/// The scope of the login that a server with these metadata leads to.
async fn asked(challenge: &str, known: &[&str], at_issuer: &[&str]) -> Option<String> {
    let world = World::start(|script| {
        script.authority["scopes_supported"] = json!(at_issuer);
        let metadata = json!({
            "resource": format!("{}/mcp", script.server), "authorization_servers": [script.issuer], "scopes_supported": known,
        });
        script.resource.insert(format!("{RESOURCE}/mcp"), Response::json(&metadata));
    })
    .await;
    world.refuse(challenge).await.unwrap();
    world.issuer.asked("/authorize")[0].fields().get("scope").cloned()
}

#[tokio::test]
async fn scope_from_www_authenticate_comes_before_what_the_server_knows() {
    assert_eq!(asked("Bearer scope=\"mcp:basic\"", &["mcp:profile"], &[]).await.as_deref(), Some("mcp:basic"));
}

#[tokio::test]
async fn scope_from_scopes_supported_asks_for_all() {
    let known = ["mcp:basic", "mcp:read", "mcp:write"];
    assert_eq!(asked("Bearer", &known, &[]).await.as_deref(), Some("mcp:basic mcp:read mcp:write"));
}

#[tokio::test]
async fn scope_omitted_when_undefined() {
    assert_eq!(asked("Bearer", &[], &["mcp:basic", "offline_access"]).await, None);
    assert_eq!(asked("Bearer scope=\"\"", &[], &[]).await, None);
}

#[tokio::test]
async fn offline_access_where_the_issuer_knows_it_and_nowhere_else() {
    assert_eq!(asked("Bearer", &["mcp:basic"], &["offline_access"]).await.as_deref(), Some("mcp:basic offline_access"));
    assert_eq!(asked("Bearer", &["mcp:basic", "offline_access"], &[]).await.as_deref(), Some("mcp:basic"));
}

#[tokio::test]
async fn what_is_no_scope_is_not_asked_for() {
    assert_eq!(
        asked("Bearer", &["", "a b", "a\"b", "fine", "a&client_id=x"], &[]).await.as_deref(),
        Some("a&client_id=x fine")
    );
}
