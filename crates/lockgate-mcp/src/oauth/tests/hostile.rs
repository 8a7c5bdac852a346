//! Servers and issuers that mean no good.

use std::time::{Duration, Instant};

use serde_json::json;

use super::site::Response;
use super::world::{RESOURCE, World, token, visited};
use crate::oauth::{OAuthError, Settings};

#[tokio::test]
async fn a_state_that_is_not_ours_is_no_answer() {
    for state in ["other", ""] {
        let world = World::start(|script| drop(script.redirect.insert("state".to_owned(), state.to_owned()))).await;
        assert_eq!(world.refuse("Bearer").await, Err(OAuthError::UnknownState));
        assert!(world.issuer.asked("/token").is_empty());
    }
}

#[tokio::test]
async fn an_error_is_believed_from_the_issuer_alone_and_shown_harmless() {
    let long = "x".repeat(5000);
    let world = World::start(|script| {
        script.redirect.insert("code".to_owned(), String::new());
        script.redirect.insert("error".to_owned(), "access_denied".to_owned());
        script.redirect.insert("error_description".to_owned(), format!("\u{1b}[31m{long}"));
    })
    .await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(
        error.contains("says no: access_denied:  [31mxxx") && error.len() < 400 && !error.contains('\u{1b}'),
        "{error}"
    );
    world.change(|script| drop(script.redirect.insert("iss".to_owned(), "https://evil.example.com".to_owned())));
    assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::WrongIssuer { .. })));
}

#[tokio::test]
async fn metadata_of_ten_megabytes_are_not_read() {
    let world = World::start(|script| script.authority["more"] = "x".repeat(10 << 20).into()).await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(error.ends_with("the answer is longer than 262144 bytes"), "{error}");
}

#[tokio::test]
async fn a_slow_issuer_comes_to_an_end() {
    let world = World::start(|script| script.token_after = Duration::from_mins(10)).await;
    let settings = Settings { patience: Duration::from_millis(300), ..Settings::default() };
    let authorizer = world.authorizer(settings).await;
    let began = Instant::now();
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::Unusable { .. })));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn redirects_are_followed_nowhere() {
    let canary = World::start(|_| {}).await;
    let to = format!("{}/.well-known/oauth-authorization-server", canary.issuer.url);
    let world = World::start(|script| {
        script.registration = Response::elsewhere(&to);
        let place = format!("{RESOURCE}/mcp");
        script.resource.insert(RESOURCE.to_owned(), script.resource[&place].clone());
        script.resource.insert(place, Response::elsewhere(&to));
    })
    .await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(error.ends_with("it sends us elsewhere (HTTP 302), where we do not go"), "{error}");
    assert!(canary.issuer.paths().is_empty());
}

#[tokio::test]
async fn a_server_leads_to_no_address_that_it_is_not_at_itself() {
    for issuer in [
        "https://169.254.169.254",
        "https://10.0.0.1",
        "https://[fd00::1]",
        "https://0.0.0.0",
        "http://example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:password@example.com",
        "https://example.com#fragment",
        "https://example.com?query",
        "example.com",
        "",
    ] {
        let world = World::start(|script| {
            script.issuer = issuer.to_owned();
            script.move_resource(&format!("{RESOURCE}/mcp"), &format!("{}/mcp", script.server.clone()));
        })
        .await;
        assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::Refused { .. })), "{issuer}");
    }
}

#[tokio::test]
async fn every_endpoint_is_looked_at_and_not_only_the_first() {
    for (endpoint, steps) in [("registration_endpoint", 0), ("authorization_endpoint", 1), ("token_endpoint", 2)] {
        let urls: &[_] = if endpoint == "authorization_endpoint" {
            &[
                "javascript:alert(1)",
                "file:///bin/sh",
                "http://example.com/a",
                "https://a\nb.example/",
                "; touch /tmp/x",
            ]
        } else {
            &["https://169.254.169.254/latest", "http://example.com/token", "ftp://127.0.0.1/", "https://192.168.1.1/x"]
        };
        for url in urls {
            let world = World::start(|script| script.authority[endpoint] = (*url).into()).await;
            assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::Refused { .. })), "{url}");
            assert_eq!(world.steps().len(), steps, "{url}");
        }
    }
}

