//! The schema of a tool, and an instance behind a NUL byte, which no JSON text has.

use std::path::Path;

use lockgate::contract::document::{Document, Limits};
use lockgate::registry::schema::{Role, Schema, UnknownFields};

/// Admits the schema for both roles and both rules; what is admitted judges any instance.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (schema, instance) = text.split_once('\0').unwrap_or((text, "{}"));
    let Ok(schema) = Document::parse(schema, Limits::OWN) else { return };
    let instance = Document::parse(instance, Limits::OWN).unwrap_or_else(|_| Document::empty_object());
    for role in [Role::Input, Role::Output] {
        let declared = Schema::admit(&schema, role, UnknownFields::AsDeclared);
        let closed = Schema::admit(&schema, role, UnknownFields::Refuse);
        assert!(declared.is_ok() || closed.is_err(), "closing a schema does not make it admissible");
        let (Ok(declared), Ok(closed)) = (declared, closed) else { continue };
        for instance in [&instance, &schema] {
            let as_declared = declared.validate(instance);
            if closed.validate(instance).is_ok()
                && let Err(violations) = as_declared
            {
                assert!(violations.to_string().contains("too many steps"), "closing a schema let pass: {violations}");
            }
        }
    }
}

/// Schemas of public tool servers and of the leaderboard's functions, with arguments for the latter.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for file in super::files(&root.join("testdata/mcp-tools"), ".json") {
        let answer = Document::parse(super::text(&file), Limits::OWN).unwrap();
        for tool in answer.root().get("tools").unwrap().elements().step_by(2) {
            for key in ["inputSchema", "outputSchema"] {
                seeds.extend(tool.get(key).map(|schema| schema.raw().as_bytes().to_vec()));
            }
        }
    }
    let calls = super::text(&root.join("testdata/bfcl/calls.jsonl"));
    for line in super::text(&root.join("testdata/bfcl/tools.jsonl")).lines().step_by(80) {
        let tool = Document::parse(line, Limits::OWN).unwrap();
        let id = tool.root().get("id").unwrap();
        let call = calls.lines().find(|line| line.contains(id.raw()));
        let call = call.map(|line| Document::parse(line, Limits::OWN).unwrap());
        let arguments = call.as_ref().map_or("{}", |call| call.root().get("arguments").unwrap().raw());
        seeds.push(format!("{}\0{arguments}", tool.root().get("input_schema").unwrap().raw()).into_bytes());
    }
    seeds
}
