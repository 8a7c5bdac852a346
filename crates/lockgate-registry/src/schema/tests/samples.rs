//! Real `tools/list` answers of public MCP servers; see the README beside them.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

/// Schemas admitted, and refusals by reason.
fn count(file: &str, rules: UnknownFields) -> BTreeMap<String, usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/mcp-tools")
        .join(file);
    let answer = document(&std::fs::read_to_string(path).unwrap());
    let mut counts = BTreeMap::new();
    for tool in answer.root().get("tools").unwrap().elements() {
        for (key, role) in [("inputSchema", Role::Input), ("outputSchema", Role::Output)] {
            let Some(schema) = tool.get(key) else { continue };
            let word = match Schema::admit(&schema.to_document(), role, rules) {
                Ok(_) => "admitted".to_owned(),
                Err(refused) => refused.word().to_owned(),
            };
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn real_tools_register() {
    for rules in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        for (file, schemas) in [
            ("everything.json", 14),
            ("filesystem.json", 28),
            ("git.json", 12),
            ("playwright.json", 25),
        ] {
            assert_eq!(
                count(file, rules),
                BTreeMap::from([("admitted".to_owned(), schemas)]),
                "{file}"
            );
        }
    }
}