#[tokio::test]
async fn a_challenge_that_names_a_place_out_of_reach_is_passed_over() {
    let world = World::start(|_| {}).await;
    let challenge = "Bearer resource_metadata=\"https://169.254.169.254/latest/meta-data\"";
    assert_eq!(world.refuse(challenge).await.unwrap(), "token-1");
}

#[tokio::test]
async fn mix_up_a_code_of_one_issuer_is_never_redeemed_at_another() {
    // The attacker's issuer sends the person on to the honest one, and would have its code.
    let honest = World::start(|_| {}).await;
    let attacker = World::start(|script| {
        script.authority["authorization_endpoint"] = format!("{}/authorize", honest.issuer.url).into();
    })
    .await;
    assert!(matches!(attacker.refuse("Bearer").await, Err(OAuthError::WrongIssuer { .. })));
    assert!(attacker.issuer.asked("/token").is_empty());
}

#[tokio::test]
async fn a_query_that_says_something_twice_is_no_answer() {
    let world = World::start(|script| {
        script.authority["authorization_endpoint"] = format!("{}/authorize?fixed=1", script.issuer).into();
    })
    .await;
    world.refuse("Bearer").await.unwrap();
    assert_eq!(world.issuer.asked("/authorize")[0].fields()["fixed"], "1");
    let visits =
        std::sync::Arc::new(crate::oauth::Visits::new("http://127.0.0.1:9/oauth/callback", world.clock.clone()));
    let mut parts = world.parts("bob", Settings::default());
    parts.agent = Some(visits.clone());
    let authorizer = crate::oauth::Authorizer::open(parts).await.unwrap();
    let Err(OAuthError::AuthorizationNeeded { url }) = authorizer.challenged(None).await else { panic!() };
    let query = format!("{}&code=another", visited(&url).await);
    assert_eq!(visits.finish(&query, &super::world::owner("bob")).await, Err(OAuthError::NoCode));
    assert_eq!(token(&authorizer), None);
}

#[tokio::test]
async fn no_token_travels_to_another_machine_in_the_clear() {
    let world = World::start(|_| {}).await;
    for (server, is_good) in [
        ("http://example.com/mcp", false),
        ("https://example.com/mcp", true),
        ("http://[::1]:1/mcp", true),
        ("mcp", false),
    ] {
        let parts = crate::oauth::Parts { server: server.to_owned(), ..world.parts("ann", Settings::default()) };
        assert_eq!(crate::oauth::Authorizer::open(parts).await.is_ok(), is_good, "{server}");
    }
}

#[tokio::test]
async fn what_is_no_token_is_not_kept() {
    for answer in [
        json!({ "access_token": "a b", "token_type": "Bearer" }),
        json!({ "access_token": "a\r\nx-evil: 1", "token_type": "Bearer" }),
        json!({ "access_token": "", "token_type": "Bearer" }),
        json!({ "access_token": "good", "token_type": "DPoP" }),
        json!({ "access_token": "good" }),
        json!([]),
    ] {
        let world = World::start(|script| {
            script.token = answer.clone();
            if answer.get("access_token").is_none() {
                script.token_status = 201;
            }
        })
        .await;
        let error = world.refuse("Bearer").await.unwrap_err();
        assert!(matches!(error, OAuthError::Unusable { .. }), "{answer}");
        assert!(!error.to_string().contains("good"));
    }
}

#[tokio::test]
async fn a_server_that_names_nobody_is_an_error_that_says_what_was_tried() {
    let world = World::start(|script| script.resource.clear()).await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(error.contains("does not say who gives tokens for it") && error.contains("HTTP 404"), "{error}");
    // Whom the operator names is asked all the same.
    let settings = Settings { issuer: Some(world.issuer.url.clone()), ..Settings::default() };
    let authorizer = world.authorizer(settings).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(world.issuer.asked("/token")[0].fields()["resource"], world.mcp());
}
