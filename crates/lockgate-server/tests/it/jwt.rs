//! Access tokens of an issuer.

use std::time::Duration;

use serde_json::json;

use crate::issuer::{Issuer, NAME, RESOURCE, claims, header, text};
use crate::world::World;

/// A door for tokens of an issuer whose keys are in a file.
async fn world(issuer: &Issuer, more: &str) -> World {
    let auth = format!(
        "resource = \"{RESOURCE}\"\n[[issuer]]\nissuer = \"{NAME}\"\njwks_file = \"keys.json\"\ntenant = \"demo\"\n\
         algorithms = [\"RS256\", \"PS256\", \"ES256\", \"EdDSA\"]\n{more}"
    );
    let keys = issuer.keys().to_string();
    World::with(&auth, "", |folder| std::fs::write(folder.path().join("keys.json"), keys).unwrap(), false).await
}

#[tokio::test]
async fn each_signature_is_checked() {
    let issuer = Issuer::new();
    let world = world(&issuer, "domains = [\"hr\"]\nlevel = \"write\"").await;
    for (algorithm, kid) in [("RS256", "rsa"), ("PS256", "rsa"), ("ES256", "ec"), ("EdDSA", "ed")] {
        let token = issuer.sign(&header(algorithm, kid), &claims(json!({})));
        let answer = world.call("/mcp", &token).await;
        assert_eq!(answer.status, 200, "{algorithm}: {answer:?}");
        let subject = &answer.json()["subject"];
        assert_eq!(
            *subject,
            json!({
                "tenant": "demo", "user": "carol", "agent": "desk-agent", "scopes": ["mcp", "tickets"],
                "domains": ["hr"], "level": "write",
            })
        );
        // The same bytes under another signature are nobody's.
        let (signed, _) = token.rsplit_once('.').unwrap();
        let other = issuer.signature(algorithm, format!("{signed}x").as_bytes());
        assert_eq!(world.call("/mcp", &format!("{signed}.{}", text(&other))).await.status, 401, "{algorithm}");
    }
    // An id in the key set is not needed where one key alone signs in this way.
    let without = issuer.sign(&json!({ "alg": "ES256", "typ": "JWT" }), &claims(json!({})));
    assert_eq!(world.call("/mcp", &without).await.status, 200);
}

#[tokio::test]
async fn a_tokens_own_word_for_its_signature_is_not_believed() {
    let issuer = Issuer::new();
    let world = world(&issuer, "").await;
    let good = claims(json!({}));
    let mut wrong = Vec::new();
    for none in ["none", "None", "NONE", ""] {
        let signed =
            format!("{}.{}", text(header(none, "rsa").to_string().as_bytes()), text(good.to_string().as_bytes()));
        wrong.push(format!("{signed}."));
        wrong.push(format!("{signed}.{}", text(&issuer.signature("RS256", signed.as_bytes()))));
    }
    // HS256 with the public key as its secret, in every spelling of it.
    let public = issuer.rsa_key("rsa");
    for secret in [public["n"].as_str().unwrap().to_owned(), public.to_string(), issuer.keys().to_string()] {
        let signed =
            format!("{}.{}", text(header("HS256", "rsa").to_string().as_bytes()), text(good.to_string().as_bytes()));
        let code = lockgate::host::seal::seal(secret.as_bytes(), &[signed.as_bytes()]);
        wrong.push(format!("{signed}.{}", text(&code)));
    }
    // A key of another kind, and one way of signing for another.
    wrong.push(issuer.sign(&header("ES256", "rsa"), &good));
    wrong.push(issuer.sign(&header("RS256", "ec"), &good));
    wrong.push(issuer.sign(&header("EdDSA", "ec"), &good));
    wrong.push(issuer.sign_text("RS256", &header("PS256", "rsa").to_string(), &good.to_string()));
    // A key that the token brings along.
    let stranger = Issuer::new();
    let brought = json!({ "alg": "ES256", "typ": "JWT", "jwk": stranger.ec_key("mine"), "kid": "mine" });
    wrong.push(stranger.sign(&brought, &good));
    wrong.push(
        stranger.sign(&json!({ "alg": "ES256", "typ": "JWT", "jwk": stranger.ec_key("ec"), "kid": "ec" }), &good),
    );
    wrong.push(
        stranger.sign(&json!({ "alg": "ES256", "typ": "JWT", "jku": "http://127.0.0.1:1/keys", "kid": "x" }), &good),
    );
    // Extensions that nobody here knows.
    wrong
        .push(issuer.sign(&json!({ "alg": "ES256", "typ": "JWT", "kid": "ec", "crit": ["b64"], "b64": false }), &good));
    // An id that is no word.
    wrong.push(issuer.sign(&json!({ "alg": "ES256", "typ": "JWT", "kid": ["ec"] }), &good));
    for token in wrong {
        let answer = world.call("/mcp", &token).await;
        assert_eq!((answer.status, answer.body.as_str()), (401, "this credential is not good here\n"), "{token}");
    }
}

