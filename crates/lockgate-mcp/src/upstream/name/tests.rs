use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn tool(server: &str, raw: &str) -> String {
    name_of(server, server, NameOf::Tool, raw)
}

#[test]
fn a_name_that_fits_stays_as_it_is() {
    assert_eq!(tool("git", "git_log"), "git__git_log");
    assert_eq!(tool("s1", "a__b"), "s1__a__b");
    assert_eq!(name_of("", "git", NameOf::Tool, "git_log"), "git_log");
    assert_eq!(name_of("g", "git", NameOf::Tool, "git_log"), "g__git_log");
}

// anthropics/claude-code#19882: one name over 64 characters broke the whole session.
#[test]
fn a_name_that_does_not_fit_ends_in_digits_of_a_digest() {
    for raw in
        ["admin.tools.list", "user-profile/update", "日本語", &"a".repeat(200), "", " ", "a\nb", "x_0123456789abcdef"]
    {
        let name = tool("github-enterprise-production-eu", raw);
        assert!(name.len() <= LONGEST && name.bytes().all(is_plain), "{raw}: {name}");
        assert!(looks_hashed(&name), "{raw}: {name}");
        assert_eq!(name, tool("github-enterprise-production-eu", raw), "a pure function");
    }
}

#[test]
fn what_is_beside_the_tools_is_no_tool_s_name() {
    for raw in ["resources-read", "resources/read", "a"] {
        let beside = name_of("s", "s", NameOf::Beside, raw);
        assert_ne!(beside, tool("s", raw));
        // A server that gives a tool this very name gets another one.
        assert_ne!(tool("s", beside.strip_prefix("s__").unwrap()), beside);
    }
}

/// Names that are close to each other, and to what they are turned into.
fn raw_names() -> impl Strategy<Value = String> {
    let tricky = prop_oneof![
        Just("_".to_owned()),
        Just("__".to_owned()),
        Just(".".to_owned()),
        Just("a".to_owned()),
        Just("語".to_owned()),
        Just("0123456789abcdef".to_owned()),
        "[a-c_./]{0,3}",
    ];
    let built = proptest::collection::vec(tricky, 0..6).prop_map(|parts| parts.concat());
    let long = (built.clone(), 0..80usize).prop_map(|(text, more)| format!("{}{text}", "a".repeat(more)));
    prop_oneof![built, long, any::<String>()]
}

proptest! {
    /// Each name is one that providers take, and no two tools of any two servers share one.
    #[test]
    fn no_two_share_a_name(
        servers in proptest::collection::btree_set("[ab_-]{1,4}", 1..5),
        raws in proptest::collection::btree_set(raw_names(), 1..8),
    ) {
        let mut taken = BTreeMap::new();
        for server in &servers {
            for raw in &raws {
                // The last as a server would call a tool that wants another's name.
                for (of, raw) in [(NameOf::Tool, raw.clone()), (NameOf::Beside, raw.clone()), (NameOf::Tool, tool("a", raw))] {
                    let name = name_of(server, server, of, &raw);
                    prop_assert!(name.len() <= LONGEST && name.bytes().all(is_plain), "{name}");
                    let owner = (server.clone(), raw, of == NameOf::Tool);
                    let before = taken.insert(name.clone(), owner.clone());
                    prop_assert!(before.is_none() || before == Some(owner), "{name}");
                }
            }
        }
    }
}
