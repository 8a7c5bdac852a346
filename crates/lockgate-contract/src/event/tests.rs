#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bodies;
mod settled;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::document::{Document, Limits};

#[test]
fn words_are_unique_and_read_back() {
    let words: BTreeSet<_> = CATALOGUE.iter().map(|(_, word, ..)| *word).collect();
    assert_eq!(words.len(), CATALOGUE.len());
    for (kind, word, view, version) in CATALOGUE {
        assert_eq!(kind.word(), *word);
        assert_eq!(EventType::from_word(word), *kind);
        assert_eq!(kind.to_string(), *word);
        assert_eq!(kind.version(), *version);
        assert_eq!(kind.in_protocol_view(), *view == View::Protocol);
        let text = serde_json::to_string(kind).unwrap();
        assert_eq!(text, format!("\"{word}\""));
        assert_eq!(serde_json::from_str::<EventType>(&text).unwrap(), *kind);
    }
}

#[test]
fn the_protocol_view_is_the_published_stream() {
    let shown: Vec<_> =
        CATALOGUE.iter().filter(|(kind, ..)| kind.in_protocol_view()).map(|(_, word, ..)| *word).collect();
    // R-210, R-213.
    assert_eq!(
        shown,
        ["model.requested", "model.responded", "tool.requested", "tool.finished", "tool.failed", "run.completed",]
    );
}

#[test]
fn starts_are_what_a_refused_claim_did_not_begin() {
    let starts: Vec<_> = CATALOGUE.iter().filter(|(kind, ..)| kind.is_start()).map(|(_, word, ..)| *word).collect();
    assert_eq!(starts, ["approval.consumed", "tool.started"]); // S-51
}

#[test]
fn a_type_that_is_not_known_is_kept() {
    for word in ["", "call.remembered", "run.Started", "run.started "] {
        let kind = EventType::from_word(word);
        assert_eq!(kind, EventType::Other(word.to_owned())); // S-47
        assert_eq!(kind.word(), word);
        assert!(!kind.in_protocol_view() && !kind.is_start());
    }
}

const STORED: &str = r#"{"v":7,"run_id":"run-1","seq":18446744073709551615,"at":"2026-11-29T10:00:00.123Z","type":"tool.dreamt","step":3,"call_id":"run-1:step-3:call-0","data":{"n": 123456789012345678901234567890.10e-5 , "s":"\u00e4\/", "new":[ {} ]}}"#;

#[test]
fn an_event_of_a_later_version_survives_byte_for_byte() {
    let event: Event = serde_json::from_str(STORED).unwrap();
    assert_eq!(event.kind, EventType::Other("tool.dreamt".to_owned()));
    assert!(matches!(event.body(), Ok(Body::Unknown)));
    assert_eq!(serde_json::to_string(&event).unwrap(), STORED); // S-47

    // By way of the project's own documents too.
    let document = Document::parse(STORED, Limits::OWN).unwrap();
    let event: Event = document.decode().unwrap();
    assert_eq!(event.data.text(), r#"{"n": 123456789012345678901234567890.10e-5 , "s":"\u00e4\/", "new":[ {} ]}"#);
    assert_eq!(Document::from_serialize(&event).unwrap().text(), STORED);
}

#[test]
fn a_known_body_with_new_keys_is_read_and_its_text_kept() {
    let text = r#"{"v":1,"run_id":"run-1","seq":1,"at":"2026-11-29T10:00:00.000Z","type":"model.requested","step":0,"data":{"tools":2, "messages":1, "later":{"x":1e300}}}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    let Body::ModelRequested(body) = event.body().unwrap() else { panic!("{event:?}") };
    assert_eq!((body.messages, body.tools), (1, 2));
    assert_eq!(event.call_id, None);
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
}

#[test]
fn a_body_that_does_not_fit_its_type_is_an_error() {
    let text = STORED.replace("tool.dreamt", "tool.started");
    let event: Event = serde_json::from_str(&text).unwrap();
    assert!(event.body().is_err());
}

#[test]
fn a_number_makes_an_event_of_what_was_appended() {
    let body = Body::ModelRequested(ModelRequested { messages: 1, tools: 2 });
    let new = NewEvent::new(4, Some(CallId::new("c")), body);
    assert_eq!(
        (new.kind.clone(), new.step, new.data.text()),
        (EventType::ModelRequested, 4, r#"{"messages":1,"tools":2}"#)
    );
    let event = new.numbered(RunId::new("r"), 9, Timestamp::from_millis(0));
    // R-209, R-211.
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"v":1,"run_id":"r","seq":9,"at":"1970-01-01T00:00:00.000Z","type":"model.requested","step":4,"call_id":"c","data":{"messages":1,"tools":2}}"#
    );
}

proptest! {
    #[test]
    fn any_data_and_any_type_survive(
        digits in "-?[1-9][0-9]{0,40}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?",
        kind in "[ -~é]{0,20}",
        string in any::<String>(),
        step in any::<u32>(),
        seq in any::<u64>(),
    ) {
        let data = format!("{{\"n\":{digits} ,\n\"s\":{}}}", serde_json::to_string(&string).unwrap());
        let event = Event {
            v: 1,
            run_id: RunId::new("r"),
            seq,
            at: Timestamp::from_millis(0),
            kind: EventType::from_word(&kind),
            step,
            call_id: None,
            data: Document::parse(data.clone(), Limits::OWN).unwrap().into(),
            hash: None,
        };
        let text = serde_json::to_string(&event).unwrap();
        prop_assert!(text.contains(&data));
        let read: Event = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.data.text(), data);
        prop_assert_eq!(read.kind, event.kind);
        prop_assert_eq!((read.seq, read.step), (seq, step));
    }
}
