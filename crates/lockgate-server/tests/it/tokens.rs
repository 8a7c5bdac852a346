//! Tokens of a file.

use std::time::Duration;

use lockgate::contract::ports::Clock as _;
use lockgate_server::auth::{AuthError, check_bind};
use lockgate_server::tokens::{Token, TokenFile, TokensError};

use crate::world::{World, agent, person};

#[tokio::test]
async fn who_has_a_token_is_who_it_says() {
    let world = World::with_tokens("").await;
    let scopes = ["tickets".to_owned()].into();
    let token = world.token(Token { user: "carol".to_owned(), scopes, ..agent("ci") });
    let answer = world.call("/mcp", &token).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let who = answer.json();
    //
    assert_eq!((who["subject"]["user"].as_str(), who["subject"]["tenant"].as_str()), (Some("carol"), Some("demo")));
    assert_eq!((&who["subject"]["scopes"][0], &who["run"]), (&"tickets".into(), &().into()));
    let credential = who["credential"].as_str().unwrap().to_owned();
    assert!(credential.starts_with("token:ci:"), "{credential}");
    // The next one of this id is another credential: what was begun with the first is not its.
    TokenFile::remove(&world.path("tokens.toml"), "ci").unwrap();
    let next = world.call("/mcp", &world.token(agent("ci"))).await.json();
    assert_ne!(next["credential"], credential.as_str());
}

