use proptest::{prop_assert_eq, proptest};

use super::Challenge;
use crate::oauth::scope;

#[test]
fn the_bearer_challenge_is_found_among_others() {
    let header = r#"Basic realm="a, Bearer scope=\"no\"", Bearer realm="x", resource_metadata="https://a.example/b?c=d,e", scope="one two", error=insufficient_scope, Digest scope="three""#;
    let challenge = Challenge::read(Some(header));
    assert_eq!(challenge.resource_metadata.as_deref(), Some("https://a.example/b?c=d,e"));
    assert_eq!(challenge.scopes, Some(scope::read("one two")));
    assert!(challenge.wants_more());
}

#[test]
fn scheme_and_names_are_read_whatever_their_case_and_spaces() {
    let challenge = Challenge::read(Some("bearer Resource_Metadata = \"https://a.example/\" ,SCOPE=one"));
    assert_eq!(challenge.resource_metadata.as_deref(), Some("https://a.example/"));
    assert_eq!(challenge.scopes, Some(scope::read("one")));
    assert!(!challenge.wants_more());
}

#[test]
fn what_cannot_be_read_says_nothing() {
    for header in [
        "",
        "Bearer",
        "Basic abc==",
        "Bearer \"",
        "=",
        "Bearer scope=\"",
        "Bearer scope=\"\"",
        "Bearer =,=",
        "Bearer \u{e9}=1",
    ] {
        assert_eq!(Challenge::read(Some(header)), Challenge::default(), "{header}");
    }
    assert_eq!(Challenge::read(None), Challenge::default());
    let endless = format!("Bearer scope=\"{}\"", "a ".repeat(20_000));
    assert_eq!(Challenge::read(Some(&endless)), Challenge::default());
}

proptest! {
    #[test]
    fn whatever_a_server_sends_comes_to_an_end(header in "(Bearer )?([ -~]|\\PC|[\",=\\\\]){0,80}") {
        Challenge::read(Some(&header));
    }

    #[test]
    fn what_is_quoted_comes_back(place in "\\PC{0,40}", before in "(Basic [a-z]{1,8}==, )?(DPoP algs=\"ES256 RS256\", )?") {
        let quoted = place.replace('\\', "\\\\").replace('"', "\\\"");
        let header = format!("{before}Bearer error=\"x\", resource_metadata=\"{quoted}\", scope=one");
        let challenge = Challenge::read(Some(&header));
        prop_assert_eq!(challenge.resource_metadata, Some(place));
        prop_assert_eq!(challenge.scopes, Some(scope::read("one")));
    }
}
