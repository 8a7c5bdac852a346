//! A run file, and with it everything that is made of its text alone: subject, budget, mocks, discovery.

use std::path::Path;

use lockgate::config::{BudgetChange, RunFile};
use lockgate::prelude::*;
use lockgate::registry::schema::UnknownFields;

/// Parses the text; what is accepted becomes tools, and a run's binding to them.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(change) = text.parse::<BudgetChange>() {
        let _ = change.apply(&Budget::default());
    }
    match RunFile::parse(Path::new("run.toml"), text) {
        Ok(file) => put_together(&file),
        Err(error) => {
            assert!(error.to_string().contains("`run.toml`"), "{error}");
            let _ = error.hint();
        }
    }
}

fn put_together(file: &RunFile) {
    let subject = file.subject.subject();
    let _ = file.budget.budget();
    for unknown_fields in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        let registry = Registry::new(RegistryRules { unknown_fields });
        for mock in file.tools.mock.iter().cloned() {
            match mock.into_spec(Path::new(""), 0) {
                Ok(spec) => {
                    if let Err(error) = registry.register(spec) {
                        assert!(!error.to_string().is_empty());
                    }
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    let _ = error.hint();
                }
            }
        }
        check(&registry, &subject, file.tools.allow.as_deref());
    }
}

/// What a subject sees of a registry, within `allow`.
pub(crate) fn check(registry: &Registry, subject: &Subject, allow: Option<&[String]>) {
    let description = registry.describe();
    assert_eq!(description.model.len(), registry.len());
    assert!(serde_json::to_string(&description).is_ok());
    let mut discovery = registry.discover(subject);
    if let Some(allow) = allow {
        discovery = discovery.only(allow);
    }
    let seen = discovery.capabilities();
    let bound = discovery.bind();
    let allowed = registry.definitions(&bound.allowed);
    assert_eq!(seen.len(), allowed.len());
}

/// The run files of the examples and of the command's tests, and the piece of one that every key stands in.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let mut seeds = vec![super::script::TOOLS.as_bytes().to_vec(), EVERY_KEY.as_bytes().to_vec()];
    for folder in ["examples", "crates/lockgate-cli/tests/fixtures"] {
        let files = super::files(&root.join(folder), ".toml");
        let run_files = files.iter().filter(|path| !path.ends_with("Cargo.toml"));
        seeds.extend(run_files.map(|path| super::text(path).into_bytes()));
    }
    seeds
}

const EVERY_KEY: &str = r#"
task = "Do it."
system = "Be brief."
model = { provider = "openai-compatible", model = "m", base_url = "http://127.0.0.1:1/v1", api_key_env = "NO_SUCH_KEY", timeout = "5s", temperature = 0.5, allow_insecure = false }
journal = { url = "memory:" }
budget = { max_steps = 4, max_valid_actions = 5, max_calls_per_turn = 6, deadline = "10m", max_environment_failures = 0, max_repeated_turns = 2 }
gate = { call_timeout = "30s", max_output_bytes = 65536, argument_errors = "declared_paths", parallel_reads = 1, on_unknown = "tell_model", repair = [], unknown_fields = "refuse" }
approvals = { expires = "1h" }

[subject]
tenant = "demo"
user = "alice"
agent = "helper"
scopes = ["incident:read"]
domains = ["people"]
level = "write"
versions = { read_salary = "1.0" }

[tools]
core = ["read"]
root = "."
allow = ["read_*", "create_ticket"]
catalog = ["tools.toml"]
secrets_from_env = ["NO_SUCH_SECRET"]

[[tools.mock]]
name = "read_salary"
version = "1.0"
description = "Reads a salary."
effect = "read"
domain = "people"
scopes = ["incident:read"]
tenants = ["demo"]
agents = ["helper"]
timeout = "2s"
replay = "safe"
permission = "ask"
permission_reason = "Salaries are private."
on_duplicate = "share_result"
error_text = "shown"
count_file = "salary.count"
behaviour = [{ returns_hex = "c3a9ff" }, { sleeps = "1ms", panics = "boom" }, { errors = "bug" }, { returns_text = "ab", repeat = 3 }]
input_schema = { type = "object", properties.id = { type = "integer", minimum = 1 } }
output_schema = { type = "object", properties.salary = { type = "number" } }
"#;
