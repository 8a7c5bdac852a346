//! Servers that want more, or that take nothing.

use std::time::Duration;

use serde_json::json;

use super::world::{World, token};
use crate::client::Tokens;
use crate::oauth::{OAuthError, Settings};

const MORE: &str = "Bearer error=\"insufficient_scope\", scope=\"mcp:write\"";

#[tokio::test]
async fn scope_step_up_asks_for_the_earlier_scopes_too() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer scope=\"mcp:basic\"")).await.unwrap();
    authorizer.challenged(Some(MORE)).await.unwrap();
    assert_eq!(token(&authorizer).as_deref(), Some("token-2"));
    let scopes: Vec<_> = world.issuer.asked("/authorize").iter().map(|login| login.fields()["scope"].clone()).collect();
    assert_eq!(scopes, ["mcp:basic", "mcp:basic mcp:write"]);
    // The client that was registered the first time is known the second time.
    assert_eq!(world.issuer.asked("/register").len(), 1);
}

#[tokio::test]
async fn scope_retry_limit_the_same_is_not_asked_for_twice() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer scope=\"mcp:basic\"")).await.unwrap();
    authorizer.challenged(Some(MORE)).await.unwrap();
    for _ in 0..5 {
        // Long after, too.
        world.clock.pass(3600);
        let error = authorizer.challenged(Some(MORE)).await.unwrap_err();
        assert_eq!(error.to_string(), "the server refuses a token that it has just been given: it wants `mcp:write`");
    }
    assert_eq!(world.issuer.asked("/authorize").len(), 2);
}

#[tokio::test]
async fn a_server_that_wants_another_scope_each_time_comes_to_an_end() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    let mut logins = 0;
    while let Ok(()) =
        authorizer.challenged(Some(&format!("Bearer error=insufficient_scope, scope=\"s{logins}\""))).await
    {
        logins += 1;
        assert!(logins <= 64);
    }
    assert_eq!(logins, 64);
}

#[tokio::test]
async fn a_fresh_token_that_is_refused_is_not_asked_for_again() {
    let world = World::start(|script| script.token = json!({ "token_type": "bearer" })).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::StillRefused { .. })));
    assert_eq!(world.issuer.asked("/authorize").len(), 1);
    world.clock.pass(61);
    authorizer.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(world.issuer.asked("/authorize").len(), 2);
}

#[tokio::test]
async fn a_refusal_that_comes_late_asks_for_nothing() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    let refused =
        |shown: Option<&str>| Tokens::challenged(&authorizer, shown.map(str::to_owned), Some("Bearer".to_owned()));
    assert!(refused(None).await.unwrap());
    let asked = world.issuer.seen().len();
    for old in [None, Some("token-0")] {
        assert!(refused(old).await.unwrap());
    }
    assert_eq!(world.issuer.seen().len(), asked);
    world.clock.pass(3600);
    assert!(refused(Some("token-1")).await.unwrap());
    assert_eq!(token(&authorizer).as_deref(), Some("token-2"));
}

#[tokio::test]
async fn who_comes_while_somebody_logs_in_waits_for_the_same_token() {
    let world = World::start(|script| script.token_after = Duration::from_millis(50)).await;
    let authorizer = world.authorizer(Settings::default()).await;
    let all: Vec<_> = (0..8)
        .map(|_| {
            let authorizer = authorizer.clone();
            tokio::spawn(async move { authorizer.challenged(Some("Bearer")).await })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
    assert_eq!(world.issuer.asked("/token").len(), 1);
}
