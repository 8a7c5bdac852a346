//! Where tokens are kept, and for whom.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, owner, token};
use crate::oauth::{Authorizer, OAuthError, Parts, Settings, Vault};

async fn open(world: &World, user: &str, path: &Path) -> Result<Authorizer, OAuthError> {
    Authorizer::open(Parts { vault: Arc::new(Vault::at(path)), ..world.parts(user, Settings::default()) }).await
}

/// IBM/mcp-context-forge#1078: user A's call ran with user B's token.
#[tokio::test]
async fn user_as_call_never_runs_with_user_bs_token() {
    let world = World::start(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let bob = open(&world, "bob", &path).await.unwrap();
    bob.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(token(&bob).as_deref(), Some("token-1"));

    let ann = open(&world, "ann", &path).await.unwrap();
    assert_eq!(token(&ann), None);
    // Not even where nobody can be asked, and any token would do.
    let vault = Arc::new(Vault::at(&path));
    let alone =
        Authorizer::open(Parts { agent: None, vault, ..world.parts("ann", Settings::default()) }).await.unwrap();
    assert_eq!(alone.challenged(Some("Bearer")).await, Err(OAuthError::LoginNeeded { upstream: "mail".to_owned() }));
    assert_eq!(token(&alone), None);
    ann.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(token(&ann).as_deref(), Some("token-2"));
    assert_eq!(token(&open(&world, "bob", &path).await.unwrap()).as_deref(), Some("token-1"));

    // A name that would be another's if the parts were only joined is nobody's.
    for (tenant, user) in [("demo/b", "ob"), ("demob", "ob"), ("", "bob"), ("demo", "BOB"), ("demo", "")] {
        let owner = crate::oauth::Owner { tenant: tenant.to_owned(), user: user.to_owned() };
        let parts = Parts { owner, vault: Arc::new(Vault::at(&path)), ..world.parts("", Settings::default()) };
        assert_eq!(token(&Authorizer::open(parts).await.unwrap()), None);
    }
}

#[tokio::test]
async fn a_token_is_shown_to_the_server_that_it_was_got_for_and_to_no_other() {
    let world = World::start(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    open(&world, "ann", &path).await.unwrap().challenged(Some("Bearer")).await.unwrap();
    for (upstream, server) in [("mail", "https://evil.example/mcp"), ("other", world.mcp().as_str())] {
        let (upstream, server) = (upstream.to_owned(), server.to_owned());
        let vault = Arc::new(Vault::at(&path));
        let parts = Parts { upstream, server, vault, ..world.parts("ann", Settings::default()) };
        assert_eq!(token(&Authorizer::open(parts).await.unwrap()), None);
    }
}

#[tokio::test]
async fn the_file_is_for_its_owner_alone_and_refused_when_it_is_not() {
    let world = World::start(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    open(&world, "ann", &path).await.unwrap().challenged(Some("Bearer scope=\"a\"")).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept["credentials"][0]["owner"], json!({ "tenant": "demo", "user": "ann" }));
    assert_eq!(kept["credentials"][0]["access"], "token-1");
    assert_eq!(kept["credentials"][0]["issuer"], world.issuer.url);
    assert_eq!(kept["registrations"][0]["client"]["id"], "registered");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = open(&world, "ann", &path).await.err().unwrap().to_string();
        assert!(error.contains("others than its owner may read") && error.contains("chmod 600"), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    // A file that cannot be read is not written over, and what stands there is not said.
    for broken in
        [text.replace("\"1\"", "\"2\""), text.replace("token-1", "token-1\", \"access\": \"x"), text[..100].to_owned()]
    {
        std::fs::write(&path, &broken).unwrap();
        let error = open(&world, "ann", &path).await.err().unwrap().to_string();
        assert!(error.contains("is no file of credentials") && !error.contains("token-1"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
    }
}

#[tokio::test]
async fn two_processes_renew_a_token_once() {
    let world = World::start(|script| script.token_after = Duration::from_millis(100)).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    open(&world, "ann", &path).await.unwrap().challenged(Some("Bearer")).await.unwrap();
    world.clock.pass(3600);
    // Each has its own vault, as processes have.
    let (one, other) = (open(&world, "ann", &path).await.unwrap(), open(&world, "ann", &path).await.unwrap());
    let (first, second) = tokio::join!(one.challenged(Some("Bearer")), other.challenged(Some("Bearer")));
    first.and(second).unwrap();
    assert_eq!(world.issuer.asked("/token").len(), 2);
    assert_eq!((token(&one), token(&other)), (Some("token-2".to_owned()), Some("token-2".to_owned())));
}

#[tokio::test]
async fn a_token_that_is_on_its_way_is_kept_when_nobody_waits_for_it_any_more() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    world.clock.pass(3600);
    world.change(|script| script.token_after = Duration::from_millis(200));
    let waiting = authorizer.clone();
    let task = tokio::spawn(async move { waiting.challenged(Some("Bearer")).await });
    while world.issuer.asked("/token").len() < 2 {
        tokio::task::yield_now().await;
    }
    task.abort();
    authorizer.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(token(&authorizer).as_deref(), Some("token-2"));
    assert_eq!(world.issuer.asked("/token").len(), 2);
}

#[tokio::test]
async fn logging_out_forgets_ones_own_tokens() {
    let world = World::start(|_| {}).await;
    let (ann, bob) = (world.authorizer(Settings::default()).await, world.parts("bob", Settings::default()));
    let bob = Authorizer::open(bob).await.unwrap();
    ann.challenged(Some("Bearer")).await.unwrap();
    bob.challenged(Some("Bearer")).await.unwrap();
    assert_eq!(ann.forget().await, Ok(true));
    assert_eq!(ann.forget().await, Ok(false));
    assert_eq!(token(&ann), None);
    assert_eq!(token(&world.authorizer(Settings::default()).await), None);
    assert_eq!(token(&Authorizer::open(world.parts("bob", Settings::default())).await.unwrap()), token(&bob));
    assert_eq!(owner("bob"), world.parts("bob", Settings::default()).owner);
}

#[tokio::test]
async fn nothing_that_is_secret_shows_in_a_log() {
    let world = World::start(|_| {}).await;
    let authorizer = world.authorizer(Settings::default()).await;
    authorizer.challenged(Some("Bearer")).await.unwrap();
    let held = world.vault.credential(&owner("ann"), "mail", &world.mcp()).await.unwrap().unwrap();
    let shown = format!("{held:?} {:?} {:?}", world.vault, authorizer.token());
    for secret in ["token-1", "again", "hush"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
