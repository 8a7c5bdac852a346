//! What the official conformance suite asks of a client (`auth/…`), one by one; each also runs in the suite itself.

use serde_json::json;

use super::site::Response;
use super::world::{AUTHORITY, RESOURCE, World};
use crate::oauth::OAuthError;

#[tokio::test]
async fn metadata_default_names_the_place_and_the_root_is_left_alone() {
    let world = World::start(|_| {}).await;
    let named = format!("Bearer resource_metadata=\"{}{RESOURCE}/mcp\"", world.server.url);
    assert_eq!(world.refuse(&named).await.unwrap(), "token-1");
    assert_eq!(world.server.paths(), [format!("{RESOURCE}/mcp")]);
    assert_eq!(world.issuer.paths(), [AUTHORITY, "/register", "/authorize", "/token"]);
    let (authorize, token) = (world.issuer.asked("/authorize")[0].fields(), world.issuer.asked("/token")[0].fields());
    assert_eq!(authorize["resource"], world.mcp());
    assert_eq!(token["resource"], world.mcp());
    assert_eq!(authorize["code_challenge_method"], "S256");
    assert_eq!(authorize["code_challenge"], challenge(&token["code_verifier"]));
    assert_eq!((authorize["client_id"].as_str(), token["client_id"].as_str()), ("registered", "registered"));
    assert_eq!(authorize["redirect_uri"], token["redirect_uri"]);
    assert_eq!(token["code"], "test-code");
    assert!(authorize["state"].len() >= 43 && token["code_verifier"].len() >= 43);
}

fn challenge(verifier: &str) -> String {
    use base64::Engine as _;
    use sha2::Digest as _;

    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier))
}

#[tokio::test]
async fn metadata_var1_path_first_and_the_openid_document() {
    let world = World::start(|script| script.place = "/.well-known/openid-configuration".to_owned()).await;
    world.refuse("Bearer").await.unwrap();
    assert_eq!(world.server.paths(), [format!("{RESOURCE}/mcp")]);
    assert_eq!(world.issuer.paths()[..2], [AUTHORITY, "/.well-known/openid-configuration"]);
}

#[tokio::test]
async fn metadata_var2_the_servers_root_and_an_issuer_with_a_path() {
    let world = World::start(|script| {
        script.move_issuer("/tenant1", &format!("{AUTHORITY}/tenant1"));
        let origin = script.server.clone();
        script.move_resource(RESOURCE, &origin);
    })
    .await;
    world.refuse("Bearer").await.unwrap();
    assert_eq!(world.server.paths(), [format!("{RESOURCE}/mcp"), RESOURCE.to_owned()]);
    assert_eq!(world.issuer.paths()[0], format!("{AUTHORITY}/tenant1"));
    // Byte for byte: no slash is added behind the origin.
    assert_eq!(world.issuer.asked("/authorize")[0].fields()["resource"], world.server.url);
    assert_eq!(world.issuer.asked("/token")[0].fields()["resource"], world.server.url);
}

#[tokio::test]
async fn metadata_var3_any_place_that_is_named_and_the_third_place_of_an_issuer() {
    let world = World::start(|script| {
        script.move_issuer("/tenant1", "/tenant1/.well-known/openid-configuration");
        let server = format!("{}/mcp", script.server);
        script.move_resource("/custom/metadata/location.json", &server);
    })
    .await;
    let named = format!("Bearer resource_metadata=\"{}/custom/metadata/location.json\"", world.server.url);
    world.refuse(&named).await.unwrap();
    assert_eq!(
        world.issuer.paths()[..3],
        [
            format!("{AUTHORITY}/tenant1"),
            "/.well-known/openid-configuration/tenant1".to_owned(),
            "/tenant1/.well-known/openid-configuration".to_owned()
        ]
    );
}

#[tokio::test]
async fn resource_mismatch_stops_before_the_issuer_is_asked() {
    for resource in [
        "https://evil.example.com/mcp",
        "http://127.0.0.1:1/mcp",
        "{server}/mc",
        "{server}/mcp/other",
        "{server}/mcp?x",
        "",
    ] {
        let world = World::start(|script| {
            let resource = resource.replace("{server}", &script.server);
            script.move_resource(&format!("{RESOURCE}/mcp"), &resource);
        })
        .await;
        assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::OtherResource { .. })), "{resource}");
        assert_eq!(world.issuer.paths(), [""; 0]);
    }
}

#[tokio::test]
async fn metadata_issuer_mismatch_uses_nothing_of_it() {
    let world = World::start(|script| script.authority["issuer"] = "https://attacker.example.com".into()).await;
    assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::IssuerMismatch { .. })));
    assert_eq!(world.issuer.paths(), [AUTHORITY]);
}

#[tokio::test]
async fn iss_is_compared_as_a_text_before_the_code_is_redeemed() {
    // Advertised?, in the redirect, whether it goes on.
    for (is_advertised, iss, goes_on) in [
        (true, "{issuer}", true),
        (false, "", true),
        (false, "{issuer}", true),
        (true, "", false),
        (true, "https://evil.example.com", false),
        (false, "https://evil.example.com", false),
        (true, "{issuer}/", false),
    ] {
        let world = World::start(|script| {
            script.authority["authorization_response_iss_parameter_supported"] = is_advertised.into();
            script.redirect.insert("iss".to_owned(), iss.replace("{issuer}", &script.issuer));
        })
        .await;
        let result = world.refuse("Bearer").await;
        let steps: &[_] = if goes_on { &["/register", "/authorize", "/token"] } else { &["/register", "/authorize"] };
        assert_eq!(world.steps(), steps, "{iss}");
        assert_eq!(matches!(result, Err(OAuthError::WrongIssuer { .. })), !goes_on, "{result:?}");
    }
}

#[tokio::test]
async fn authorization_server_migration_registers_anew_and_shows_the_old_id_to_nobody() {
    let world = World::start(|_| {}).await;
    let other = World::start(|script| {
        script.registration = Response::status(201, r#"{"client_id": "other"}"#);
        script.token["access_token"] = "other-token".into();
    })
    .await;
    let authorizer = world.authorizer(crate::oauth::Settings::default()).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    world.change(|script| {
        script.issuer.clone_from(&other.issuer.url);
        let server = format!("{}/mcp", script.server);
        script.move_resource(&format!("{RESOURCE}/mcp"), &server);
    });
    authorizer.challenged(Some("Bearer error=\"invalid_token\"")).await.unwrap();
    assert_eq!(super::world::token(&authorizer).as_deref(), Some("other-token"));
    assert_eq!(other.steps(), ["/register", "/authorize", "/token"]);
    assert!(other.issuer.seen().iter().all(|request| !format!("{request:?}").contains("registered")));
    // The first token was not renewed there either.
    assert_eq!(world.issuer.asked("/token").len(), 1);
}

#[tokio::test]
async fn who_does_not_bind_codes_is_not_logged_in_at() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let world = World::start(|script| {
            script.authority["code_challenge_methods_supported"] = methods.clone();
            if methods.is_null() {
                script.authority.as_object_mut().unwrap().remove("code_challenge_methods_supported");
            }
        })
        .await;
        assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::Lacking { .. })));
        assert!(world.issuer.asked("/authorize").is_empty());
    }
}
