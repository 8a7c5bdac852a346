//! Which tools a run file brings together, and what it refuses to show.

use std::fs;

use lockgate::assembly::{Assembly, AssemblyError, Overrides};

#[expect(clippy::disallowed_methods, reason = "the run file is the test's own")]
fn assembled(tools: &str) -> Result<Assembly, AssemblyError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    fs::write(&path, tools).unwrap();
    Assembly::load(&path, Overrides { journal_url: Some("memory:".to_owned()), ..Overrides::default() })
}

fn mock(description: &str) -> String {
    format!("[[tools.mock]]\nname = \"note\"\ndescription = \"{description}\"\nbehaviour = [{{ echoes = true }}]\n")
}

#[test]
fn a_run_has_the_tools_that_its_file_names_and_no_others() {
    let read = "[tools]\ncore = [\"read\"]\n";
    let all = ["glob", "grep", "list_dir", "read_artifact", "read_file"];
    for (tools, expected) in [
        (String::new(), [].as_slice()),
        (mock("Notes."), &["note"]),
        (read.to_owned(), &all),
        (format!("{read}allow = [\"read_*\"]\n"), &["read_artifact", "read_file"]),
    ] {
        let assembly = assembled(&tools).unwrap();
        let binding = assembly.discovery.bind();
        assert_eq!(binding.allowed.names().collect::<Vec<_>>(), expected, "{tools}");
    }
}

#[test]
fn a_description_with_a_secret_is_refused() {
    assert!(assembled(&mock("Notes into the ledger.")).is_ok());
    let error = assembled(&mock("Notes into postgres://app:hunter22horse@ledger/main.")).err().unwrap();
    assert!(matches!(&error, AssemblyError::SecretShown { tool, .. } if tool == "note"), "{error}");
    assert!(!error.to_string().contains("hunter22horse"), "{error}");
}
