use super::AuthTable;

const ISSUER: &str =
    "issuer = \"https://id.example.com\"\njwks_file = \"keys.json\"\nalgorithms = [\"ES256\"]\ntenant = \"demo\"\n";

fn read(text: &str) -> AuthTable {
    toml::from_str(text).unwrap()
}

#[test]
fn nobody_is_asked_for_a_credential_only_where_nothing_says_who_may_come_in() {
    assert!(AuthTable::default().is_anonymous());
    assert!(!read("tokens_file = \"tokens.toml\"").is_anonymous());
    assert!(!read("run_key_file = \"run.key\"").is_anonymous());
    assert!(read("anonymous = true\ntokens_file = \"tokens.toml\"").is_anonymous());
    let closed = read("anonymous = false");
    assert!(!closed.is_anonymous());
    assert_eq!(closed.wrong().unwrap(), "`auth.anonymous` is false, and nothing else in `auth` says who may come in");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let resource = "resource = \"https://gate.example.com/mcp\"\n";
    let whole = format!("{resource}[[issuer]]\n{ISSUER}");
    assert_eq!(read(&whole).wrong(), None);
    for (text, wrong) in [
        (format!("[[issuer]]\n{ISSUER}"), "needs `auth.resource`"),
        (format!("{whole}jwks_url = \"https://id.example.com/keys\""), "needs one of `jwks_url` and `jwks_file`"),
        (format!("{whole}tenant_claim = \"tid\""), "needs one of `tenant` and `tenant_claim`"),
        (whole.replace("[\"ES256\"]", "[]"), "has no `algorithms`"),
        (format!("{whole}leeway = \"6m\""), "more than `5m`"),
        (format!("{whole}roles_claim = \"roles\""), "nobody of it decides"),
        (format!("{whole}approve_scope = \"a b\""), "is no scope"),
        (format!("{whole}[[issuer]]\n{ISSUER}"), "twice"),
        ("required_scopes = [\"a\\\"b\"]".to_owned(), "which is no scope"),
        ("resource = \"https://gate.example.com/?a\"".to_owned(), "`auth.resource` is"),
        ("resource = \"https://gate\\r\\nx: y\"".to_owned(), "`auth.resource` is"),
        ("session = \"0s\"".to_owned(), "`auth.session` is zero"),
    ] {
        let found = read(&text).wrong().unwrap_or_default();
        assert!(found.contains(wrong), "{text}\n{found}");
    }
}

#[test]
fn a_signature_that_two_can_make_is_no_algorithm() {
    for word in ["HS256", "none", "rs256", "RS1"] {
        let text = format!("[[issuer]]\n{}", ISSUER.replace("ES256", word));
        assert!(toml::from_str::<AuthTable>(&text).is_err(), "{word}");
    }
}
