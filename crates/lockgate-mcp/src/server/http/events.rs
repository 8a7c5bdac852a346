//! Server-sent events: what is to be sent on one stream, in a log that somebody reads.
//!
//! ```text
//! push ─► log (bounded) ─► Events, the body of one response
//!            │
//!            └ numbered logs keep what was read, so that a client that lost its connection reads on (Last-Event-ID)
//! ```
//!
//! Where nobody reads, the oldest events that may be forgotten are: memory is bounded, and answers are never lost to reports.

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};

use crate::server::result::one_line;

/// How much one log holds, in bytes, beside what must not be forgotten.
const MOST_KEPT: usize = 1 << 20;
/// How many messages may be unread where whoever writes can wait.
const MOST_UNREAD: u64 = 256;
/// What keeps those between from closing a silent connection.
const COMMENT: &[u8] = b": still here\n\n";
/// When a client that lost its connection comes back, in milliseconds.
const RETRY: u32 = 1000;

/// What is to be sent on one stream.
pub(super) struct EventLog {
    /// The stream's number in its session. Without one, what was read is forgotten.
    number: Option<u64>,
    state: Mutex<State>,
    /// Something was read.
    read: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the next event.
    next: u64,
    /// The number of the first event that was not read.
    unread: u64,
    /// Which reader reads: a later one takes over.
    reader: u64,
    waker: Option<Waker>,
    ended: bool,
}

struct Event {
    number: u64,
    text: Bytes,
    /// Whether it may be forgotten before it was read.
    report: bool,
}

impl EventLog {
    /// An empty log: numbered where its events are kept for a client that lost its connection.
    pub(super) fn new(number: Option<u64>) -> Arc<Self> {
        Arc::new(Self { number, state: Mutex::default(), read: Notify::new() })
    }

    /// The stream's number in its session.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }

    /// Adds a message.
    pub(super) fn push(&self, message: String, report: bool) {
        let mut state = self.state();
        let number = state.next;
        let message = one_line(message);
        let text = match self.number {
            Some(stream) => format!("id: {stream}-{number}\nevent: message\ndata: {message}\n\n"),
            None => format!("event: message\ndata: {message}\n\n"),
        };
        state.add(Bytes::from(text), report);
    }

    /// Adds an event that says nothing, so that a client knows where to go on (2025-11-25).
    pub(super) fn prime(&self) {
        if let Some(stream) = self.number {
            let mut state = self.state();
            let text = format!("id: {stream}-{}\nretry: {RETRY}\ndata: \n\n", state.next);
            state.add(Bytes::from(text), false);
        }
    }

    /// Nothing more comes.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.wake();
        drop(state);
        self.read.notify_waiters();
    }

    /// Waits until most of it was read.
    pub(super) async fn room(&self) {
        loop {
            let read = self.read.notified();
            let unread = {
                let state = self.state();
                if state.ended { 0 } else { state.next - state.unread }
            };
            if unread < MOST_UNREAD {
                return;
            }
            read.await;
        }
    }

    /// How many bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// Reads from the event after this one on; from the first that nobody read where none is named. Whoever read before stops.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>, keep_alive: Duration, held: Held) -> Events {
        let mut state = self.state();
        state.reader += 1;
        state.wake();
        let reader = state.reader;
        let at = after.map_or(state.unread, |after| after.saturating_add(1));
        drop(state);
        let revoked = Box::pin(held.revoked.clone().cancelled_owned());
        Events { log: Arc::clone(self), reader, at, keep_alive, silence: None, revoked, held }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, text: Bytes, report: bool) {
        self.bytes += text.len();
        self.events.push_back(Event { number: self.next, text, report });
        self.next += 1;
        while self.bytes > MOST_KEPT {
            let unread = self.unread;
            let forgettable = |event: &Event| event.report || event.number < unread;
            let Some(at) = self.events.iter().position(forgettable) else { break };
            if let Some(forgotten) = self.events.remove(at) {
                self.bytes -= forgotten.text.len();
            }
        }
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// What lasts as long as somebody reads.
#[derive(Default)]
pub(super) struct Held {
    /// Fires where the reader goes away before the end.
    pub(super) gone: Option<DropGuard>,
    /// Fires when whoever reads may read no more.
    pub(super) revoked: CancellationToken,
    /// Anything else.
    #[expect(dead_code, reason = "it is held, not read")]
    pub(super) besides: Option<Box<dyn std::any::Any + Send>>,
}

/// The events of one stream, as they come.
pub(super) struct Events {
    log: Arc<EventLog>,
    reader: u64,
    at: u64,
    keep_alive: Duration,
    silence: Option<Pin<Box<Sleep>>>,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
    held: Held,
}

impl Events {
    /// The next piece; nothing at the end.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.revoked.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        let log = Arc::clone(&self.log);
        let mut state = log.state();
        if state.reader != self.reader {
            return Poll::Ready(None);
        }
        let next = state.events.partition_point(|event| event.number < self.at);
        if let Some(event) = state.events.get(next) {
            let text = event.text.clone();
            self.at = event.number + 1;
            state.unread = state.unread.max(self.at);
            if log.number.is_none() {
                state.events.remove(next);
                state.bytes -= text.len();
            }
            self.silence = None;
            drop(state);
            log.read.notify_waiters();
            return Poll::Ready(Some(text));
        }
        if state.ended {
            drop(state);
            if let Some(gone) = self.held.gone.take() {
                gone.disarm();
            }
            return Poll::Ready(None);
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        drop(state);
        let keep_alive = self.keep_alive;
        let silence = self.silence.get_or_insert_with(|| Box::pin(tokio::time::sleep(keep_alive)));
        if silence.as_mut().poll(context).is_ready() {
            silence.as_mut().reset(Instant::now() + keep_alive);
            return Poll::Ready(Some(Bytes::from_static(COMMENT)));
        }
        Poll::Pending
    }
}

/// The stream and the event that `Last-Event-ID` names.
pub(super) fn event_id(value: &str) -> Option<(u64, u64)> {
    let (stream, event) = value.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}
