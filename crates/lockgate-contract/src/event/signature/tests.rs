use std::collections::HashSet;
use std::sync::Arc;

use super::*;
use crate::event::{EventData, NewEvent};
use crate::ids::{CallId, RunId};
use crate::time::Timestamp;

/// Signs by saying what it was given.
#[derive(Debug)]
struct Echo;

impl Sign for Echo {
    fn key(&self) -> String {
        "echo".to_owned()
    }

    fn sign(&self, text: &[u8]) -> String {
        Digest::of_text("test", &format!("{text:?}")).to_string()
    }
}

fn event(kind: &str, body: &str) -> Event {
    let data = EventData::from(Document::parse(body, Limits::OWN).unwrap()).signed_by(Arc::new(Echo));
    let new = NewEvent { kind: EventType::from_word(kind), step: 2, call_id: Some(CallId::new("c")), data };
    new.numbered(RunId::new("run-a"), 7, Timestamp::from_millis(1000))
}

fn is_sound(event: &Event) -> bool {
    event.signature().is_some_and(|signed| signed.text.is_some_and(|text| Echo.sign(&text) == signed.signature.value))
}

#[test]
fn decisions_are_signed_when_they_get_their_numbers_and_nothing_else_is() {
    for (kind, body, is_decision) in [
        ("approval.decided", r#"{"decision":"granted"}"#, true),
        ("approval.decided", "{}", true),
        ("approval.edited", r#"{"a":1}"#, true),
        ("run.started", r#"{"task":"é\n"}"#, true),
        ("tool.started", r#"{"signature_like":1}"#, true),
        ("tool.failed", r#"{"audit":{"decision":"deny"}}"#, true),
        ("tool.failed", r#"{"audit":{"decision":"allow"}}"#, false),
        ("tool.failed", r#"{"audit":{}}"#, false),
        ("tool.finished", r#"{"audit":{"decision":"deny"}}"#, false),
        ("model.responded", "{}", false),
    ] {
        let event = event(kind, body);
        assert_eq!(event.is_decision(), is_decision, "{kind} {body}");
        assert_eq!(is_sound(&event), is_decision, "{kind} {}", event.data);
        if !is_decision {
            assert_eq!(event.data.text(), body);
        }
    }
}

#[test]
fn whatever_is_altered_the_signature_is_over_something_else() {
    let good = event("approval.decided", r#"{"decision":"denied","by":"bob"}"#);
    assert!(is_sound(&good));
    let with_text = |text: String| Event { data: Document::parse(text, Limits::OWN).unwrap().into(), ..good.clone() };
    let text = good.data.text();
    for other in [
        with_text(text.replace("denied", "granted")),
        with_text(text.replace("\"decision\"", " \"decision\"")),
        with_text(text.replacen('{', r#"{"more":1,"#, 1)),
        with_text(format!("{},\"more\":1}}", &text[..text.len() - 1])),
        with_text(text.replace("\"v\":1", "\"v\":2")),
        Event { run_id: RunId::new("run-b"), ..good.clone() },
        Event { seq: 8, ..good.clone() },
        Event { at: Timestamp::from_millis(1001), ..good.clone() },
        Event { kind: EventType::ApprovalConsumed, ..good.clone() },
        Event { v: 2, ..good.clone() },
        Event { step: 3, ..good.clone() },
        Event { call_id: Some(CallId::new("d")), ..good.clone() },
        Event { call_id: None, ..good.clone() },
    ] {
        assert!(!is_sound(&other), "{other:?}");
    }
}

#[test]
fn no_two_decisions_have_one_text() {
    let mut seen = HashSet::new();
    for (run, kind, call) in
        [("ab", "c", Some("d")), ("a", "bc", Some("d")), ("a", "b", Some("cd")), ("abc", "d", None), ("a", "bcd", None)]
    {
        let event = Event {
            run_id: RunId::new(run),
            kind: EventType::from_word(kind),
            call_id: call.map(CallId::new),
            ..event("x", "{}")
        };
        assert!(seen.insert(signed_text(&event, "{}")));
    }
}

#[test]
fn the_typed_body_stays_and_reads_the_same() {
    use crate::event::{ApprovalConsumed, Body};
    use crate::ids::ApprovalId;
    let body = Body::ApprovalConsumed(ApprovalConsumed {
        approval_id: ApprovalId::new("apr-1"),
        digest: Digest::of_text("test", "x"),
    });
    let mut new = NewEvent::new(0, Some(CallId::new("c")), body);
    new.data = new.data.signed_by(Arc::new(Echo));
    let event = new.numbered(RunId::new("run-a"), 1, Timestamp::from_millis(0));
    assert!(is_sound(&event));
    let read = Event { data: Document::parse(event.data.text(), Limits::OWN).unwrap().into(), ..event.clone() };
    for event in [&event, &read] {
        let Ok(Body::ApprovalConsumed(consumed)) = event.body() else { panic!("{event:?}") };
        assert_eq!(consumed.approval_id.as_str(), "apr-1");
    }
}
