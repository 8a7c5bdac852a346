//! What public MCP servers answered to `tools/list`.

use super::{document, testdata, tool};
use crate::world::{World, echo, raw};
use lockgate::prelude::*;
use lockgate::registry::schema::UnknownFields;

/// A file, how many tools it lists, and how many of them declare an output.
const SERVERS: &[(&str, usize, usize)] = &[
    ("chrome-devtools", 32, 0),
    ("context7", 2, 0),
    ("everything", 13, 1),
    ("fetch", 1, 0),
    ("filesystem", 14, 14),
    ("git", 12, 0),
    ("github", 26, 0),
    ("memory", 9, 9),
    ("playwright", 25, 0),
    ("sequential-thinking", 1, 1),
    ("sqlite", 6, 0),
    ("time", 2, 2),
];

#[test]
fn every_tool_of_every_server_registers() {
    for unknown_fields in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        let mut counts = Vec::new();
        for (server, _, _) in SERVERS {
            let world = World::in_memory().with_rules(RegistryRules { unknown_fields });
            let answer = document(&testdata(&format!("mcp-tools/{server}.json")));
            let mut outputs = 0;
            for listed in answer.root().get("tools").unwrap().elements() {
                let name = listed.get("name").unwrap().as_str().unwrap().into_owned();
                let mut builder = tool(&name, listed.get("inputSchema").unwrap());
                if let Some(output) = listed.get("outputSchema") {
                    builder = builder.output_schema(output.to_document());
                    outputs += 1;
                }
                world.add(builder, echo());
            }
            counts.push((*server, world.registry.names().len(), outputs));
        }
        assert_eq!(counts, SERVERS);
    }
}

#[tokio::test]
async fn a_real_schema_is_enforced() {
    let refuse = RegistryRules { unknown_fields: UnknownFields::Refuse };
    let world = World::in_memory().with_rules(refuse);
    let answer = document(&testdata("mcp-tools/git.json"));
    let mut listed = answer.root().get("tools").unwrap().elements();
    let log = listed.find(|tool| tool.get("name").unwrap().as_str().unwrap() == "git_log").unwrap();
    world.add(tool("git_log", log.get("inputSchema").unwrap()), raw(r#""ok""#));
    for (arguments, expected) in [
        (r#"{"repo_path":"/r","max_count":3}"#, "ok"),
        (r#"{"repo_path":"/r","max_count":"3"}"#, "invalid_arguments(schema)"),
        (r#"{"max_count":3}"#, "invalid_arguments(schema)"),
        (r#"{"repo_path":"/r","force":true}"#, "invalid_arguments(schema)"),
    ] {
        assert_eq!(crate::world::code_of(&world.direct("git_log", arguments).await), expected, "{arguments}"); // R-062
    }
}
