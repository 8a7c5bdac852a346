//! Whoever brings a person to an issuer, and back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::world::{Headless, World, owner, token, visited};
use crate::oauth::{Authorizer, Loopback, OAuthError, Parts, Settings, UserAgent, Visits};

async fn with(world: &World, user: &str, agent: Arc<dyn UserAgent>) -> Authorizer {
    Authorizer::open(Parts { agent: Some(agent), ..world.parts(user, Settings::default()) }).await.unwrap()
}

/// A login at this machine's port, by a browser that first goes astray.
async fn loopback(patience: Duration) -> Loopback {
    let browse = |url: &str| {
        let url = url.to_owned();
        tokio::spawn(async move {
            let back = reqwest::Url::parse(&url).unwrap();
            let back = back.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
            let query = visited(&url).await;
            for (path, status) in [
                (back.replace("/oauth/callback", "/favicon.ico"), 404),
                (format!("{back}?state=guessed&code=evil"), 400),
                (format!("{back}?{query}"), 200),
            ] {
                let path = reqwest::Url::parse(&path).unwrap();
                let client = lockgate_host::http::client(&path, Duration::from_secs(5)).unwrap();
                let answer = client.get(path).send().await.unwrap();
                assert_eq!(answer.status(), status);
                assert!(!answer.text().await.unwrap().contains("evil"));
            }
        });
    };
    Loopback::bind(browse, patience).await.unwrap()
}

/// What every agent keeps to: the person comes back with what the issuer gave, and there is a token then and not before.
#[tokio::test]
async fn every_agent_comes_to_a_token() {
    let minute = Duration::from_mins(1);
    let world = World::start(|_| {}).await;
    let visits = Arc::new(Visits::new("http://127.0.0.1:9/oauth/callback", world.clock.clone()));
    let agents: [Arc<dyn UserAgent>; 3] = [Arc::new(Headless), Arc::new(loopback(minute).await), visits.clone()];
    for (number, agent) in agents.into_iter().enumerate() {
        let user = format!("user-{number}");
        let authorizer = with(&world, &user, agent.clone()).await;
        match authorizer.challenged(Some("Bearer")).await {
            Ok(()) => {}
            Err(OAuthError::AuthorizationNeeded { url }) => {
                assert_eq!(token(&authorizer), None);
                visits.finish(&visited(&url).await, &owner(&user)).await.unwrap();
            }
            Err(error) => panic!("{error}"),
        }
        assert_eq!(token(&authorizer), Some(format!("token-{}", number + 1)));
        let login = world.issuer.asked("/authorize")[number].fields();
        assert_eq!(login["redirect_uri"], agent.redirect_uri());
    }
}

#[tokio::test]
async fn nobody_at_the_browser_comes_to_an_end() {
    let world = World::start(|_| {}).await;
    let shown = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&shown);
    let show = move |url: &str| log.lock().unwrap().push(url.to_owned());
    let agent = Loopback::bind(show, Duration::from_millis(50)).await.unwrap();
    let authorizer = with(&world, "ann", Arc::new(agent)).await;
    assert_eq!(authorizer.challenged(Some("Bearer")).await, Err(OAuthError::TimedOut(0)));
    let shown = shown.lock().unwrap();
    assert!(shown.len() == 1 && shown[0].starts_with(&world.issuer.url), "{shown:?}");
    // The URL was shown, and visited by nobody.
    assert!(world.issuer.asked("/authorize").is_empty());
}

#[tokio::test]
async fn a_login_is_finished_once_by_whoever_began_it_and_in_time() {
    let world = World::start(|_| {}).await;
    let visits = Arc::new(Visits::new("http://127.0.0.1:9/oauth/callback", world.clock.clone()));
    let authorizer = with(&world, "ann", visits.clone()).await;
    let begin = || async {
        let Err(OAuthError::AuthorizationNeeded { url }) = authorizer.challenged(Some("Bearer")).await else {
            panic!()
        };
        url
    };
    let url = begin().await;
    // Who asks again is shown the same page.
    assert_eq!(begin().await, url);
    let query = visited(&url).await;
    // Ann could have Bob log in for her: the login is hers to finish.
    for visitor in [owner("bob"), owner(""), crate::oauth::Owner { tenant: "other".to_owned(), user: "ann".to_owned() }]
    {
        assert_eq!(visits.finish(&query, &visitor).await, Err(OAuthError::UnknownState));
    }
    for nonsense in ["", "state=", "state=guessed&code=x", "code=x"] {
        assert_eq!(visits.finish(nonsense, &owner("ann")).await, Err(OAuthError::UnknownState));
    }
    assert!(world.issuer.asked("/token").is_empty());
    visits.finish(&query, &owner("ann")).await.unwrap();
    assert_eq!(visits.finish(&query, &owner("ann")).await, Err(OAuthError::UnknownState));
    assert_eq!(token(&authorizer).as_deref(), Some("token-1"));

    authorizer.forget().await.unwrap();
    let query = visited(&begin().await).await;
    world.clock.pass(601);
    assert_eq!(visits.finish(&query, &owner("ann")).await, Err(OAuthError::UnknownState));
    assert_eq!(token(&authorizer), None);
}
