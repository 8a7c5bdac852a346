use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn digest(version: u8) -> Digest {
    Digest::from_bytes([version; 32])
}

fn set(source: &str, tools: &[(&str, u8)]) -> AllowedTools {
    AllowedTools::new(source, tools.iter().map(|(name, version)| ((*name).to_owned(), digest(*version))))
}

#[test]
fn names_are_exact_and_sorted() {
    let allowed = set("subject:demo", &[("write", 1), ("read", 2)]);
    assert_eq!(allowed.source(), "subject:demo"); // R-144
    assert_eq!(allowed.names().collect::<Vec<_>>(), ["read", "write"]);
    assert_eq!(allowed.definition("read"), Some(digest(2)));
    assert!(allowed.permits("read")); // R-143
    for other in ["", "Read", "read ", "reads", "rea", "*", "read*"] {
        assert!(!allowed.permits(other), "{other}");
        assert_eq!(allowed.definition(other), None);
    }
}

#[test]
fn the_set_travels_whole() {
    let allowed = set("subject:demo", &[("write", 1), ("read", 2)]);
    let text = serde_json::to_string(&allowed).unwrap();
    assert_eq!(
        text,
        format!(r#"{{"source":"subject:demo","tools":{{"read":"{}","write":"{}"}}}}"#, digest(2), digest(1))
    );
    assert_eq!(serde_json::from_str::<AllowedTools>(&text).unwrap(), allowed);
    assert!(serde_json::from_str::<AllowedTools>(r#"{"source":"s","tools":{"read":"sha256:00"}}"#).is_err());
}

#[test]
fn an_intersection_names_both_sources() {
    let both =
        set("parent", &[("a", 1), ("b", 1), ("c", 1)]).intersection(&set("child", &[("b", 1), ("c", 2), ("d", 1)]));
    assert_eq!(both.source(), "parent ∩ child");
    // `c` is not one tool to the two of them.
    assert_eq!(both.names().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn pins_are_for_names_of_the_set_and_travel_with_it() {
    let pin = |name: &str, version: &str| (name.to_owned(), version.to_owned());
    let pinned = set("s", &[("a", 1), ("b", 1)]).pinned([pin("a", "1.0"), pin("z", "1.0")]);
    assert_eq!(["a", "b", "z"].map(|name| pinned.version(name)), [Some("1.0"), None, None]); // R-133
    let text = serde_json::to_string(&pinned).unwrap();
    assert!(text.ends_with(r#""versions":{"a":"1.0"}}"#), "{text}");
    assert_eq!(serde_json::from_str::<AllowedTools>(&text).unwrap(), pinned);
    // A child has the pins of both.
    let child = set("child", &[("a", 1), ("b", 1), ("c", 1)]).pinned([pin("b", "2"), pin("c", "2")]);
    for both in [pinned.intersection(&child), child.intersection(&pinned)] {
        assert_eq!(["a", "b", "c"].map(|name| both.version(name)), [Some("1.0"), Some("2"), None]);
    }
}

fn tools() -> impl Strategy<Value = BTreeMap<String, u8>> {
    prop::collection::btree_map("[a-e]", 0u8..3, 0..5)
}

proptest! {
    #[test]
    fn an_intersection_never_widens(one in tools(), other in tools()) {
        let set = |tools: &BTreeMap<String, u8>| {
            AllowedTools::new("s", tools.iter().map(|(name, version)| (name.clone(), digest(*version))))
        };
        let (one, other) = (set(&one), set(&other));
        let both = one.intersection(&other);
        for name in ["a", "b", "c", "d", "e"] {
            let shared = one.definition(name).filter(|definition| other.definition(name) == Some(*definition));
            prop_assert_eq!(both.definition(name), shared); // Z-25
        }
        let again = other.intersection(&one);
        prop_assert!(both.names().eq(again.names()));
        prop_assert!(one.intersection(&one).names().eq(one.names()));
    }
}
