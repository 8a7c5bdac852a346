//! Rules that are replaced while calls are decided.

use std::path::Path;
use std::sync::Arc;

use lockgate_contract::ports::Visibility as _;

use super::*;
use crate::cedar::{CedarPolicy, RuleFiles};

#[expect(clippy::disallowed_methods, reason = "the files are the test's own")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_wrong_set_leaves_the_old_one_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cedar");
    write(&path, "permit (principal, action, resource);");
    let files = RuleFiles::new(folder.path(), ["*.cedar".to_owned()]);
    let policy = CedarPolicy::read(files, &[look_up()], Vec::new(), Arc::new(Noon)).unwrap();
    let decide = || answer(&policy.rules(), &look_up(), &Subject::default(), "{}").decision;
    assert_eq!((decide(), policy.reload()), (PolicyDecision::Allow, Ok(false)));

    let before = policy.rules().digest();
    for wrong in [
        "permit",
        "permit (principal, action == Tool::Action::\"x\", resource);",
        "// expect: deny {\"tool\": \"look_up\"}\npermit (principal, action, resource);",
    ] {
        write(&path, wrong);
        let refused = policy.reload().unwrap_err().to_string();
        assert!(refused.starts_with("`a.cedar`, line 1: "), "{refused}");
        assert_eq!((decide(), policy.rules().digest()), (PolicyDecision::Allow, before));
    }

    // Who is bound from then on does not see what nobody may call.
    assert!(policy.sees(&Subject::default(), &look_up()));
    write(&path, "forbid (principal, action, resource);");
    assert_eq!((policy.reload(), decide()), (Ok(true), PolicyDecision::Deny));
    assert!(!policy.sees(&Subject::default(), &look_up()));
    assert_ne!(policy.rules().digest(), before);

    // A further file counts, and a folder without any does not load.
    write(&folder.path().join("b.cedar"), "permit (principal, action, resource);");
    assert_eq!(policy.reload(), Ok(true));
    assert_eq!(policy.rules().files(), ["a.cedar", "b.cedar"]);
}
