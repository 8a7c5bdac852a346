//! What a run came to, in the words that tests compare.

use std::collections::BTreeMap;

use lockgate::contract::document::Limits;
use lockgate::contract::event::{Event, EventType, Settled};
use lockgate::contract::ids::RunId;
use lockgate::harness::{CallSummary, DirectAnswer, RunState};
use lockgate::prelude::*;

/// What holds in every journal, as the product's own checker sees it and as it is seen here.
pub(crate) fn check_events(events: &[Event]) {
    let defects = lockgate::harness::check::events(events);
    assert!(defects.is_empty(), "{defects:#?}");
    check_endings(events);
}

/// Numbers without a gap, one ending a call, and no ending that was not asked for.
fn check_endings(events: &[Event]) {
    let mut requested = BTreeMap::new();
    for (seq, event) in (1..).zip(events) {
        assert_eq!(event.seq, seq, "numbers have no gap");
        Document::parse(event.data.text(), Limits::OWN).unwrap();
        match &event.kind {
            EventType::ToolRequested => {
                assert!(requested.insert(event.call_id.clone().unwrap(), false).is_none(), "requested twice");
            }
            EventType::ToolFinished | EventType::ToolFailed => {
                let ended = requested.get_mut(event.call_id.as_ref().unwrap()).unwrap();
                assert!(!std::mem::replace(ended, true), "settled twice");
            }
            _ => {}
        }
    }
}

/// A run, as it stopped.
pub(crate) struct Ran {
    pub(crate) state: RunState,
    pub(crate) result: RunResult,
    pub(crate) events: Vec<Event>,
}

impl Ran {
    pub(crate) fn run_id(&self) -> &RunId {
        self.state.run_id()
    }

    /// The stop state's word, and its reason's.
    pub(crate) fn stop(&self) -> (&'static str, &str) {
        (self.result.status.unwrap().word(), self.result.reason.as_deref().unwrap())
    }

    /// How each call stands, in request order: `ok`, or its code with the reason word.
    pub(crate) fn codes(&self) -> Vec<String> {
        let word = |call: &CallSummary| match (&call.code, &call.reason) {
            (None, _) if call.ok => "ok".to_owned(),
            (None, _) => "open".to_owned(),
            (Some(code), None) => code.word().to_owned(),
            (Some(code), Some(reason)) => format!("{}({reason})", code.word()),
        };
        self.result.calls.iter().map(word).collect()
    }

    /// The ending of a call.
    pub(crate) fn settled(&self, index: usize) -> &Settled {
        self.state.calls().nth(index).unwrap().settled.as_ref().unwrap()
    }

    /// What the model is told about a call.
    pub(crate) fn told(&self, index: usize) -> String {
        self.settled(index).model_content().text().to_owned()
    }

    /// What people are told about a call.
    pub(crate) fn audit(&self, index: usize) -> &str {
        self.settled(index).audit.text.as_deref().unwrap()
    }

    /// The arguments of each call as the history holds them.
    pub(crate) fn history_arguments(&self) -> Vec<String> {
        let messages = self.result.model_messages.iter().flatten();
        let calls = messages.flat_map(|message| message.calls.iter().flatten());
        calls.map(|call| call.arguments.text().to_owned()).collect()
    }

    /// The events of a type.
    pub(crate) fn events_of(&self, kind: &EventType) -> Vec<&Event> {
        self.events.iter().filter(|event| event.kind == *kind).collect()
    }

    /// The whole journal of the run as text.
    pub(crate) fn journal_text(&self) -> String {
        self.events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
    }
}

/// The code of a direct call's answer, as in [`Ran::codes`].
pub(crate) fn code_of(answer: &DirectAnswer) -> String {
    match &answer.result.error {
        None => "ok".to_owned(),
        Some(error) => match &error.reason {
            None => error.code.word().to_owned(),
            Some(reason) => format!("{}({reason})", error.code.word()),
        },
    }
}
