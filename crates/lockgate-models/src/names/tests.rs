use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn names_that_fit_stay() {
    let names = ["a", "_", "read_file", "Read-File2", &"x".repeat(64)];
    let wire = WireNames::for_tools(names);
    for name in names {
        assert_eq!(wire.wire(name), Some(name));
        assert_eq!(wire.original(name), name);
    }
}

#[test]
fn names_that_do_not_fit_are_told_apart() {
    let long = "y".repeat(65);
    let names = ["a.b", "a b", "a/b", "1st", "-x", "", "größe", "工具", long.as_str()];
    let wire = WireNames::for_tools(names);
    let seen: BTreeSet<&str> = names.iter().map(|name| wire.wire(name).unwrap()).collect();
    assert_eq!(seen.len(), names.len());
    for name in names {
        let projected = wire.wire(name).unwrap();
        assert!(fits(projected), "{projected}");
        assert_eq!(wire.original(projected), name);
    }
    assert!(wire.wire("a.b").unwrap().starts_with("a_b_"));
    assert!(wire.wire("1st").unwrap().starts_with("_1st_"));
}

#[test]
fn a_tool_named_like_a_projection_keeps_its_name() {
    let taken = WireNames::for_tools(["a.b"]).wire("a.b").unwrap().to_owned();
    for order in [["a.b", taken.as_str()], [taken.as_str(), "a.b"]] {
        let wire = WireNames::for_tools(order);
        assert_eq!(wire.wire(&taken), Some(taken.as_str()));
        assert_ne!(wire.wire("a.b"), Some(taken.as_str()));
        assert_eq!(wire.original(wire.wire("a.b").unwrap()), "a.b");
    }
}

#[test]
fn a_later_name_never_takes_a_tool_s_wire_name() {
    let mut wire = WireNames::for_tools(["a.b"]);
    let taken = wire.wire("a.b").unwrap().to_owned();
    wire.add(&taken);
    assert_eq!(wire.original(&taken), "a.b");
    assert_ne!(wire.wire(&taken), Some(taken.as_str()));
}

#[test]
fn an_unknown_wire_name_comes_back_as_it_is() {
    assert_eq!(WireNames::for_tools(["a"]).original("made up"), "made up");
}

proptest! {
    #[test]
    fn projection_is_injective_fits_and_returns(names in prop::collection::btree_set("[a-b._ é-]{0,4}|[a-z.]{60,70}|\\PC{0,80}", 0..40)) {
        let wire = WireNames::for_tools(names.iter().map(String::as_str));
        let mut seen = BTreeSet::new();
        for name in &names {
            let projected = wire.wire(name).unwrap();
            prop_assert!(fits(projected));
            prop_assert!(seen.insert(projected.to_owned()));
            prop_assert_eq!(wire.original(projected), name);
        }
    }

    #[test]
    fn projection_does_not_depend_on_order(names in prop::collection::vec("[a-c._-]{0,3}", 0..12)) {
        let forward = WireNames::for_tools(names.iter().map(String::as_str));
        let backward = WireNames::for_tools(names.iter().rev().map(String::as_str));
        for name in &names {
            prop_assert_eq!(forward.wire(name), backward.wire(name));
        }
    }
}
