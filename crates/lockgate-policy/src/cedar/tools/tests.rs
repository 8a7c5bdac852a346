use crate::cedar::tests::tool;
use crate::cedar::{RuleFile, Rules};

#[test]
fn any_name_can_be_an_action_and_an_attribute() {
    let names = ["read", "a \"b\" \\ c", "é\u{301}", "Tool::Action::\"x\"", "a.b/c-d"];
    let tools: Vec<_> = names
        .iter()
        .map(|name| {
            let key = serde_json::to_string(name).unwrap();
            tool(name)
                .input_schema_text(format!(r#"{{"type":"object","properties":{{{key}:{{"type":"string"}}}}}}"#))
                .build()
                .unwrap()
        })
        .collect();
    let rules = Rules::load(&tools, &[]).unwrap();
    for action in
        [r#"action "read" in [Effect::Action::"external"]"#, r#"action "a \"b\" \\ c" in"#, r#"action "e\u{301}" in"#]
    {
        let action = action.replace("e\\u{301}", "é\\u{301}");
        assert!(rules.schema().contains(&action), "{action}\n{}", rules.schema());
    }
}

#[test]
fn two_tools_are_never_one_resource() {
    let tools = [tool("a@1").version("2").build().unwrap(), tool("a").version("1@2").build().unwrap()];
    let refused = Rules::load(&tools, &[]).unwrap_err().to_string();
    assert_eq!(refused, "`the generated schema`: the tools `a` and `a@1` are one resource: Tool::\"a@1@2\"");
}

#[test]
fn what_is_left_out_is_named_and_cannot_be_read() {
    let spec = tool("send")
        .input_schema_text(r#"{"type":"object","properties":{"to":{"type":"string"},"body":{}}}"#)
        .build()
        .unwrap();
    let text = r#"permit (principal, action == Tool::Action::"send", resource) when { context.input has body };"#;
    let loaded = Rules::load([&spec], &[RuleFile { name: "x.cedar".to_owned(), text: text.to_owned() }]);
    let text = r#"permit (principal, action == Tool::Action::"send", resource) when { context.input.body == "x" };"#;
    let refused = Rules::load([&spec], &[RuleFile { name: "x.cedar".to_owned(), text: text.to_owned() }]).unwrap_err();
    assert!(refused.to_string().contains("`x.cedar`, line 1: "), "{refused}");
    let schema = Rules::load([&spec], &[]).unwrap().schema().to_owned();
    assert!(schema.contains("// not in its input: `body` (it may be anything)\n"), "{schema}");
    // A rule that can never hold loads with a warning, or not at all.
    assert!(loaded.map_or(true, |rules| !rules.warnings().is_empty()));
}
