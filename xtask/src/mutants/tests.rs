use super::{explained, without_place};

#[test]
fn a_page_explains_the_mutants_of_its_list() {
    let page = "# Mutants\n\n- `a/src/b.rs: replace x with y in f`: the same.\n- other `code`\n- `unclosed\n";
    assert_eq!(explained(page).into_iter().collect::<Vec<_>>(), ["a/src/b.rs: replace x with y in f"]);
}

#[test]
fn a_mutant_is_known_wherever_its_line_has_moved() {
    let mutant = "crates/a/src/b.rs:155:33: replace match guard x::y with false in A<'g>::f";
    assert_eq!(without_place(mutant), "crates/a/src/b.rs: replace match guard x::y with false in A<'g>::f");
    assert_eq!(without_place("no place"), "no place");
}
