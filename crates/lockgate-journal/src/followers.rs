//! Whoever follows a run: woken when it has something new.
//!
//! A wake-up is a hint, never the news itself: whoever is woken reads, from the number on that he has. So one that was lost
//! costs a second, and one too many costs a read.

use std::time::Duration;

use lockgate_contract::event::Event;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Journal, JournalError};
use tokio::runtime::Handle;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::timeout;

/// How long a follower waits before it looks by itself: what other processes write says nothing here.
const LOOK: Duration = Duration::from_secs(1);

/// Wake-ups that a follower may fall behind. More, and it looks at once.
const BEHIND: usize = 256;

/// All that follow a run of one journal.
pub(crate) struct Followers {
    woken: broadcast::Sender<RunId>,
    /// Whose timers they wait by; without, those of the runtime around them.
    timers: Option<Handle>,
}

impl Followers {
    pub(crate) fn new(timers: Option<Handle>) -> Self {
        Self { woken: broadcast::Sender::new(BEHIND), timers }
    }

    /// This run has something new.
    pub(crate) fn wake(&self, run: &RunId) {
        if self.woken.receiver_count() > 0 {
            // Without receivers by now, nobody waits.
            let _ = self.woken.send(run.clone());
        }
    }

    /// Reads a run until there is an event after `after`.
    pub(crate) async fn follow(
        &self,
        journal: &dyn Journal,
        run: &RunId,
        after: u64,
    ) -> Result<Vec<Event>, JournalError> {
        // From before the first read on, so that nothing falls in between.
        let mut woken = self.woken.subscribe();
        loop {
            let events = journal.events(run, after).await?;
            if !events.is_empty() {
                return Ok(events);
            }
            let waiting = {
                let _timers = self.timers.as_ref().map(Handle::enter);
                timeout(LOOK, is_named(&mut woken, run))
            };
            // Woken, behind, or a second later: it looks.
            let _ = waiting.await;
        }
    }
}

/// Waits until the run is named, or may have been.
async fn is_named(woken: &mut broadcast::Receiver<RunId>, run: &RunId) {
    loop {
        match woken.recv().await {
            Ok(named) if named != *run => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            // INVARIANT: the sender lives as long as the journal, which is borrowed here.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
