//! A run drawn by hand, for tests of the machine: events in, commands out. No runtime, no journal, no tool.

mod calls;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::{
    Body, Event, ModelFailed, ModelRequested, ModelResponded, NewEvent, RespondedCall, RunResumed,
};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::Usage;
use lockgate_contract::run::{Budget, RunBinding, RunKind, RunStart};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;

pub(crate) use self::words::{place, words};
use crate::plan::{Command, Facts};
use crate::state::RunState;
use crate::stop::Stop;

/// When every sketch begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// How long a question of a sketch stays open, in milliseconds.
pub(crate) const OPEN_FOR: i64 = 60_000;

/// A run's events so far. Calls are named by their place in the last turn.
///
/// Its tools: `look` reads; `peek` and `stat` read and share a resource; `note` and `pay` change something and are never
/// repeated; `put` changes something and may be repeated; `finish` ends the run.
#[derive(Clone)]
pub(crate) struct Sketch {
    pub(crate) events: Vec<Event>,
    run_id: RunId,
    now: Timestamp,
    turns: u32,
}

impl Sketch {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// With other limits.
    pub(crate) fn within(change: impl FnOnce(&mut Budget)) -> Self {
        Self::with(|start| change(&mut start.budget))
    }

    pub(crate) fn with(change: impl FnOnce(&mut RunStart)) -> Self {
        let names = ["finish", "look", "note", "pay", "peek", "put", "stat"];
        let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let mut start = RunStart {
            kind: RunKind::Agent,
            task: Some("a task".to_owned()),
            system: None,
            subject: Subject::default(),
            binding: RunBinding {
                allowed: AllowedTools::new("test", names.map(|name| (name.to_owned(), Digest::of_text("test", name)))),
                completes_run: set(&["finish"]),
                reads: BTreeMap::from([
                    ("look".to_owned(), BTreeSet::new()),
                    ("peek".to_owned(), set(&["disk", "lamp"])),
                    ("stat".to_owned(), set(&["disk"])),
                ]),
                replayable: set(&["look", "peek", "put", "stat"]),
                keyed: BTreeMap::new(),
                reconcilable: BTreeSet::new(),
            },
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            model: None,
            run_file: None,
            chained: false,
        };
        change(&mut start);
        let mut sketch = Self { events: Vec::new(), run_id: RunId::from_random(0xa_11ce), now: START, turns: 0 };
        sketch.push(None, &Body::RunStarted(Box::new(start)));
        sketch
    }

    /// The model is asked and answers with calls of these tools.
    pub(crate) fn turn(&mut self, names: &[&str]) -> &mut Self {
        let calls: Vec<_> = names.iter().map(|name| (*name, "{}", false)).collect();
        self.turn_of(None, &calls)
    }

