use super::checks::scenario;
use super::expected::Expected;
use super::promised;

#[test]
fn a_folder_names_its_scenario() {
    assert_eq!(scenario("server-tools-list-2026-11-30T21-04-05-123Z"), "tools-list");
    assert_eq!(scenario("server-server-stateless-2026-11-30T21-04-05-123Z"), "server-stateless");
    assert_eq!(scenario("auth/metadata-default-2026-11-30T21-04-05-123Z"), "auth/metadata-default");
    assert_eq!(scenario("sse-retry-2026-11-30T21-04-05-123Z"), "sse-retry");
}

#[test]
fn the_suite_says_how_much_it_runs() {
    let said = "\nRunning requirements 2026-07-28 (50 scenarios) against http://127.0.0.1:1/mcp\n";
    assert_eq!(promised(said), Some(50));
    assert_eq!(promised("Running requirements 2026-07-28 (39 scenarios) in parallel...\n"), Some(39));
    assert_eq!(promised("Server test error"), None);
}

#[test]
fn what_is_expected_to_fail_has_to_fail() {
    let expected = Expected::read(
        r#"
        [[failure]]
        subject = "gateway legacy"
        revision = "2026-07-28"
        scenario = "tasks-lifecycle"
        reason = "the older version has no tasks"

        [[failure]]
        subject = "gateway legacy"
        scenario = "server-stateless"
        check = "sep-2575-one"
        reason = "nobody can"
        "#,
    )
    .unwrap();
    let reason = |subject, revision, scenario, check| expected.reason(subject, revision, scenario, check);
    assert_eq!(
        reason("gateway legacy", "2026-07-28", "tasks-lifecycle", "any"),
        Some("the older version has no tasks")
    );
    assert_eq!(reason("gateway legacy", "2025-11-25", "tasks-lifecycle", "any"), None);
    assert_eq!(reason("gateway", "2026-07-28", "tasks-lifecycle", "any"), None);
    assert_eq!(reason("gateway legacy", "2025-11-25", "server-stateless", "sep-2575-one"), Some("nobody can"));
    assert_eq!(reason("gateway legacy", "2025-11-25", "server-stateless", "sep-2575-two"), None);

    let failed = [("tasks-lifecycle", "any"), ("server-stateless", "sep-2575-two")];
    let passed = expected.that_passed("gateway legacy", "2026-07-28", &failed);
    assert_eq!(passed, ["server-stateless:sep-2575-one"]);
    assert!(expected.that_passed("gateway", "2026-07-28", &[]).is_empty());
}

#[test]
fn a_failure_without_a_reason_is_not_explained() {
    let without = "[[failure]]\nsubject = \"gateway\"\nscenario = \"ping\"\n";
    assert!(Expected::read(without).is_err_and(|error| error.contains("`reason`")));
    let misspelt = "[[failure]]\nsubject = \"gateway\"\nscenario = \"ping\"\nreason = \"x\"\nchek = \"y\"\n";
    assert!(Expected::read(misspelt).is_err_and(|error| error.contains("`chek`")));
}
