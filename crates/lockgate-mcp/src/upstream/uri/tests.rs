use super::super::tests::{document, settings};

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

#[test]
fn the_resources_of_a_result_are_named_as_they_are_listed() {
    let mut one = settings("a");
    one.alone = false;
    for (raw, shown) in [
        (
            r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a","x":1.50},{"type":"text","text":"file:///a"}],"y":1e2}"#,
            r#"{"content":[{"type":"resource_link","uri":"lockgate:a:file:///a","name":"a","x":1.50},{"type":"text","text":"file:///a"}],"y":1e2}"#,
        ),
        (
            r#"{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"t"}}],"isError":true,"structuredContent":{"uri":"file:///a"}}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"lockgate:a:file:///a","text":"t"}}],"isError":true,"structuredContent":{"uri":"file:///a"}}"#,
        ),
        (
            r#"{"contents":[{"uri":"file:///a","text":""},{"uri":"file:///b","blob":""}]}"#,
            r#"{"contents":[{"uri":"lockgate:a:file:///a","text":""},{"uri":"lockgate:a:file:///b","blob":""}]}"#,
        ),
        (
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"file:///a"}}},{"role":"user","content":[{"type":"resource_link","uri":"u"}]}]}"#,
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"lockgate:a:file:///a"}}},{"role":"user","content":[{"type":"resource_link","uri":"lockgate:a:u"}]}]}"#,
        ),
    ] {
        assert_eq!(one.shown_result(&document(raw)).text(), shown);
    }
    // What names no resource, or not as one does, keeps its text.
    for same in [
        r#"{ "content" : [ {"type":"text","text":"a"} ] }"#,
        r#"{ "content" : "a", "contents" : {}, "messages" : [1] }"#,
        r#"{ "content" : [{"type":"resource"},{"type":"resource_link","uri":1},{"type":3},null] }"#,
        "[]",
    ] {
        assert_eq!(one.shown_result(&document(same)).text(), same);
    }
    one.alone = true;
    let link = r#"{ "content": [{"type":"resource_link","uri":"file:///a"}] }"#;
    assert_eq!(one.shown_result(&document(link)).text(), link);
}
