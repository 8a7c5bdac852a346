//! From a tag to the tests that it stands for, and what is not accounted for.

use tempfile::TempDir;

use crate::requirements::list::List;
use crate::requirements::tags::Tags;
use crate::requirements::{faults, page};

const LIST: &str = r#"
["A. First"]
R-001 = "One."
R-002 = "Two."
["B. Second"]
R-003 = "Three."
"#;

/// A checkout of one crate with these files.
fn checkout(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join("crates/demo").join(path);
        crate::files::write(&path, text).unwrap();
    }
    root
}

/// Number, item and tests of each tag; then the strays.
fn traced(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let tags = Tags::of(checkout(files).path()).unwrap();
    let sound = tags.sound.iter().map(|tag| format!("{} {} {}", tag.number, tag.item, tag.tests.len()));
    let stray = tags.stray.iter().map(|stray| format!("{} {}", stray.number, stray.place));
    (sound.collect(), stray.collect())
}

#[test]
fn a_tag_in_a_test_is_the_tests() {
    let (sound, stray) = traced(&[
        ("src/lib.rs", "fn product() {} // R-003\n#[cfg(test)]\nmod tests;"),
        ("src/tests.rs", "#[test]\nfn unit() {\n    assert!(true); // R-001, R-002\n}"),
        ("tests/it/main.rs", "mod order;"),
        (
            "tests/it/order.rs",
            "/// R-003: said, not shown.\n#[test]\nfn whole() {\n    run(\"// R-003\"); // R-001: because\n}",
        ),
    ]);
    assert_eq!(sound, ["R-001 demo::order::whole 1", "R-001 demo::tests::unit 1", "R-002 demo::tests::unit 1"]);
    assert!(stray.is_empty(), "{stray:?}");
}

#[test]
fn a_tag_in_a_shared_function_belongs_to_the_tests_that_reach_it() {
    let shared = "
        pub(crate) fn check() { inner() }
        fn inner() {
            assert!(true); // R-001
        }
        pub(crate) fn forgotten() {
            assert!(true); // R-002
        }
    ";
    let users = "
        #[test]
        fn one() { check() }
        #[test]
        fn two() { TABLE[0]() }
        #[test]
        fn three() { inner() }
        const TABLE: [fn(); 1] = [bench::check];
        fn inner() {}
        // R-003
    ";
    let (sound, stray) = traced(&[
        ("tests/it/main.rs", "mod bench; mod users;"),
        ("tests/it/bench.rs", shared),
        ("tests/it/users.rs", users),
    ]);
    assert_eq!(sound, ["R-001 demo::bench::inner 2"]);
    assert_eq!(stray, ["R-002 crates/demo/tests/it/bench.rs:7", "R-003 crates/demo/tests/it/users.rs:10"]);
}

#[test]
fn a_macro_can_make_tests_of_names() {
    let (sound, stray) = traced(&[(
        "tests/it/main.rs",
        "
        macro_rules! contract { ($($test:ident;)+) => { $(#[test] fn $test() { super::$test() })+ }; }
        contract! { stored; }
        fn stored() {
            assert!(true); // R-001
        }
        fn lost() {
            assert!(true); // R-002
        }
        ",
    )]);
    assert_eq!(sound, ["R-001 demo::stored 1"]);
    assert_eq!(stray, ["R-002 crates/demo/tests/it/main.rs:8"]);
}

#[test]
fn a_test_that_does_not_run_shows_nothing() {
    let (sound, stray) =
        traced(&[("tests/it/main.rs", "#[test]\n#[ignore]\nfn later() {\n    assert!(true); // R-001\n}")]);
    assert!(sound.is_empty(), "{sound:?}");
    assert_eq!(stray, ["R-001 crates/demo/tests/it/main.rs:4"]);
}

/// The faults between the list, more of it, and the tags of one test.
fn found(more: &str, tags: &str) -> Vec<String> {
    let root = checkout(&[("tests/it/main.rs", &format!("#[test]\nfn test() {{\n    check(); // {tags}\n}}"))]);
    faults(&List::parse(&format!("{LIST}{more}")).unwrap(), &Tags::of(root.path()).unwrap())
}

#[test]
fn nothing_is_silently_absent() {
    assert!(found("", "R-001, R-002, R-003").is_empty());
    assert_eq!(found("", "R-001, R-003"), ["R-002 has no test, waits for nothing and names no check"]);
    assert!(found("[waits]\nR-002 = \"rain\"", "R-001, R-003").is_empty());
    assert!(found("[checks]\nR-002 = \"deny.toml: forbids it\"", "R-001, R-003").is_empty());
    assert_eq!(
        found("[waits]\nR-002 = \"rain\"", "R-001, R-002, R-003"),
        ["R-002 is said to wait for rain, but a test carries it"]
    );
    let unknown = format!("R-{}", 999);
    assert_eq!(
        found("", &format!("R-001, R-002, R-003, {unknown}")),
        [format!("crates/demo/tests/it/main.rs:3: there is no requirement {unknown}")]
    );
}

#[test]
fn the_list_has_no_gaps_and_marks_only_what_it_has() {
    let list = |text: &str| List::parse(text).unwrap().faults();
    assert!(list(LIST).is_empty());
    assert_eq!(list("[a]\nR-001 = \"\"\nR-003 = \"\""), ["the list has R-003 where R-002 should stand"]);
    let marked = format!("{LIST}[waits]\nR-004 = \"rain\"");
    assert_eq!(list(&marked), ["the list marks R-004, which it does not have"]);
    assert!(List::parse("[checks]\nR-001 = \"no path\"").is_err());
    assert!(List::parse("R-001 = \"in no section\"").is_err());
}

#[test]
fn the_page_shows_each_requirement_with_its_evidence() {
    let list =
        List::parse(&format!("{LIST}[waits]\nR-002 = \"rain\"\n[checks]\nR-003 = \"deny.toml: forbids it\"")).unwrap();
    let root = checkout(&[("tests/it/main.rs", "#[test]\nfn test() {\n    check(); // R-001\n}")]);
    let page = page::text(&list, &Tags::of(root.path()).unwrap().sound);
    let shown = "\
3 requirements: 1 carried by tests, 1 shown by a check alone, 1 waiting for a capability.

## A. First

- **R-001** One.
  - `demo::test`
- **R-002** Two.
  - waits for rain

## B. Second

- **R-003** Three.
  - [deny.toml](../deny.toml): forbids it
";
    assert!(page.ends_with(shown), "{page}");
}
