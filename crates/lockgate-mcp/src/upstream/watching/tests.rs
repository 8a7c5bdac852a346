use std::time::Duration;

use super::super::tests::{Fake, document, settings, subject, upstreams_of};
use super::super::{Secret, Settings, Upstreams};
use super::*;
use crate::client::Event;

const URI: &str = "file:///a";

/// A server, of which users have tokens of their own where that is asked for.
fn one(is_personal: bool) -> Settings {
    let mut one = settings("s");
    if is_personal {
        for user in ["anna", "ben"] {
            one.tokens.by_user.insert(("acme".to_owned(), user.to_owned()), Secret::new(format!("{user}:")));
        }
    }
    one
}

async fn server(settings: Settings, fake: &Arc<Fake>) -> Upstreams {
    let (upstreams, _) = upstreams_of(vec![(settings, fake)]);
    upstreams.settled().await;
    upstreams
}

/// Somebody listens to the resource, as the gate lets it.
async fn listens(upstreams: &Upstreams, user: &str) -> Watching {
    let (upstream, subject) = (upstreams.get("s").unwrap(), subject("acme", user));
    let watching = upstream.listens(&subject, URI).unwrap();
    assert!(upstream.watch(&subject, URI).await.is_ok());
    watching
}

/// What the server was told, once nothing more is under way.
async fn told(fake: &Fake) -> String {
    tokio::time::sleep(Duration::from_millis(1)).await;
    fake.watched.lock().unwrap().join(" ")
}

// One client that left ended the subscriptions of all others on the connection that they share.
#[tokio::test(start_paused = true)]
async fn a_resource_is_watched_from_the_first_who_listens_to_the_last() {
    let fake = Fake::with_tools(&[]);
    let upstreams = server(one(false), &fake).await;
    let first = listens(&upstreams, "anna").await;
    let second = listens(&upstreams, "ben").await;
    assert_eq!(told(&fake).await, "+file:///a", "once for both");
    drop(first);
    assert_eq!(told(&fake).await, "+file:///a", "the other one still listens");
    drop(second);
    assert_eq!(told(&fake).await, "+file:///a -file:///a");
    let again = listens(&upstreams, "anna").await;
    assert_eq!(told(&fake).await, "+file:///a -file:///a +file:///a");
    // Somebody comes as the last one leaves.
    drop(again);
    let _later = listens(&upstreams, "ben").await;
    assert!(told(&fake).await.ends_with("+file:///a"), "whatever came between");
}

#[tokio::test(start_paused = true)]
async fn whoever_is_not_let_listen_leaves_nothing_behind() {
    let fake = Fake::with_tools(&[]);
    let upstreams = server(one(false), &fake).await;
    let (upstream, anna) = (upstreams.get("s").unwrap(), subject("acme", "anna"));
    drop(upstream.listens(&anna, URI).unwrap());
    let refused = upstream.listens(&anna, "file:///secret").unwrap();
    assert!(matches!(upstream.watch(&anna, "file:///secret").await, Err(NotWatched::Refused(_))));
    drop(refused);
    assert!(upstream.watch(&anna, URI).await.is_ok(), "nobody listens");
    assert_eq!(told(&fake).await, "");
    assert!(!upstream.is_listened_to(&Identity::Shared));
    // Nor is it watched once the server was started anew.
    let _waits = upstream.listens(&anna, URI).unwrap();
    fake.loses_all("it exited");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(told(&fake).await, "");
}

// After a new start of the server nobody was told of anything.
#[tokio::test(start_paused = true)]
async fn what_is_watched_is_watched_again_on_another_connection_and_may_have_changed() {
    for (is_personal, expected) in [(false, "+file:///a +file:///a"), (true, "+anna:file:///a +anna:file:///a")] {
        let fake = Fake::with_tools(&[]);
        let upstreams = server(one(is_personal), &fake).await;
        let listening = listens(&upstreams, "anna").await;
        let mut said = upstreams.said();
        fake.loses_all("it exited");
        let Said::Resource { server, identity, params } = said.recv().await.unwrap() else { panic!("something else") };
        assert_eq!((server.as_str(), params.text()), ("s", r#"{"uri":"file:///a"}"#));
        assert_eq!(identity != Identity::Shared, is_personal);
        assert_eq!(told(&fake).await, expected);
        // As it is configured now, too.
        let mut other = one(is_personal);
        other.timeout = Duration::from_secs(31);
        upstreams.set(vec![other]);
        let _changed = said.recv().await.unwrap();
        assert_eq!(told(&fake).await.matches('+').count(), 3);
        drop(listening);
        assert!(told(&fake).await.ends_with("-anna:file:///a") || !is_personal);
        assert_eq!(told(&fake).await.matches('-').count(), 1);
    }
}

// Two users have a resource of the same name, each on an account of its own.
#[tokio::test(start_paused = true)]
async fn each_user_listens_through_a_connection_of_its_own() {
    let fake = Fake::with_tools(&[]);
    let upstreams = server(one(true), &fake).await;
    let anna = listens(&upstreams, "anna").await;
    let _ben = listens(&upstreams, "ben").await;
    assert!(upstreams.get("s").unwrap().listens(&subject("acme", "carol"), URI).is_none(), "she has no token");
    assert_eq!(told(&fake).await, "+anna:file:///a +ben:file:///a");
    drop(anna);
    assert!(told(&fake).await.ends_with(" -anna:file:///a"));
    let mut said = upstreams.said();
    let meta = r#"{"uri":"file:///a","_meta":{"io.modelcontextprotocol/subscriptionId":7,"a/b":1}}"#;
    fake.says(&Event::ResourceUpdated(document(meta)));
    let mut heard = Vec::new();
    for _ in 0..3 {
        let Said::Resource { identity, params, .. } = said.recv().await.unwrap() else { panic!("something else") };
        assert_eq!(params.text(), r#"{"uri":"file:///a","_meta":{"a/b":1}}"#, "the hop is none of a client's matters");
        heard.push(match identity {
            Identity::Shared => String::new(),
            Identity::User { user, .. } => user,
        });
    }
    heard.sort();
    assert_eq!(heard, ["", "anna", "ben"], "each says whose it is");
}
