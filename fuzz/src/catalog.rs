//! A catalog file: its rows become tools, which are registered.

use std::path::Path;

use lockgate::contract::document::Document;
use lockgate::prelude::*;
use lockgate::registry::schema::UnknownFields;
use lockgate::sources::catalog::{Catalog, Resolvers};
use lockgate::sources::error::SourceError;

/// Loads the file as a catalog. A database is read as one; here it would be the corpus of SQLite, not of Lockgate.
pub fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    put_rows(folder.path());
    let path = folder.path().join("tools.toml");
    super::write(&path, bytes);
    load(&path);
}

/// What the tables of the incident example are looked up in.
pub(crate) fn put_rows(folder: &Path) {
    super::write(&folder.join("incidents.json"), include_str!("../../examples/incident/incidents.json"));
    super::write(&folder.join("services.json"), include_str!("../../examples/incident/services.json"));
}

/// Reads a catalog, resolves its rows, registers the tools, and shows them to a subject that may see everything.
pub(crate) fn load(path: &Path) {
    for unknown_fields in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        let specs = match specs(path) {
            Ok(specs) => specs,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let _ = error.hint();
                return;
            }
        };
        let scopes = specs.iter().flat_map(|spec| spec.scopes().iter().cloned()).collect();
        let registry = Registry::new(RegistryRules { unknown_fields });
        for spec in specs {
            if let Err(error) = registry.register(spec) {
                assert!(!error.to_string().is_empty());
            }
        }
        super::run_file::check(&registry, &Subject { scopes, ..Subject::default() }, None);
    }
}

fn specs(path: &Path) -> Result<Vec<ToolSpec>, SourceError> {
    let resolvers = Resolvers::new().native("native-1", || Handler::untyped(answer))?;
    let catalog = Catalog::load(path)?;
    let names: Vec<String> = catalog.names().map(str::to_owned).collect();
    let specs = catalog.into_specs(&resolvers, &|_| 0)?;
    assert!(specs.iter().map(ToolSpec::name).eq(names.iter().map(String::as_str)));
    Ok(specs)
}

async fn answer(_: Arguments, _: ToolContext) -> Result<Output, Failure> {
    Ok(Output::new(Document::null()))
}

/// The catalogs of the examples and of the command's tests, and rows of the kinds that they do not have.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let fixtures = super::files(&root.join("crates/lockgate-cli/tests/fixtures"), ".toml");
    let examples = super::files(&root.join("examples/incident"), ".toml");
    let mut seeds: Vec<Vec<u8>> = fixtures.iter().chain(&examples).map(|path| super::text(path).into_bytes()).collect();
    let mocks = super::script::TOOLS.replace("[[tools.mock]]", "[[tool]]\nkind = \"mock\"");
    seeds.push(mocks.replace("behaviour =", "target.behaviour =").into_bytes());
    seeds.push(
        br#"[[tool]]
name = "native_tool"
kind = "native"
enabled = true
target = { key = "native-1" }

[[tools]]
name = "recorded"
kind = "record"
effect = "write"
target = { file = "record.jsonl", returns = { ok = true }, count_file = "recorded.count" }
input_schema = { type = "object", properties.to = { type = "string", format = "email" } }
"#
        .to_vec(),
    );
    seeds
}
