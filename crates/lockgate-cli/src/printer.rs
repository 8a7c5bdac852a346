//! A run on its way to the screen: events as the journal accepts them, then the result.

use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};
use lockgate::contract::approval::Approval;
use lockgate::contract::event::{Body, Event};
use lockgate::contract::ports::Journal;
use lockgate::harness::{RunResult, RunState, RunnerOptions, Stop};
use serde::Serialize;

use crate::output::Output;
use crate::render::event::EventTable;
use crate::render::run::{Commands, calls, ending};

/// What is printed of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunView {
    /// How the run is printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: RunFormat,
    /// Every record of the journal under its own number, not only the protocol between model and tools
    #[arg(long)]
    pub(crate) all: bool,
    /// What else the result holds: the history as the model sees it, the events, a table of the calls
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(crate) include: Vec<Include>,
}

/// How a run is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// A table of the events, the answer, the status
    #[default]
    Human,
    /// One object: the result
    Json,
    /// One event a line as it happens, then one line of type `run.result`
    Jsonl,
}

/// What else the result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Include {
    /// `model_messages`
    Messages,
    /// `events`
    Events,
    /// A table of the calls, for people; JSON has `calls` anyway
    Calls,
}

/// Prints one run.
pub(crate) struct RunPrinter {
    output: Arc<Output>,
    view: RunView,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The journal's number of the last event.
    last: u64,
    /// The view's own number of the last event.
    number: u64,
    /// For the one object that is printed at the end.
    kept: Vec<Event>,
}

/// The result as a line or an object.
#[derive(Serialize)]
struct ResultView<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten)]
    result: &'a RunResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<&'a [Event]>,
}

impl RunPrinter {
    pub(crate) fn new(output: &Arc<Output>, view: RunView) -> Arc<Self> {
        Arc::new(Self { output: Arc::clone(output), view, seen: Mutex::default() })
    }

    /// How a runner tells this printer what happens.
    pub(crate) fn options(self: &Arc<Self>) -> RunnerOptions {
        let (printer, output) = (Arc::clone(self), Arc::clone(&self.output));
        RunnerOptions {
            observer: Some(Arc::new(move |event| printer.event(event))),
            progress: Some(Arc::new(move |words| output.progress(words))),
            ..RunnerOptions::default()
        }
    }

    /// Prints events that are in the journal already.
    pub(crate) fn events(&self, events: &[Event]) {
        for event in events {
            self.event(event);
        }
    }

    /// Prints an event, once.
    pub(crate) fn event(&self, event: &Event) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if event.seq <= seen.last {
            return;
        }
        seen.last = event.seq;
        if self.view.all || event.kind.in_protocol_view() {
            seen.number = if self.view.all { event.seq } else { seen.number + 1 };
            self.print(&mut seen, event);
        }
        if let Some(words) = under_way(event) {
            self.output.progress(&words);
        }
    }

    fn print(&self, seen: &mut Seen, event: &Event) {
        match self.view.format {
            RunFormat::Human => {
                let table = EventTable::new(self.view.all);
                let header = if seen.number == 1 { table.header() } else { String::new() };
                self.output.text(&format!("{header}{}", table.row(seen.number, event)));
            }
            RunFormat::Jsonl => self.output.line(&Event { seq: seen.number, ..event.clone() }),
            RunFormat::Json => seen.kept.push(Event { seq: seen.number, ..event.clone() }),
        }
    }

    /// Prints what the run came to, and what a person can do next.
    pub(crate) async fn ending(&self, state: &RunState, journal: &dyn Journal, commands: &Commands) {
        self.result(state);
        let mut waiting: Vec<Approval> = Vec::new();
        if let Some(Stop::WaitingForApproval(ids)) = state.stop() {
            for id in ids {
                // What cannot be read now is only missing from a hint.
                waiting.extend(journal.approval(id).await.ok().flatten());
            }
        }
        self.output.note(&commands.after(state, &waiting));
    }

    /// Prints what the run came to.
    pub(crate) fn result(&self, state: &RunState) {
        let includes = |what| self.view.include.contains(&what);
        let mut result = RunResult::of(state);
        if includes(Include::Messages) {
            result = result.with_messages(state);
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match self.view.format {
            RunFormat::Human => {
                if includes(Include::Calls) {
                    self.output.text(&calls(&result));
                }
                self.output.text(&ending(&result));
                if let Some(messages) = &result.model_messages {
                    self.output.page(messages);
                }
            }
            RunFormat::Json => {
                let events = (self.view.all || includes(Include::Events)).then_some(seen.kept.as_slice());
                self.output.object(&ResultView { kind: None, result: &result, events });
            }
            RunFormat::Jsonl => {
                self.output.line(&ResultView { kind: Some("run.result"), result: &result, events: None });
            }
        }
    }
}

/// What the run does from this event on, in a few words.
fn under_way(event: &Event) -> Option<String> {
    match event.body().ok()? {
        Body::ModelRequested(_) => Some(format!("step {}: asking the model", event.step)),
        Body::ToolRequested(requested) => Some(format!("step {}: {}", event.step, requested.tool_name)),
        Body::ToolStarted(started) => Some(format!("step {}: {} runs", event.step, started.tool_name)),
        _ => None,
    }
}
