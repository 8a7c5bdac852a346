use super::super::tests::Kept;
use super::super::tests::{Fake, document, settings};
use super::*;

/// The tools that a server with these settings has, from one entry.
async fn offered(settings: Settings, entry: &str) -> Arc<Kept> {
    let fake = Fake::with_tools(&[]);
    fake.set_tools(vec![document(entry)]);
    let (upstreams, kept) = super::super::tests::upstreams_of(vec![(settings, &fake)]);
    upstreams.settled().await;
    kept
}

// IBM/mcp-context-forge#1258, mcp-hangar#880, maximhq/bifrost#2373, wso2/carbon-apimgt#13901: gateways dropped `outputSchema`,
// annotations and `_meta`.
#[tokio::test]
async fn nothing_of_an_entry_is_lost() {
    let entry = r#"{"name":"a","title":"A","description":"","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-unknown":1.50e2}}},
        "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"T"},"icons":[{"src":"x"}],"_meta":{"a/b":1},"execution":{"taskSupport":"optional"},"future":[1]}"#;
    let kept = offered(settings("s"), entry).await;
    let entry = document(entry);
    kept.with("s__a", |spec| {
        let mut whole = Edit::of(spec.shown_beside().unwrap().root())
            .with("name", Document::string("a"))
            .with("inputSchema", spec.input_schema().clone())
            .with("outputSchema", spec.output_schema().unwrap().clone());
        if !spec.description().is_empty() {
            whole = whole.with("description", Document::string(spec.description()));
        }
        assert!(whole.document().same_value(&entry), "{}", whole.document());
        assert_eq!(spec.output_form(), OutputForm::Content);
        assert_eq!(spec.source(), "mcp:s");
    });
}

fn facts(kept: &Kept) -> (Effect, Permission, ReplayPolicy) {
    kept.facts("s__a")
}

fn entry(annotations: &str) -> String {
    format!(r#"{{"name":"a","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#)
}

#[tokio::test]
async fn annotations_never_make_a_tool_freer() {
    let harmless =
        entry(r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#);
    let kept = offered(settings("s"), &harmless).await;
    assert_eq!(facts(&kept), (Effect::External, Permission::Ask, ReplayPolicy::Never));
}

#[tokio::test]
async fn annotations_make_stricter_what_was_said_of_all_tools_at_once() {
    let mut all = settings("s");
    all.rules.effect = Some(Effect::Read);
    all.rules.permission = Some(Permission::Allow);
    let read = (Effect::Read, Permission::Allow, ReplayPolicy::Safe);
    for (annotations, expected) in [
        ("{}", read),
        (r#"{"readOnlyHint":true,"destructiveHint":true}"#, read),
        (r#"{"readOnlyHint":"false","destructiveHint":null}"#, read),
        (r#"{"readOnlyHint":false}"#, (Effect::External, Permission::Allow, ReplayPolicy::Never)),
        (r#"{"destructiveHint":true}"#, (Effect::External, Permission::Ask, ReplayPolicy::Never)),
    ] {
        assert_eq!(facts(&*offered(all.clone(), &entry(annotations)).await), expected, "{annotations}");
    }
    // What is said of this very tool stands.
    let own = Rules { effect: Some(Effect::Read), ..Rules::default() };
    all.tools.insert("a".to_owned(), own);
    assert_eq!(facts(&*offered(all, &entry(r#"{"destructiveHint":true}"#)).await), read);
}

#[tokio::test]
async fn what_recognises_keys_may_be_repeated_unless_it_says_no() {
    let mut keyed = settings("s");
    keyed.key = KeyGoes::Argument("request_id".to_owned());
    keyed.rules.replay = Some(ReplayPolicy::Safe);
    let (_, _, replay) = facts(&*offered(keyed.clone(), &entry("{}")).await);
    assert_eq!(replay, ReplayPolicy::Safe);
    let (_, _, replay) = facts(&*offered(keyed, &entry(r#"{"idempotentHint":false}"#)).await);
    assert_eq!(replay, ReplayPolicy::Never);
}

#[tokio::test]
async fn hidden_tools_are_not_there() {
    let mut some = settings("s");
    some.allow = Some(vec!["read_*".to_owned(), "a.b".to_owned()]);
    some.hide = vec!["*_secret".to_owned()];
    for (name, there) in
        [("read_it", true), ("a.b", true), ("axb", false), ("read_secret", false), ("read_", true), ("re", false)]
    {
        assert_eq!(some.offers(name, fits), there, "{name}");
    }
}
