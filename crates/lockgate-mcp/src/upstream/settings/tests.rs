use super::super::tests::settings;
use super::*;

fn subject(tenant: &str, user: &str) -> Subject {
    Subject { tenant: tenant.to_owned(), user: user.to_owned(), ..Subject::default() }
}

fn with_users() -> Settings {
    let mut settings = settings("hub");
    settings.place = Place::Address { url: "https://Hub.example.com/mcp".to_owned(), headers: BTreeMap::new() };
    settings.tokens.shared = Some(Secret::new("for-lists"));
    let of = |tenant: &str, user: &str| (tenant.to_owned(), user.to_owned());
    settings.tokens.by_user.insert(of("acme", "alice"), Secret::new("of-alice"));
    settings.tokens.by_user.insert(of("acme", "bob"), Secret::new("of-bob"));
    settings
}

// IBM/mcp-context-forge#1078: a call of one user ran with another user's token.
#[test]
fn nobody_acts_under_another_s_token() {
    let settings = with_users();
    let token = |tenant: &str, user: &str| {
        let identity = settings.identity(&subject(tenant, user))?;
        settings.token(&identity).map(|token| token.expose().to_owned())
    };
    assert_eq!(token("acme", "alice").as_deref(), Some("of-alice"));
    assert_eq!(token("acme", "bob").as_deref(), Some("of-bob"));
    for (tenant, user) in [("acme", "carol"), ("other", "alice"), ("", "alice"), ("acme", "Alice")] {
        assert_eq!(token(tenant, user), None, "{tenant}/{user}: no token at all, not anybody's");
    }
    let elsewhere = Identity::User {
        tenant: "acme".to_owned(),
        user: "alice".to_owned(),
        issuer: "https://other.example.com".to_owned(),
    };
    assert_eq!(settings.token(&elsewhere), None, "a token is for the server that it was made for");
}

#[test]
fn tokens_are_not_printed() {
    let text = format!("{:?}", with_users());
    assert!(!text.contains("of-alice") && !text.contains("for-lists"), "{text}");
}

// github/gh-aw#50772, punkpeye/mcp-remote#268: secrets stood in logs.
#[test]
fn what_a_server_was_given_is_not_told_again() {
    let mut settings = with_users();
    settings.tokens.shared = Some(Secret::new("s3cr3t-of-all"));
    let told =
        |settings: &Settings| settings.without_secrets("it ended: token s3cr3t-of-all in /usr/bin, en".to_owned());
    assert_eq!(told(&settings), "it ended: token [redacted] in /usr/bin, en");
    let variables = [("PATH", "/usr/bin"), ("TOKEN", "s3cr3t-of-all"), ("LANG", "en")];
    settings.tokens = Tokens::default();
    settings.place = Place::Program {
        command: vec!["server".to_owned()],
        environment: variables.map(|(name, value)| (name.to_owned(), Secret::new(value))).into(),
        folder: PathBuf::new(),
    };
    assert_eq!(told(&settings), "it ended: token [redacted] in /usr/bin, en");
}
