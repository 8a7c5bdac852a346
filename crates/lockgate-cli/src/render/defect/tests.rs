use lockgate::contract::ids::CallId;
use lockgate::harness::check::{Defect, Invariant};

use super::{defect_lines, numbers};

#[test]
fn events_are_counted_out() {
    assert_eq!(numbers(&[]), None);
    assert_eq!(numbers(&[9]).unwrap(), "event 9");
    assert_eq!(numbers(&[7, 9]).unwrap(), "events 7, 9");
}

#[test]
fn what_events_say_moves_no_cursor() {
    let defect = Defect {
        invariant: Invariant::Placement,
        seqs: vec![3, 6],
        call_id: Some(CallId::new("run-1:\u{1b}[2J")),
        text: "the result is one of tool `\u{1b}[31mstat`".to_owned(),
    };
    let lines = anstream::adapter::strip_str(&defect_lines(&defect)).to_string();
    assert!(
        lines.starts_with("  placement  events 3, 6  run-1:\\u{1b}[2J\n    the result is one of tool `\\u{1b}[31m"),
        "{lines}"
    );
    assert!(lines.ends_with(&format!("    should hold: {}\n", Invariant::Placement.sentence())), "{lines}");
}
