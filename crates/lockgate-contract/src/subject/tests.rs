use super::*;

#[test]
fn the_default_subject_is_granted_nothing_that_has_to_be_listed() {
    let subject = Subject::default();
    assert!(subject.scopes.is_empty()); // R-134
    assert!(subject.domains.is_empty()); // R-133
    assert!(subject.versions.is_empty());
}

#[test]
fn a_subject_travels_whole() {
    let subject = Subject {
        domains: ["support".to_owned()].into(),
        versions: [("create_ticket".to_owned(), "1.0".to_owned())].into(),
        ..Subject::default()
    };
    let text = serde_json::to_string(&subject).unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"tenant":"default","user":"local","agent":"agent","scopes":[],"domains":["support"],"level":"external","#,
            r#""versions":{"create_ticket":"1.0"}}"#
        )
    );
    assert_eq!(serde_json::from_str::<Subject>(&text).unwrap(), subject);
}

#[test]
fn the_every_domain_of_older_journals_is_read_as_none() {
    let old = r#"{"tenant":"default","user":"local","agent":"agent","scopes":[],"domains":null,"level":"external"}"#;
    assert_eq!(serde_json::from_str::<Subject>(old).unwrap(), Subject::default()); // R-133
    assert_eq!(serde_json::from_str::<Subject>("{}").unwrap(), Subject::default());
}
