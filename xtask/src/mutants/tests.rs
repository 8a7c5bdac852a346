use super::{counted, explained, faults, without_place};

const F: &str = "a/src/b.rs: replace x with y in f";

/// What is at fault with the name `F`, counted by what is said of it.
fn at_fault(explained: usize, survived: usize, caught: usize, everything: bool) -> Vec<(String, usize)> {
    let times = |count| counted(vec![F.to_owned(); count].into_iter());
    let faults = faults(&times(explained), &times(survived), &times(caught), everything);
    let said = |fault: String| fault.strip_suffix(&format!(": {F}")).unwrap().to_owned();
    counted(faults.into_iter().map(said)).into_iter().collect()
}

fn said(what: &str, times: usize) -> Vec<(String, usize)> {
    vec![(what.to_owned(), times)]
}

#[test]
fn a_page_explains_the_mutants_of_its_list() {
    let page = format!("# Mutants\n\n- `{F}`: the same.\n- other `code`\n- `unclosed\n- `{F}`: and so is this.\n");
    assert_eq!(explained(&page).into_iter().collect::<Vec<_>>(), [(F.to_owned(), 2)]);
}

#[test]
fn each_survivor_wants_its_line() {
    for everything in [false, true] {
        assert_eq!(at_fault(0, 1, 0, everything), said("survived, not explained", 1));
        assert_eq!(at_fault(1, 3, 1, everything), said("survived, not explained", 2));
        // Of several changes of one name, some are caught.
        assert_eq!(at_fault(1, 1, 2, everything), []);
        assert_eq!(at_fault(2, 2, 0, everything), []);
    }
}

#[test]
fn no_line_outlives_its_survivor() {
    for everything in [false, true] {
        assert_eq!(at_fault(1, 0, 1, everything), said("explained, but caught", 1));
        assert_eq!(at_fault(3, 1, 2, everything), said("explained, but caught", 2));
    }
}

#[test]
fn a_line_of_nothing_is_seen_when_everything_was_tested() {
    assert_eq!(at_fault(1, 0, 0, true), said("explained, but not found", 1));
    assert_eq!(at_fault(3, 1, 0, true), said("explained, but not found", 2));
    assert_eq!(at_fault(1, 0, 0, false), []);
}

#[test]
fn a_mutant_is_known_wherever_its_line_has_moved() {
    let mutant = "crates/a/src/b.rs:155:33: replace match guard x::y with false in A<'g>::f";
    assert_eq!(without_place(mutant), "crates/a/src/b.rs: replace match guard x::y with false in A<'g>::f");
    assert_eq!(without_place("no place"), "no place");
}
