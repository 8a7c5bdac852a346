//! Real `tools/list` answers of public MCP servers; see the README beside them.

use std::collections::BTreeMap;

use super::*;

const EVERYTHING: &str = include_str!("../../../../../testdata/mcp-tools/everything.json");
const FILESYSTEM: &str = include_str!("../../../../../testdata/mcp-tools/filesystem.json");
const GIT: &str = include_str!("../../../../../testdata/mcp-tools/git.json");
const PLAYWRIGHT: &str = include_str!("../../../../../testdata/mcp-tools/playwright.json");

/// How many schemas of an answer are admitted, and how many refused for each reason.
fn count(answer: &str, rules: UnknownFields) -> BTreeMap<&'static str, usize> {
    let answer = document(answer);
    let mut counts = BTreeMap::new();
    for tool in answer.root().get("tools").unwrap().elements() {
        for (key, role) in [("inputSchema", Role::Input), ("outputSchema", Role::Output)] {
            let Some(schema) = tool.get(key) else { continue };
            let admission = Schema::admit(&schema.to_document(), role, rules);
            let word = admission.map_or_else(|refused| refused.word(), |_| "admitted");
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn real_tools_register() {
    for rules in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        for (answer, schemas) in [(EVERYTHING, 14), (FILESYSTEM, 28), (GIT, 12), (PLAYWRIGHT, 25)] {
            assert_eq!(count(answer, rules), BTreeMap::from([("admitted", schemas)]));
        }
    }
}

#[test]
fn a_real_schema_is_enforced() {
    let answer = document(GIT);
    let tool = answer
        .root()
        .get("tools")
        .unwrap()
        .elements()
        .find(|tool| tool.get("name").unwrap().as_str().unwrap() == "git_log");
    let input = tool.unwrap().get("inputSchema").unwrap().to_document();
    let schema = Schema::admit(&input, Role::Input, UnknownFields::Refuse).unwrap();
    fits(&schema, r#"{"repo_path":"/r","max_count":3}"#);
    assert_eq!(breaks(&schema, r#"{"repo_path":"/r","max_count":"3"}"#), "type");
    assert_eq!(breaks(&schema, r#"{"max_count":3}"#), "required");
    assert_eq!(breaks(&schema, r#"{"repo_path":"/r","force":true}"#), "additionalProperties");
}
