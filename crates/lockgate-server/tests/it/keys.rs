//! An issuer's keys, fetched.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Response, StatusCode};
use serde_json::json;
use tokio::sync::Notify;

use crate::issuer::{Issuer, NAME, RESOURCE, claims, header};
use crate::web;
use crate::world::World;

/// A server of keys, which counts how often it is asked.
struct KeyServer {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    says: Arc<Mutex<(StatusCode, String)>>,
}

impl KeyServer {
    async fn new(says: String) -> Self {
        let (asked, says) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new((StatusCode::OK, says))));
        let (count, text) = (Arc::clone(&asked), Arc::clone(&says));
        let address = web::serve(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            let (status, body) = text.lock().unwrap().clone();
            let mut answer = Response::new(body);
            *answer.status_mut() = status;
            if status.is_redirection() {
                answer.headers_mut().insert("location", "/elsewhere".parse().unwrap());
            }
            std::future::ready(answer)
        })
        .await;
        Self { address, asked, says }
    }

    fn say(&self, status: StatusCode, text: String) {
        *self.says.lock().unwrap() = (status, text);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    async fn world(&self) -> World {
        let url = format!("http://{}/keys", self.address);
        World::new(&auth(&url), "").await
    }
}

fn auth(url: &str) -> String {
    format!(
        "resource = \"{RESOURCE}\"\n[[issuer]]\nissuer = \"{NAME}\"\njwks_url = \"{url}\"\ntenant = \"demo\"\n\
         algorithms = [\"ES256\", \"RS256\"]\n"
    )
}

#[tokio::test]
async fn they_are_fetched_once_and_again_for_a_new_one() {
    let issuer = Issuer::new();
    let server = KeyServer::new(issuer.keys().to_string()).await;
    let world = server.world().await;
    assert_eq!(server.asked(), 0, "nobody needs a key yet");
    for _ in 0..5 {
        assert_eq!(world.call("/mcp", &issuer.token(json!({}))).await.status, 200);
    }
    assert_eq!(server.asked(), 1);

    // An unknown key makes them be fetched, but not by everybody who names one.
    let next = Issuer::new();
    let token = next.sign(&header("ES256", "next"), &claims(json!({})));
    for _ in 0..5 {
        assert_eq!(world.call("/mcp", &token).await.status, 401);
    }
    assert_eq!(server.asked(), 1, "the minute is not over");
    world.clock.forward(Duration::from_secs(61));
    server.say(StatusCode::OK, json!({ "keys": [next.ec_key("next"), issuer.ec_key("ec")] }).to_string());
    assert_eq!(world.call("/mcp", &token).await.status, 200);
    assert_eq!(server.asked(), 2);
    assert_eq!(world.call("/mcp", &issuer.token(json!({}))).await.status, 200);

    // They age. While the issuer is away the last ones are believed, for a day.
    server.say(StatusCode::BAD_GATEWAY, String::new());
    let lasting = issuer.token(json!({ "exp": claims(json!({}))["exp"].as_i64().unwrap() + 100_000 }));
    world.clock.forward(Duration::from_hours(2));
    assert_eq!(world.call("/mcp", &lasting).await.status, 200);
    assert_eq!(server.asked(), 3);
    world.clock.forward(Duration::from_hours(23));
    assert_eq!(world.call("/mcp", &lasting).await.status, 503);
}

#[tokio::test]
async fn what_is_no_set_of_keys_lets_nobody_in() {
    let issuer = Issuer::new();
    let large = json!({ "keys": [issuer.ec_key("ec")], "more": "x".repeat(300 << 10) }).to_string();
    let many = json!({ "keys": vec![issuer.ec_key("ec"); 101] }).to_string();
    for (status, text) in [
        (StatusCode::OK, large),
        (StatusCode::OK, many),
        (StatusCode::OK, "<html>".to_owned()),
        (StatusCode::OK, "[]".to_owned()),
        (StatusCode::FOUND, issuer.keys().to_string()),
        (StatusCode::NOT_FOUND, issuer.keys().to_string()),
    ] {
        let server = KeyServer::new(String::new()).await;
        server.say(status, text);
        let world = server.world().await;
        let answer = world.call("/mcp", &issuer.token(json!({}))).await;
        assert_eq!((answer.status, answer.body.as_str()), (503, "it cannot be known now who is calling\n"), "{status}");
        assert_eq!(server.asked(), 1, "no redirect is followed");
    }
}

