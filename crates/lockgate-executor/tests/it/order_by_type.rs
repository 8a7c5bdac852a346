//! Order by type (architecture rule 2): code that skips, swaps or forges a stage does not compile, not even inside the crate.

#[test]
fn stages_cannot_be_skipped_swapped_or_forged() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile_fail/in_order.rs");
    for case in [
        "skips_a_stage",
        "goes_back",
        "uses_a_token_twice",
        "forges_a_token",
        "changes_a_token",
        "makes_a_release",
        "shows_an_output_itself",
    ] {
        cases.compile_fail(format!("tests/compile_fail/{case}.rs"));
    }
}
