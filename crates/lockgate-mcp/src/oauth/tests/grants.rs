//! Tokens that nobody logs in for, and tokens that are renewed.

use serde_json::json;

use super::world::{World, token};
use crate::oauth::{Exchange, Grant, OAuthError, Parts, Proof, Registered, Secret, Settings, SubjectToken};

fn machine(world: &World, grant: Grant, proof: Proof) -> Settings {
    world.change(|script| {
        script.authority["token_endpoint_auth_methods_supported"] = json!(["client_secret_basic", "private_key_jwt"]);
    });
    Settings {
        issuer: Some(world.issuer.url.clone()),
        client: Some(Registered { id: "robot".to_owned(), proof }),
        grant,
        ..Settings::default()
    }
}

#[tokio::test]
async fn client_credentials_basic_asks_nobody() {
    let world = World::start(|_| {}).await;
    let settings = machine(&world, Grant::ClientCredentials, Proof::Secret(Secret::new("hush")));
    let parts = Parts { agent: None, ..world.parts("ann", settings) };
    let authorizer = crate::oauth::Authorizer::open(parts.clone()).await.unwrap();
    authorizer.challenged(Some("Bearer scope=\"mcp:basic\"")).await.unwrap();
    assert_eq!(world.steps(), ["/token"]);
    let asked = &world.issuer.asked("/token")[0];
    assert_eq!(asked.headers["authorization"], "Basic cm9ib3Q6aHVzaA==");
    let expected = [("grant_type", "client_credentials"), ("resource", &world.mcp()), ("scope", "mcp:basic")];
    assert_eq!(asked.fields(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    // It can be had again at any time, so it is written nowhere.
    assert_eq!(token(&crate::oauth::Authorizer::open(parts).await.unwrap()), None);
}

#[tokio::test]
async fn client_credentials_jwt_proves_itself_by_a_signature() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
    };

    let random = ring::rand::SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let public = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random).unwrap();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(key.as_ref()));
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(machine(&world, Grant::ClientCredentials, Proof::Key(Secret::new(pem)))).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    let fields = world.issuer.asked("/token")[0].fields();
    assert_eq!(fields["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    let (signed, signature) = fields["client_assertion"].rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public.public_key().as_ref());
    public.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(
        (&claims["iss"], &claims["sub"], &claims["aud"]),
        (&json!("robot"), &json!("robot"), &json!(world.issuer.url))
    );
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 60);

    let broken = world.authorizer(machine(&world, Grant::ClientCredentials, Proof::Key(Secret::new("no key")))).await;
    let error = broken.challenged(Some("Bearer")).await.unwrap_err();
    assert_eq!(error.to_string(), "the client's key is no private key for ES256 in PEM and PKCS #8");
}

#[tokio::test]
async fn a_token_is_exchanged_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "first\n").unwrap();
    let world = World::start(|script| script.token["expires_in"] = "30".into()).await;
    let exchange = Exchange {
        subject_token: SubjectToken::File(path.clone()),
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt".to_owned(),
        audience: Some("mail".to_owned()),
    };
    let authorizer =
        world.authorizer(machine(&world, Grant::Exchange(exchange), Proof::Secret(Secret::new("hush")))).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    let fields = world.issuer.asked("/token")[0].fields();
    assert_eq!(fields["grant_type"], "urn:ietf:params:oauth:grant-type:token-exchange");
    assert_eq!((fields["subject_token"].as_str(), fields["audience"].as_str()), ("first", "mail"));
    assert_eq!(fields["resource"], world.mcp());
    std::fs::write(&path, "second").unwrap();
    world.clock.pass(31);
    world.change(|script| {
        script.token_status = 400;
        script.token = json!({ "error": "invalid_grant" });
    });
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::Denied { .. })));
    assert_eq!(world.issuer.asked("/token").last().unwrap().fields()["subject_token"], "second");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::Settings(_))));
}

#[tokio::test]
async fn an_older_token_is_renewed_without_a_person() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer scope=\"mcp:basic\"")).await.unwrap();
    world.clock.pass(3600);
    world.change(|script| script.token = json!({ "token_type": "Bearer" }));
    authorizer.challenged(Some("Bearer error=\"invalid_token\"")).await.unwrap();
    assert_eq!(token(&authorizer).as_deref(), Some("token-2"));
    assert_eq!(world.issuer.asked("/authorize").len(), 1);
    let fields = world.issuer.asked("/token")[1].fields();
    let expected = [
        ("grant_type", "refresh_token"),
        ("refresh_token", "again"),
        ("resource", &world.mcp()),
        ("client_id", "registered"),
    ];
    assert_eq!(fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    // No other one came with it: the old one is still good, and where it is not, somebody logs in.
    world.clock.pass(3600);
    world.change(|script| {
        script.token_status = 400;
        script.token = json!({ "error": "invalid_grant" });
    });
    assert!(matches!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::Denied { .. })));
    assert_eq!(world.steps()[4..], ["/token", "/authorize", "/token"]);
}

#[tokio::test]
async fn an_issuer_that_is_away_costs_nobody_their_login() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    world.clock.pass(3600);
    for (status, said) in [(503, json!("away")), (503, json!({ "error": "temporarily_unavailable" }))] {
        world.change(|script| {
            script.token_status = status;
            script.token = said;
        });
        let error = authorizer.challenged(Some("Bearer")).await.unwrap_err();
        assert!(matches!(error, OAuthError::Unusable { .. } | OAuthError::Denied { .. }));
    }
    world.change(|script| {
        script.token_status = 200;
        script.token = json!({ "token_type": "Bearer" });
    });
    authorizer.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(world.issuer.asked("/authorize").len(), 1);
}
