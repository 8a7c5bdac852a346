use lockgate_contract::effect::Effect;
use lockgate_redact::{ScrubberBuilder, SecretValue};

use super::*;

fn live() -> Live {
    let mut builder = ScrubberBuilder::new();
    builder.secret("T", SecretValue::new("s3cr3t-t0k3n-value")).unwrap();
    Live {
        registry: Arc::new(Registry::default()),
        redactor: Arc::new(builder.build().unwrap()),
        #[cfg(feature = "cedar")]
        cedar: None,
        owned: BTreeMap::new(),
    }
}

fn tool(name: &str, description: &str) -> ToolSpec {
    let handler = lockgate_contract::tool::Handler::typed(|(): ()| async { Ok(()) });
    ToolSpec::builder(name).description(description).source("mcp:s").handler(handler).build().unwrap()
}

fn names(left_out: &[(String, String)]) -> Vec<&str> {
    left_out.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn only_a_server_s_own_tools_change() {
    let mut live = live();
    live.registry.register(tool("native", "not a server's")).unwrap();
    assert!(live.take("s", vec![tool("s__a", "1"), tool("s__b", "1")]).is_empty());
    assert!(live.take("t", vec![tool("t__a", "1")]).is_empty());
    let before = live.registry.get("s__b").unwrap().spec().definition();
    let left_out =
        live.take("s", vec![tool("s__b", "2"), tool("s__c", "1"), tool("native", "mine"), tool("t__a", "mine")]);
    assert_eq!(names(&left_out), ["native", "t__a"]);
    assert_eq!(live.registry.names(), ["native", "s__b", "s__c", "t__a"]);
    assert_ne!(live.registry.get("s__b").unwrap().spec().definition(), before);
    assert_eq!(live.registry.get("t__a").unwrap().spec().description(), "1");
    assert!(live.take("s", Vec::new()).is_empty());
    assert_eq!(live.registry.names(), ["native", "t__a"]);
}

#[test]
fn what_stays_the_same_leaves_no_trace() {
    let mut live = live();
    live.take("s", vec![tool("s__a", "1")]);
    let changes = live.registry.changes().len();
    for _ in 0..10 {
        live.take("s", vec![tool("s__a", "1")]);
    }
    assert_eq!(live.registry.changes().len(), changes);
}

#[test]
fn a_tool_that_shows_a_secret_is_left_out_and_so_is_its_older_self() {
    let mut live = live();
    live.take("s", vec![tool("s__a", "harmless"), tool("s__b", "harmless")]);
    let left_out = live.take("s", vec![tool("s__a", "use s3cr3t-t0k3n-value"), tool("s__b", "harmless")]);
    assert_eq!(names(&left_out), ["s__a"]);
    assert!(!left_out[0].1.contains("s3cr3t"), "{left_out:?}");
    assert_eq!(live.registry.names(), ["s__b"]);
}

#[test]
fn a_run_that_was_bound_to_the_older_definition_is_told() {
    let mut live = live();
    live.take("s", vec![tool("s__a", "1")]);
    let bound = live.registry.discover(&lockgate_contract::subject::Subject::default()).bind();
    live.take("s", vec![tool("s__a", "2")]);
    let error = live.registry.resolve("s__a", &bound.allowed).unwrap_err();
    assert_eq!(error.reason(), "definition_changed");
    assert_eq!(live.registry.get("s__a").unwrap().spec().effect(), Effect::External);
}

#[cfg(feature = "cedar")]
mod rules {
    use std::time::Duration;

    use lockgate_contract::ports::Clock;
    use lockgate_contract::time::Timestamp;
    use lockgate_policy::cedar::{RuleFile, Rules};

    use super::*;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::default()
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
    }

    fn with_path(name: &str, kind: &str) -> ToolSpec {
        let schema = format!(r#"{{"type":"object","properties":{{"path":{{"type":"{kind}"}}}}}}"#);
        let handler = lockgate_contract::tool::Handler::typed(|(): ()| async { Ok(()) });
        ToolSpec::builder(name).input_schema_text(schema).source("mcp:s").handler(handler).build().unwrap()
    }

    #[test]
    fn rules_are_in_force_for_a_tool_before_it_is_there() {
        let text = r#"
            @id("own-folder")
            permit (principal, action, resource) when { context.input has path && context.input.path like "/srv/*" };
        "#;
        let file = RuleFile { name: "own.cedar".to_owned(), text: text.to_owned() };
        let none: [&ToolSpec; 0] = [];
        let rules = Rules::load(none, &[file]).unwrap();
        let mut live = live();
        live.cedar = Some(Arc::new(CedarPolicy::new(rules, Arc::new(Noon))));
        let left_out = live
            .take("s", vec![with_path("s__a", "string"), with_path("s__b", "integer"), with_path("s__c", "string")]);
        assert_eq!(names(&left_out), ["s__b"], "{left_out:?}");
        assert_eq!(live.registry.names(), ["s__a", "s__c"]);
        let rules = live.cedar.as_ref().unwrap().rules();
        assert!(rules.schema().contains("s__a") && !rules.schema().contains("s__b"));
    }
}
