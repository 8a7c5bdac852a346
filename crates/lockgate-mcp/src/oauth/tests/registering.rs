//! How an issuer comes to know us, and how we prove it.

use serde_json::{Value, json};

use super::site::Response;
use super::world::World;
use crate::oauth::{OAuthError, Proof, Registered, Secret, Settings};

const DOCUMENT: &str = "https://lockgate.example/client.json";

#[tokio::test]
async fn basic_cimd_the_document_about_us_comes_before_registering() {
    let settings = Settings { client_metadata_url: Some(DOCUMENT.to_owned()), ..Settings::default() };
    for (reads_documents, client) in [(true, DOCUMENT), (false, "registered")] {
        let world =
            World::start(|script| script.authority["client_id_metadata_document_supported"] = reads_documents.into())
                .await;
        let authorizer = world.authorizer(settings.clone()).await;
        authorizer.challenged(Some("Bearer")).await.unwrap();
        assert_eq!(world.issuer.asked("/authorize")[0].fields()["client_id"], client);
        assert_eq!(world.issuer.asked("/token")[0].fields()["client_id"], client);
        assert_eq!(world.issuer.asked("/register").is_empty(), reads_documents);
    }
}

#[tokio::test]
async fn registering_says_what_kind_of_program_this_is() {
    let world = World::start(|_| {}).await;
    world.refuse("Bearer").await.unwrap();
    let said: Value = serde_json::from_str(&world.issuer.asked("/register")[0].body).unwrap();
    assert_eq!(
        said,
        json!({
            "client_name": "Lockgate", "application_type": "native", "redirect_uris": ["http://127.0.0.1:9/callback"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        })
    );
}

/// The header and the fields that a token was asked for with, where the issuer knows these methods.
async fn proof(
    methods: Value,
    registration: &str,
    settings: impl FnOnce(&World) -> Settings,
) -> (Option<String>, Option<String>, Option<String>) {
    let world = World::start(|script| {
        script.authority["token_endpoint_auth_methods_supported"] = methods;
        script.registration = Response::status(201, registration);
    })
    .await;
    let authorizer = world.authorizer(settings(&world)).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    let asked = &world.issuer.asked("/token")[0];
    let fields = asked.fields();
    (
        asked.headers.get("authorization").cloned(),
        fields.get("client_id").cloned(),
        fields.get("client_secret").cloned(),
    )
}

#[tokio::test]
async fn token_endpoint_auth_basic_post_and_none_are_used_as_registered() {
    let register = |method: &str| {
        format!(r#"{{"client_id": "a b:ü", "client_secret": "c&d", "token_endpoint_auth_method": "{method}"}}"#)
    };
    let text = |text: &str| Some(text.to_owned());
    for (method, expected) in [
        // `a%20b%3A%C3%BC:c%26d`: both are encoded as in a form.
        ("client_secret_basic", (text("Basic YSUyMGIlM0ElQzMlQkM6YyUyNmQ="), None, None)),
        ("client_secret_post", (None, text("a b:ü"), text("c&d"))),
        ("none", (None, text("a b:ü"), None)),
    ] {
        assert_eq!(proof(json!([method]), &register(method), |_| Settings::default()).await, expected, "{method}");
    }
    // What it registered is used, whatever was asked for.
    let all = json!(["none", "client_secret_basic", "client_secret_post"]);
    let used = proof(all, &register("client_secret_post"), |_| Settings::default()).await;
    assert_eq!(used, (None, text("a b:ü"), text("c&d")));
}

#[tokio::test]
async fn pre_registration_comes_first_and_is_shown_to_its_issuer_alone() {
    let settings = |issuer: &str| Settings {
        issuer: Some(issuer.to_owned()),
        client: Some(Registered { id: "mine".to_owned(), proof: Proof::Secret(Secret::new("hush")) }),
        client_metadata_url: Some(DOCUMENT.to_owned()),
        ..Settings::default()
    };
    let used = proof(json!(["client_secret_basic"]), "", |world| settings(&world.issuer.url)).await;
    assert_eq!(used.0.as_deref(), Some("Basic bWluZTpodXNo"));
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(settings("https://another.example")).await;
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::OtherIssuers { .. })));
    assert!(world.issuer.paths().is_empty());
    let homeless = Settings { issuer: None, ..settings("") };
    assert_eq!(
        homeless.check().unwrap_err().to_string(),
        "a `client_id` needs an `issuer`: it is shown to nobody else"
    );
}

#[tokio::test]
async fn without_any_way_the_error_says_what_to_do() {
    let world = World::start(|script| {
        script.authority.as_object_mut().unwrap().remove("registration_endpoint");
    })
    .await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(
        error.ends_with("lets no client register itself: register one there, and configure its `client_id`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_registration_that_cannot_be_used_is_refused() {
    for registration in [
        r#"{"client_id": ""}"#,
        r#"{"client_id": "a", "token_endpoint_auth_method": "tls_client_auth"}"#,
        r#"{"client_id": "a", "token_endpoint_auth_method": "client_secret_post"}"#,
        r#"{"client_secret": "a"}"#,
        "[]",
        "",
    ] {
        let world = World::start(|script| script.registration = Response::status(201, registration)).await;
        assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::Unusable { .. })), "{registration}");
        assert!(world.issuer.asked("/authorize").is_empty());
    }
    let denied = r#"{"error": "invalid_redirect_uri", "error_description": "no\u0007 localhost"}"#;
    let world = World::start(|script| script.registration = Response::status(400, denied)).await;
    let error = world.refuse("Bearer").await.unwrap_err().to_string();
    assert!(error.ends_with("says no: invalid_redirect_uri: no  localhost"), "{error}");
}

#[tokio::test]
async fn an_issuer_that_does_not_know_us_any_more_is_asked_anew() {
    let world = World::start(|script| {
        // Some say so with a status of success.
        script.token_status = 201;
        script.token = json!({ "error": "invalid_client" });
    })
    .await;
    for times in 1..=2 {
        assert!(matches!(world.refuse("Bearer").await, Err(OAuthError::Denied { .. })));
        assert_eq!(world.issuer.asked("/register").len(), times);
    }
}