#[tokio::test]
async fn what_a_token_claims_has_to_fit() {
    let issuer = Issuer::new();
    let world = world(&issuer, "").await;
    let now = claims(json!({}))["iat"].as_i64().unwrap();
    for (claim, good) in [
        (json!({ "exp": now + 300 }), true),
        (json!({ "exp": now - 10 }), true),
        (json!({ "exp": now - 60 }), false),
        (json!({ "exp": null }), false),
        (json!({ "exp": "tomorrow" }), false),
        (json!({ "exp": 1e300 }), false),
        (json!({ "nbf": now + 10 }), true),
        (json!({ "nbf": now + 600 }), false),
        (json!({ "iat": now + 600 }), false),
        (json!({ "iat": null }), true),
        (json!({ "aud": [RESOURCE, "https://other.example.com"] }), true),
        (json!({ "aud": "https://other.example.com/mcp" }), false),
        (json!({ "aud": "https://gate.example.com" }), false),
        (json!({ "aud": format!("{RESOURCE}/") }), false),
        (json!({ "aud": RESOURCE.to_uppercase() }), false),
        (json!({ "aud": [[RESOURCE]] }), false),
        (json!({ "aud": null }), false),
        (json!({ "iss": "https://id.example.com/" }), false),
        (json!({ "iss": null }), false),
        (json!({ "sub": null }), false),
        (json!({ "sub": "" }), false),
        (json!({ "sub": 7 }), false),
        (json!({ "sub": "carol\u{0}" }), false),
        (json!({ "client_id": null }), false),
        (json!({ "scope": ["a", "b"] }), true),
        (json!({ "scope": { "a": 1 } }), false),
        (json!({ "scope": null }), true),
    ] {
        let answer = world.call("/mcp", &issuer.token(claim.clone())).await;
        assert_eq!(answer.status, if good { 200 } else { 401 }, "{claim}: {answer:?}");
    }
    let typed = |typ: &str| issuer.sign(&json!({ "alg": "ES256", "kid": "ec", "typ": typ }), &claims(json!({})));
    for (typ, good) in
        [("JWT", true), ("application/at+jwt", true), ("AT+JWT", true), ("id+jwt", false), ("logout+jwt", false)]
    {
        assert_eq!(world.call("/mcp", &typed(typ)).await.status == 200, good, "{typ}");
    }
    let untyped = issuer.sign(&json!({ "alg": "ES256", "kid": "ec" }), &claims(json!({})));
    assert_eq!(world.call("/mcp", &untyped).await.status, 401);
    // A claim that stands twice could be read as either.
    let twice = claims(json!({})).to_string().replace("\"sub\":\"carol\"", "\"sub\":\"root\",\"sub\":\"carol\"");
    let twice = issuer.sign_text("ES256", &header("ES256", "ec").to_string(), &twice);
    assert_eq!(world.call("/mcp", &twice).await.status, 401);
    let token = issuer.token(json!({}));
    world.clock.forward(Duration::from_secs(400));
    assert_eq!(world.call("/mcp", &token).await.status, 401);
}

#[tokio::test]
async fn the_next_token_of_the_same_agent_is_the_same_credential() {
    let issuer = Issuer::new();
    let world = world(&issuer, "").await;
    let credential = async |changed| world.call("/mcp", &issuer.token(changed)).await.json()["credential"].to_string();
    let first = credential(json!({})).await;
    assert_eq!(first, credential(json!({ "jti": "2", "scope": "mcp" })).await);
    assert_ne!(first, credential(json!({ "client_id": "another" })).await);
    assert_ne!(first, credential(json!({ "sub": "dave" })).await);
}

#[tokio::test]
async fn clients_are_told_where_tokens_come_from() {
    let issuer = Issuer::new();
    let world = world(&issuer, "").await;
    let place = "https://gate.example.com/.well-known/oauth-protected-resource/mcp";
    let without = world.get("/mcp", &[]).await;
    assert_eq!(without.header("www-authenticate"), Some(format!("Bearer resource_metadata=\"{place}\"").as_str()));
    let wrong = world.call("/mcp", "a.b.c").await;
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{place}\"");
    assert_eq!(wrong.header("www-authenticate"), Some(challenge.as_str()));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = world.get(path, &[]).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        let said = answer.json();
        assert_eq!((said["resource"].as_str(), &said["authorization_servers"]), (Some(RESOURCE), &json!([NAME])));
        assert_eq!(said["bearer_methods_supported"], json!(["header"]));
    }
    assert_eq!(world.get("/.well-known/oauth-protected-resource/other", &[]).await.status, 401);
}

#[tokio::test]
async fn an_issuers_token_is_a_persons_where_it_has_the_scope() {
    let issuer = Issuer::new();
    let world = world(&issuer, "approve_scope = \"lockgate:approve\"\nroles_claim = \"groups\"").await;
    let agents = issuer.token(json!({ "groups": ["sre"] }));
    assert_eq!(world.call("/mcp", &agents).await.status, 200);
    assert_eq!(world.call("/approvals", &agents).await.status, 200, "an agent sees what it asked");
    let persons = issuer.token(json!({ "scope": "mcp lockgate:approve", "groups": ["sre"] }));
    assert_eq!(world.call("/mcp", &persons).await.status, 403);
    assert_eq!(world.call("/approvals", &persons).await.status, 200);
}