    /// The model is asked and answers with text alone.
    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.turn_of(Some(text), &[])
    }

    /// The model is asked and answers; calls are name, argument text, and whether a secret was taken out of it.
    pub(crate) fn turn_of(&mut self, text: Option<&str>, calls: &[(&str, &str, bool)]) -> &mut Self {
        self.answers(text, calls, ActionLanguage::Call)
    }

    /// The model is asked and answers with code; name, text, and whether a secret was taken out of it.
    pub(crate) fn writes_code(&mut self, actions: &[(&str, &str, bool)]) -> &mut Self {
        self.answers(None, actions, ActionLanguage::Code)
    }

    fn answers(&mut self, text: Option<&str>, calls: &[(&str, &str, bool)], language: ActionLanguage) -> &mut Self {
        self.asks();
        self.turns += 1;
        let calls = calls.iter().zip(0..).map(|((name, arguments, redacted), index)| RespondedCall {
            call_id: self.call(index),
            provider_call_id: format!("p{index}"),
            tool_name: (*name).to_owned(),
            arguments_text: (*arguments).to_owned(),
            language,
            redacted: *redacted,
        });
        let calls = calls.collect();
        let body = ModelResponded { text: text.map(str::to_owned), calls, items: Vec::new(), usage: Usage::default() };
        self.push(None, &Body::ModelResponded(body))
    }

    /// The model is asked; no answer yet.
    pub(crate) fn asks(&mut self) -> &mut Self {
        self.turns += 1;
        self.push(None, &Body::ModelRequested(ModelRequested { messages: 1, tools: 1 }));
        self.turns -= 1;
        self
    }

    /// The model is asked and gives no answer.
    pub(crate) fn model_fails(&mut self, reason: &str) -> &mut Self {
        self.asks();
        let body = ModelFailed { reason: reason.to_owned(), detail: "why".to_owned() };
        self.push(None, &Body::ModelFailed(body))
    }

    pub(crate) fn stopped(&mut self, stop: Stop) -> &mut Self {
        self.push(None, &stop.event())
    }

    pub(crate) fn resumed(&mut self, budget: Option<Budget>) -> &mut Self {
        self.push(None, &Body::RunResumed(RunResumed { budget }))
    }

    /// Time goes by.
    pub(crate) fn pass(&mut self, millis: i64) -> &mut Self {
        self.now = Timestamp::from_millis(self.now.as_millis() + millis);
        self
    }

    /// Any event, about a call of the last turn.
    pub(crate) fn push(&mut self, call: Option<u32>, body: &Body) -> &mut Self {
        let step = self.turns.saturating_sub(1);
        self.push_raw(NewEvent::new(step, call.map(|index| self.call(index)), body.clone()))
    }

    pub(crate) fn push_raw(&mut self, event: NewEvent) -> &mut Self {
        let seq = self.events.len() as u64 + 1;
        self.events.push(event.numbered(self.run_id.clone(), seq, self.now));
        self
    }

    /// A call of the last turn.
    pub(crate) fn call(&self, index: u32) -> CallId {
        self.run_id.call(self.turns.saturating_sub(1), index)
    }

    pub(crate) fn state(&self) -> RunState {
        RunState::fold(&self.events).unwrap()
    }

    /// What comes next for a driver that was just started.
    pub(crate) fn next(&self) -> String {
        self.seen(&Seen::default())
    }

    /// What comes next, in words.
    pub(crate) fn seen(&self, seen: &Seen) -> String {
        words(&self.command(seen))
    }

    /// What comes next. Asked twice: the question changes nothing.
    pub(crate) fn command(&self, seen: &Seen) -> Command {
        let state = self.state();
        let ids = |places: &[u32]| places.iter().map(|index| self.call(*index)).collect::<BTreeSet<_>>();
        let (held, unredacted) = (ids(&seen.held), ids(&seen.unredacted));
        let facts = Facts {
            now: self.now,
            cancelled: seen.cancelled,
            held: &held,
            unredacted: &unredacted,
            parallel_reads: seen.parallel_reads,
        };
        let (before, command) = (format!("{state:?}"), state.next(&facts));
        assert_eq!(format!("{command:?}"), format!("{:?}", state.next(&facts)));
        assert_eq!(before, format!("{state:?}"));
        command
    }

    fn name(&self, call: u32) -> String {
        let state = self.state();
        let turn = state.turns().last().unwrap();
        turn.calls[call as usize].tool_name.clone()
    }
}

/// What the driver knows; calls are named by their place in the last turn.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) cancelled: bool,
    pub(crate) held: Vec<u32>,
    pub(crate) unredacted: Vec<u32>,
    pub(crate) parallel_reads: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Self { cancelled: false, held: Vec::new(), unredacted: Vec::new(), parallel_reads: 8 }
    }
}

impl Seen {
    pub(crate) fn cancelled() -> Self {
        Self { cancelled: true, ..Self::default() }
    }

    pub(crate) fn held(places: &[u32]) -> Self {
        Self { held: places.to_vec(), ..Self::default() }
    }
}
