use super::super::tests::settings;

#[test]
fn a_single_server_s_uris_stay_as_they_are() {
    let mut settings = settings("files");
    settings.alone = true;
    assert_eq!(settings.shown_uri("file:///a"), "file:///a");
    assert_eq!(settings.raw_uri("lockgate:files:x"), Some("lockgate:files:x"));
}

#[test]
fn one_uri_of_two_servers_is_two() {
    let [mut one, mut other] = [settings("a"), settings("ab")];
    (one.alone, other.alone) = (false, false);
    for uri in ["file:///a", "b:x", "", "lockgate:a:x", "test://{id}/data"] {
        let shown = one.shown_uri(uri).into_owned();
        assert_eq!(one.raw_uri(&shown), Some(uri));
        assert_eq!(other.raw_uri(&shown), None, "{shown}");
        assert_ne!(other.shown_uri(uri), shown);
        assert_eq!(one.raw_uri(uri), uri.strip_prefix("lockgate:a:"), "what was not shown is reached by nobody");
    }
}
