//! Pins: a tool in one version or not at all.

use super::*;

#[test]
fn a_pinned_tool_is_seen_in_exactly_that_version() {
    for (pinned, version, visible) in [
        (pins([]), "1.0", true),
        (pins([("t", "1.0")]), "1.0", true),
        (pins([("t", "1.0")]), "1.1", false),
        (pins([("t", "1.1")]), "1.0", false),
        (pins([("t", "1")]), "1.0", false),
        (pins([("t", "1.0")]), "1.0 ", false),
        (pins([("t", "1.*")]), "1.0", false),
        (pins([("t", "")]), "1.0", false),
        (pins([("T", "2"), ("t*", "2"), ("other", "2")]), "1.0", true),
    ] {
        let subject = Subject { versions: pinned.clone(), ..alice() };
        assert_eq!(sees(&subject, tool("t").version(version)), visible, "{version} with {pinned:?}");
    }
    // A pin shows nobody what the subject may not see.
    let subject = Subject { versions: pins([("t", "1.0")]), ..alice() };
    assert!(!sees(&subject, tool("t").scopes(["admin"])));
}

#[test]
fn a_pinned_run_does_not_follow_a_replacement() {
    let pinned = Subject { versions: pins([("a", "1.0")]), ..alice() };
    for (rule, of_pinned, of_others) in [
        (ReplacementRule::Finish, "1.0", "1.0"),
        (ReplacementRule::Migrate, "definition_changed", "1.1"),
        (ReplacementRule::Stop, "definition_changed", "definition_changed"),
    ] {
        let registry = registry([tool("a"), tool("b")]);
        let [bound, unpinned] = [&pinned, &alice()].map(|subject| registry.discover(subject).bind().allowed);
        assert_eq!(bound.version("a"), Some("1.0"));
        registry.replace(tool("a").version("1.1").build().unwrap(), rule).unwrap();

        // What is bound from now on.
        assert_eq!(names(&registry.discover(&pinned)), ["b"], "{rule:?}");
        assert_eq!(names(&registry.discover(&alice())), ["a", "b"], "{rule:?}");
        // What was bound before: its version or a refusal, for the list and the call alike.
        let reaches = |allowed| match registry.resolve("a", allowed) {
            Ok(tool) => tool.spec().version().to_owned(),
            Err(error) => error.reason().to_owned(),
        };
        assert_eq!((reaches(&bound).as_str(), reaches(&unpinned).as_str()), (of_pinned, of_others), "{rule:?}");
        let shown = registry.definitions(&bound).iter().any(|definition| definition.name == "a");
        assert_eq!(shown, of_pinned == "1.0", "{rule:?}");

        // Back in the old version, it is seen again.
        registry.replace(tool("a").build().unwrap(), ReplacementRule::Migrate).unwrap();
        assert_eq!(names(&registry.discover(&pinned)), ["a", "b"], "{rule:?}");
    }
}
