//! What one connection hears, for the supervisor: in its order, bounded, and without losing what counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Notify, mpsc};

use crate::client::{Event, List, Listener};

/// Events of one connection that may wait.
const MOST_EVENTS: usize = 256;

/// What one connection hears; what there was no room for comes once there is.
pub(super) struct Heard {
    events: mpsc::Receiver<Event>,
    missed: Arc<Missed>,
}

/// What there was no room for, and counts.
#[derive(Default)]
struct Missed {
    /// Why the connection is gone.
    lost: OnceLock<String>,
    /// A list is another one.
    changed: AtomicBool,
    something: Notify,
}

/// The ear of a connection, and what comes out of it.
pub(super) fn hearing() -> (Arc<dyn Listener>, Heard) {
    let (sender, events) = mpsc::channel(MOST_EVENTS);
    let missed = Arc::<Missed>::default();
    let ear = Ear { sender, missed: Arc::clone(&missed) };
    (Arc::new(ear), Heard { events, missed })
}

impl Heard {
    /// The next event; nothing once nobody is left who could say one.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.next_already() {
                return Some(event);
            }
            tokio::select! {
                event = self.events.recv() => return event,
                () = self.missed.something.notified() => {}
            }
        }
    }

    /// What is there without waiting.
    pub(super) fn next_already(&mut self) -> Option<Event> {
        if let Ok(event) = self.events.try_recv() {
            return Some(event);
        }
        // All lists are read at once, whichever it was.
        if self.missed.changed.swap(false, Ordering::AcqRel) {
            return Some(Event::ListChanged(List::Tools));
        }
        self.missed.lost.get().cloned().map(Event::Lost)
    }
}

/// It never waits: what nobody can take any more is dropped, but for a change and the end.
struct Ear {
    sender: mpsc::Sender<Event>,
    missed: Arc<Missed>,
}

impl Listener for Ear {
    fn heard(&self, event: Event) {
        let Err(mpsc::error::TrySendError::Full(event)) = self.sender.try_send(event) else { return };
        match event {
            Event::Lost(why) => drop(self.missed.lost.set(why)),
            Event::ListChanged(_) => self.missed.changed.store(true, Ordering::Release),
            Event::Noise(_) | Event::Log(_) | Event::ResourceUpdated(_) => {
                tracing::warn!("a server says more than can be heard");
                return;
            }
        }
        self.missed.something.notify_one();
    }
}

#[cfg(test)]
mod tests;
