//! Arrows point downward only (`crates/README.md`).

use std::collections::BTreeSet;
use std::path::Path;

use crate::root;

/// What each crate may depend on. Whatever is not listed is somebody else's business.
const ARROWS: [(&str, &[&str]); 18] = [
    ("lockgate-contract", &[]),
    ("lockgate-macros", &[]),
    ("lockgate-host", &["lockgate-contract"]),
    ("lockgate-registry", &["lockgate-contract"]),
    ("lockgate-policy", &["lockgate-contract", "lockgate-host"]),
    ("lockgate-redact", &["lockgate-contract"]),
    ("lockgate-journal", &["lockgate-contract", "lockgate-host"]),
    ("lockgate-models", &["lockgate-contract", "lockgate-host"]),
    ("lockgate-sandbox", &[]),
    ("lockgate-mcp", &["lockgate-contract", "lockgate-host", "lockgate-sandbox"]),
    ("lockgate-sources", &["lockgate-contract", "lockgate-host", "lockgate-registry"]),
    ("lockgate-config", &["lockgate-contract", "lockgate-host", "lockgate-sources"]),
    ("lockgate-executor", &["lockgate-contract", "lockgate-registry"]),
    ("lockgate-harness", &["lockgate-contract", "lockgate-executor"]),
    ("lockgate-notify", &["lockgate-contract", "lockgate-executor", "lockgate-host"]),
    (
        "lockgate",
        &[
            "lockgate-config",
            "lockgate-contract",
            "lockgate-executor",
            "lockgate-harness",
            "lockgate-host",
            "lockgate-journal",
            "lockgate-macros",
            "lockgate-mcp",
            "lockgate-models",
            "lockgate-notify",
            "lockgate-policy",
            "lockgate-redact",
            "lockgate-registry",
            "lockgate-sandbox",
            "lockgate-sources",
        ],
    ),
    ("lockgate-server", &["lockgate", "lockgate-mcp"]),
    ("lockgate-cli", &["lockgate", "lockgate-server"]),
];

/// The crates of the project that this one is built with.
fn dependencies(krate: &str) -> BTreeSet<String> {
    let path = root().join("crates").join(krate).join("Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    names.filter(|name| name.starts_with("lockgate")).cloned().collect()
}

#[test]
fn every_arrow_points_down() {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let crates: BTreeSet<String> = folders
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<String> = ARROWS.iter().map(|(krate, _)| (*krate).to_owned()).collect();
    assert_eq!(crates, known, "each crate has its place here");
    for (krate, below) in ARROWS {
        for dependency in dependencies(krate) {
            //
            assert!(below.contains(&dependency.as_str()), "`{krate}` must not depend on `{dependency}`");
        }
    }
}

#[test]
fn the_gate_knows_no_model_and_the_harness_no_provider() {
    for krate in ["lockgate-executor", "lockgate-registry", "lockgate-policy", "lockgate-contract"] {
        let dependencies = dependencies(krate);
        assert!(!dependencies.contains("lockgate-models") && !dependencies.contains("lockgate-harness"), "{krate}");
    }
    let users: Vec<_> = ARROWS
        .iter()
        .map(|(krate, _)| *krate)
        .filter(|krate| dependencies(krate).contains("lockgate-models"))
        .collect();
    assert_eq!(users, ["lockgate"], "another provider changes the adapters and the assembly");
}

#[test]
fn the_harness_sees_calls_and_results_only() {
    let mut sources = Vec::new();
    collect(&root().join("crates/lockgate-harness/src"), &mut sources);
    assert!(sources.len() > 10, "{sources:?}");
    for source in sources {
        let text = std::fs::read_to_string(&source).unwrap();
        for inside in ["ToolSpec", "RegisteredTool", "Handler", "Prepared", "lockgate_registry"] {
            assert!(!text.contains(inside), "{} knows `{inside}`", source.display());
        }
    }
}

/// The sources below a folder, tests left out.
fn collect(folder: &Path, sources: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            sources.push(path);
        }
    }
}