#[tokio::test]
async fn nobody_else_is_let_in() {
    let world = World::with_tokens("").await;
    let token = world.token(agent("ci"));
    let without = world.get("/mcp", &[]).await;
    assert_eq!((without.status, without.header("www-authenticate")), (401, Some("Bearer realm=\"lockgate\"")));
    let (other, last) = (world.token(agent("other")), token.chars().last().unwrap());
    let changed = format!("{}{}", &token[..token.len() - 1], if last == 'A' { 'E' } else { 'A' });
    let swapped = format!("lgt_ci_{}", other.rsplit('_').next().unwrap());
    for wrong in [&changed, &swapped, &token[..20], &token[4..], "lgt_ci_", "lgt__", "lgt_RUN_x.y", "a.b.c", "-"] {
        let answer = world.call("/mcp", wrong).await;
        assert_eq!(answer.status, 401, "{wrong}: {answer:?}");
        assert_eq!(answer.body, "this credential is not good here\n", "{wrong}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
    }
    assert_eq!(world.call("/mcp", &token).await.status, 200);
}

#[tokio::test]
async fn a_token_stands_in_one_header_and_nowhere_else() {
    let world = World::with_tokens("").await;
    let token = world.token(agent("ci"));
    let bearer = format!("Bearer {token}");
    for target in [
        format!("/mcp?access_token={token}"),
        format!("/mcp?a=b&%61ccess_token={token}"),
        format!("/mcp?TOKEN={token}"),
        format!("/approvals?access_token={token}"),
    ] {
        for headers in [&[][..], &[("authorization", bearer.as_str())]] {
            let answer = world.get(&target, headers).await;
            assert_eq!(answer.status, 400, "{target}: {answer:?}");
            assert!(!answer.body.contains(&token));
        }
    }
    let twice = world.get("/mcp", &[("authorization", &bearer), ("authorization", &bearer)]).await;
    assert_eq!(twice.status, 400);
    for header in [format!("Basic {token}"), token.clone(), "Bearer".to_owned(), format!("Bearer {token} {token}")] {
        assert_eq!(world.get("/mcp", &[("authorization", &header)]).await.status, 400, "{header}");
    }
    let long = "a".repeat(20_000);
    assert_eq!(world.call("/mcp", &long).await.status, 400);
    assert_eq!(world.get("/mcp", &[("authorization", &format!("bearer  {token}"))]).await.status, 200);
    // A cookie is for pages, not for calls.
    assert_eq!(world.get("/mcp", &[("cookie", &format!("lockgate_session={token}"))]).await.status, 401);
}

#[tokio::test]
async fn a_change_of_the_file_holds_at_once() {
    let world = World::with_tokens("").await;
    let path = world.path("tokens.toml");
    let token = world.token(agent("ci"));
    assert_eq!(world.call("/mcp", &token).await.status, 200);
    TokenFile::remove(&path, "ci").unwrap();
    assert_eq!(world.call("/mcp", &token).await.status, 401);
    let token = world.token(agent("ci"));
    assert_eq!(world.call("/mcp", &token).await.status, 200);

    // A broken file lets nobody in, also those whom it let in before.
    let whole = std::fs::read_to_string(&path).unwrap();
    for broken in
        ["[[token", &format!("{whole}\nnonsense = 1\n"), &format!("{whole}{}", &whole[whole.find("[[").unwrap()..])]
    {
        std::fs::write(&path, broken).unwrap();
        let answer = world.call("/mcp", &token).await;
        assert_eq!((answer.status, answer.body.as_str()), (503, "it cannot be known now who is calling\n"), "{broken}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(world.call("/mcp", &token).await.status, 200);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(world.call("/mcp", &token).await.status, 503);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_may_read_or_write_lets_nobody_in() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::with_tokens("").await;
    let path = world.path("tokens.toml");
    let token = world.token(agent("ci"));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is made for its owner alone");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(token.splitn(3, '_').nth(2).unwrap()), "no token stands in it: {text}");
    for mode in [0o640, 0o604, 0o602] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(world.call("/mcp", &token).await.status, 503, "{mode:o}");
        let refused = TokenFile::add(&path, agent("more")).unwrap_err();
        assert!(matches!(&refused, TokensError::File(_)), "{refused}");
        assert!(refused.hint().is_some_and(|hint| hint.starts_with("`chmod ")), "{refused:?}");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.call("/mcp", &token).await.status, 200);
}

#[tokio::test]
async fn a_tokens_time_ends() {
    let world = World::with_tokens("").await;
    let expires_at = Some(world.clock.now().after(Duration::from_mins(1)));
    let token = world.token(Token { expires_at, ..agent("ci") });
    assert_eq!(world.call("/mcp", &token).await.status, 200);
    world.clock.forward(Duration::from_secs(61));
    assert_eq!(world.call("/mcp", &token).await.status, 401);
}

#[tokio::test]
async fn scopes_that_everybody_needs_are_named_all_at_once() {
    let world = World::new("tokens_file = \"tokens.toml\"\nrequired_scopes = [\"mcp\", \"tickets\"]", "").await;
    let one = world.token(Token { scopes: ["mcp".to_owned()].into(), ..agent("one") });
    let both = world.token(Token { scopes: ["mcp".to_owned(), "tickets".to_owned()].into(), ..agent("both") });
    let answer = world.call("/mcp", &one).await;
    assert_eq!(answer.status, 403);
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"mcp tickets\"";
    assert_eq!(answer.header("www-authenticate"), Some(challenge));
    assert_eq!(world.call("/mcp", &both).await.status, 200);
}

#[tokio::test]
async fn what_decides_calls_nothing() {
    let world = World::with_tokens("").await;
    let token = world.token(person("bob-phone", "bob"));
    let answer = world.call("/mcp", &token).await;
    assert_eq!((answer.status, answer.body.as_str()), (403, "this credential decides: it calls nothing\n"));
}

#[tokio::test]
async fn without_a_credential_only_where_nothing_says_who_may_come_in() {
    let world = World::new("", "").await;
    let who = world.get("/mcp", &[]).await.json();
    assert_eq!(
        (who["subject"]["agent"].as_str(), who["credential"].as_str()),
        (Some("night-watch"), Some("anonymous"))
    );
    // A credential that is not good is not passed over.
    assert_eq!(world.call("/mcp", "lgt_ci_x").await.status, 401);
}

#[test]
fn others_reach_no_server_that_asks_nobody() {
    let (open, closed) = ("", "tokens_file = \"tokens.toml\"");
    let both = "anonymous = true\ntokens_file = \"tokens.toml\"";
    for (address, auth, may) in [
        ("127.0.0.1:8377", open, true),
        ("[::1]:8377", open, true),
        ("[::ffff:127.0.0.1]:8377", open, true),
        ("127.8.8.8:1", both, true),
        ("0.0.0.0:8377", open, false),
        ("[::]:8377", open, false),
        ("192.168.1.2:8377", both, false),
        ("0.0.0.0:8377", closed, true),
    ] {
        let checked = check_bind(address.parse().unwrap(), &toml::from_str(auth).unwrap());
        assert_eq!(checked.is_ok(), may, "{address} {auth}");
        if let Err(refused) = checked {
            let words = "callers need no credential here: the server does not listen there";
            assert_eq!(refused.to_string(), format!("others can reach `{address}`, and {words}"));
            assert!(refused.hint().contains("`127.0.0.1:8377`"));
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_found_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let table = toml::from_str("tokens_file = \"tokens.toml\"").unwrap();
    let journal = lockgate::assembly::open_journal("memory:").unwrap();
    let clock = std::sync::Arc::new(lockgate::host::clock::SystemClock);
    let subject = lockgate::contract::subject::Subject::default();
    let refused = lockgate_server::auth::Authenticator::new(&table, folder.path(), subject, journal, clock);
    let refused = refused.err().unwrap();
    assert!(matches!(&refused, AuthError::File(_)), "{refused}");
    assert!(refused.to_string().contains("tokens.toml` cannot be read"), "{refused}");
}

#[test]
fn what_cannot_be_meant_is_not_issued() {
    for (wrong, token) in [
        ("an id that is none", Token { id: "CI".to_owned(), ..agent("x") }),
        ("an id that is none", Token { id: "a_b".to_owned(), ..agent("x") }),
        ("no name", Token { user: " ".to_owned(), ..agent("x") }),
        ("no name", Token { user: "a\nb".to_owned(), ..agent("x") }),
        ("an agent decides nothing", Token { roles: ["sre".to_owned()].into(), ..agent("x") }),
        ("calls nothing", Token { scopes: ["a".to_owned()].into(), ..person("x", "bob") }),
    ] {
        let refused = Token::issue(token).err().unwrap().to_string();
        assert!(refused.contains(wrong), "{refused}");
    }
}
