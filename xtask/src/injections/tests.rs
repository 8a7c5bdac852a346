use std::path::Path;

use super::patch::{Catcher, Patch};
use crate::requirements::Evidence;

const DIFF: &str = "
--- a/crates/demo/src/lib.rs
+++ b/crates/demo/src/lib.rs
@@ -1 +1 @@
-check();
+let _ = 0;
";

/// The patch of this name and head, over a checkout with one test that carries one requirement.
fn read(name: &str, head: &str, diff: &str) -> Result<(Patch, Evidence), String> {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        crate::files::write(&path, text).unwrap();
        path
    };
    write("crates/demo/tests/it/main.rs", "#[test]\nfn test() {\n    check(); // R-001\n}");
    let path = write(&format!("{name}.patch"), &format!("{head}{diff}"));
    Ok((Patch::read(path)?, Evidence::of(Path::new(root.path()))?))
}

fn faults(name: &str, head: &str, diff: &str) -> Vec<String> {
    let (patch, evidence) = read(name, head, diff).unwrap();
    patch.faults(&evidence)
}

#[test]
fn a_patch_says_what_it_removes_and_who_notices() {
    let head = "Requirement: R-001\nRemoves: the check\nCaught by: demo::test\n";
    let (patch, evidence) = read("R-001-unchecked", head, DIFF).unwrap();
    assert!(patch.faults(&evidence).is_empty());
    assert_eq!(
        (patch.krate.as_str(), patch.files.as_slice()),
        ("demo", ["crates/demo/src/lib.rs".to_owned()].as_slice())
    );
    assert_eq!(patch.caught_by.test(), Some(("demo", "test")));
    let compiler = "Requirement: R-001\nRemoves: the check\nCaught by: the compiler\n";
    assert!(matches!(read("R-001-unchecked", compiler, DIFF).unwrap().0.caught_by, Catcher::Compiler));
    assert!(read("R-001-unchecked", "Requirement: R-001\nCaught by: demo::test\n", DIFF).is_err());
    assert!(read("R-001-unchecked", head, "").is_err());
}

#[test]
fn a_test_that_does_not_carry_the_requirement_is_no_witness() {
    let head = |number: &str, test: &str| format!("Requirement: {number}\nRemoves: the check\nCaught by: {test}\n");
    assert_eq!(
        faults("R-002-unchecked", &head("R-002", "demo::test"), DIFF),
        ["R-002-unchecked: no test `demo::test` carries R-002"]
    );
    assert_eq!(
        faults("R-001-unchecked", &head("R-001", "demo::other"), DIFF),
        ["R-001-unchecked: no test `demo::other` carries R-001"]
    );
    assert_eq!(
        faults("R-002-unchecked", &head("R-002", "the compiler"), DIFF),
        ["R-002-unchecked: no test carries R-002"]
    );
    assert_eq!(
        faults("R-002-unchecked", &head("R-001", "demo::test"), DIFF),
        ["R-002-unchecked: the file is not named after R-001"]
    );
    let tests = DIFF.replace("src/lib.rs", "tests/it/main.rs");
    assert_eq!(faults("R-001-unchecked", &head("R-001", "demo::test"), &tests), ["R-001-unchecked: it changes tests"]);
}
