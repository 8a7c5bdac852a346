use super::*;

#[test]
fn sensitive_names_are_found_in_every_spelling() {
    for (name, kind) in [
        ("password", KeyKind::Password),
        ("Password", KeyKind::Password),
        ("DB_PASSWORD", KeyKind::Password),
        ("spring.datasource.password", KeyKind::Password),
        ("userPassword2", KeyKind::Password),
        ("SMTP_PASS", KeyKind::Password),
        ("MYSQL_PWD", KeyKind::Password),
        ("passphrase", KeyKind::Password),
        ("secret", KeyKind::Secret),
        ("client_secret", KeyKind::Secret),
        ("clientSecret", KeyKind::Secret),
        ("client-secret", KeyKind::Secret),
        ("clientsecret", KeyKind::Secret),
        ("token", KeyKind::Token),
        ("access_token", KeyKind::Token),
        ("accessToken", KeyKind::Token),
        ("refresh-token", KeyKind::Token),
        ("X-Auth-Token", KeyKind::Token),
        ("GITHUB_TOKEN", KeyKind::Token),
        ("ACME_TOKEN", KeyKind::Token),
        ("api_key", KeyKind::Key),
        ("apikey", KeyKind::Key),
        ("apiKey", KeyKind::Key),
        ("APIKey", KeyKind::Key),
        ("X-API-KEY", KeyKind::Key),
        ("OPENAI_API_KEY", KeyKind::Key),
        ("API_KEY_2", KeyKind::Key),
        ("AWS Secret Access Key", KeyKind::Key),
        ("private_key", KeyKind::Key),
        ("privatekey", KeyKind::Key),
        ("aws_secret_access_key", KeyKind::Key),
        ("Authorization", KeyKind::Authorization),
        ("proxy-authorization", KeyKind::Authorization),
        ("HTTP_AUTHORIZATION", KeyKind::Authorization),
        ("cookie", KeyKind::Cookie),
        ("Set-Cookie", KeyKind::Cookie),
        ("setCookie", KeyKind::Cookie),
    ] {
        assert_eq!(classify(name), Some(kind), "{name}");
        assert!(STEMS.iter().any(|stem| name.contains(stem)), "no stem in {name}");
    }
}

#[test]
fn harmless_names_stay_harmless() {
    for name in [
        "",
        "-",
        "token_count",
        "tokens",
        "max_tokens",
        "maxTokens",
        "next_page_token",
        "nextPageToken",
        "page_token",
        "NEXT_PAGE_TOKEN",
        "NextToken",
        "NEXT_TOKEN",
        "continuation_token",
        "sync_token",
        "progressToken",
        "idempotency_token",
        "eos_token",
        "token_type",
        "token_url",
        "secretary",
        "secret_name",
        "secretName",
        "imagePullSecret",
        "passed",
        "bypass",
        "passenger",
        "compass",
        "has_password",
        "forgot_password",
        "password_policy",
        "passwordless",
        "key",
        "primary_key",
        "public_key",
        "sort-key",
        "monkey",
        "keyboard",
        "cookies",
        "cookie_policy",
        "accept_cookie",
        "OLDPWD",
        "authorization_url",
        "author",
        "пароль",
        "what the peers do without a secret",
    ] {
        assert_eq!(classify(name), None, "{name}");
    }
}

#[test]
fn very_long_names_are_judged_by_their_end() {
    let many_words = format!("{}_db_password", "a_b".repeat(60));
    assert_eq!(classify(&many_words), Some(KeyKind::Password));
    let many_humps = format!("{}ApiKey", "Ab".repeat(60));
    assert_eq!(classify(&many_humps), Some(KeyKind::Key));
    assert_eq!(classify(&format!("password{}", "x".repeat(200))), None);
}