#[tokio::test]
async fn a_key_that_could_be_two_is_none() {
    let (issuer, other) = (Issuer::new(), Issuer::new());
    let server = KeyServer::new(json!({ "keys": [issuer.ec_key("ec"), other.ec_key("ec")] }).to_string()).await;
    assert_eq!(server.world().await.call("/mcp", &issuer.token(json!({}))).await.status, 401);
    // One id for keys of two kinds is told apart by the way of signing.
    let server = KeyServer::new(json!({ "keys": [issuer.rsa_key("ec"), issuer.ec_key("ec")] }).to_string()).await;
    assert_eq!(server.world().await.call("/mcp", &issuer.token(json!({}))).await.status, 200);
    // A key for something else signs no token.
    for (name, value) in
        [("use", json!("enc")), ("key_ops", json!(["sign"])), ("alg", json!("ES384")), ("kid", json!(1))]
    {
        let mut key = issuer.ec_key("ec");
        key[name] = value;
        let server = KeyServer::new(json!({ "keys": [key] }).to_string()).await;
        assert_eq!(server.world().await.call("/mcp", &issuer.token(json!({}))).await.status, 401, "{name}");
    }
}

#[tokio::test]
async fn many_at_once_are_one_fetch() {
    let issuer = Issuer::new();
    let server = KeyServer::new(issuer.keys().to_string()).await;
    let world = Arc::new(server.world().await);
    let calls: Vec<_> = (0..16)
        .map(|_| {
            let (world, token) = (Arc::clone(&world), issuer.token(json!({})));
            tokio::spawn(async move { world.call("/mcp", &token).await.status })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(server.asked(), 1);
}

// Anybody can name a key that nobody knows, and go away: that must not keep those out whose keys are known, nor new keys.
#[tokio::test]
async fn a_known_key_waits_for_nobody_and_a_fetch_outlives_whoever_asked() {
    let (issuer, next) = (Issuer::new(), Issuer::new());
    let (asked, goes_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (first, both) =
        (issuer.keys().to_string(), json!({ "keys": [issuer.ec_key("ec"), next.ec_key("next")] }).to_string());
    let (count, going_on) = (Arc::clone(&asked), Arc::clone(&goes_on));
    let address = web::serve(move |_, _| {
        let is_first = count.fetch_add(1, Ordering::SeqCst) == 0;
        let (goes_on, first, both) = (Arc::clone(&going_on), first.clone(), both.clone());
        async move {
            if is_first {
                return Response::new(first);
            }
            goes_on.notified().await;
            Response::new(both)
        }
    })
    .await;
    let world = Arc::new(World::new(&auth(&format!("http://{address}/keys")), "").await);
    assert_eq!(world.call("/mcp", &issuer.token(json!({}))).await.status, 200);
    world.clock.forward(Duration::from_secs(61));
    let unknown = next.sign(&header("ES256", "next"), &claims(json!({})));
    let (elsewhere, token) = (Arc::clone(&world), unknown.clone());
    let waiting = tokio::spawn(async move { elsewhere.call("/mcp", &token).await.status });
    while asked.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.call("/mcp", &issuer.token(json!({}))).await.status, 200);
    assert!(!waiting.is_finished(), "the keys are still on their way");
    waiting.abort();
    assert!(waiting.await.is_err());
    goes_on.notify_one();
    assert_eq!(world.call("/mcp", &unknown).await.status, 200);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn keys_over_https_are_on_the_internet() {
    let issuer = Issuer::new();
    let server = KeyServer::new(issuer.keys().to_string()).await;
    let url = format!("https://{}/keys", server.address);
    let world = World::new(&auth(&url), "").await;
    assert_eq!(world.call("/mcp", &issuer.token(json!({}))).await.status, 503);
    assert_eq!(server.asked(), 0);
}
