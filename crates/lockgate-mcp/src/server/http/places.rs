//! How many connections there are, and which of them gives way to the next.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The places of a listener.
pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Mutex<Taken>,
    /// One may have become idle.
    idle: Notify,
}

#[derive(Default)]
struct Taken {
    last: u64,
    by_number: HashMap<u64, Arc<Shared>>,
}

/// The place of one connection; free again once this is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    shared: Arc<Shared>,
    _free: OwnedSemaphorePermit,
}

struct Shared {
    /// Requests under way, and how many there were.
    busy: AtomicUsize,
    begun: AtomicUsize,
    /// Since when there is none.
    since: Mutex<Instant>,
    give_way: CancellationToken,
}

/// A request is under way as long as this is there.
pub(super) struct Busy {
    places: Arc<Places>,
    shared: Arc<Shared>,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(most)), taken: Mutex::default(), idle: Notify::new() })
    }

    /// A place for a connection that is there already. Where none is free, the connection gives way that has had no request under way
    /// for longest; where all have one, the next that is done does.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Place> {
        let mut taking = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        let free = loop {
            let idle = self.idle.notified();
            tokio::select! {
                biased;
                free = &mut taking => break free.ok()?,
                () = std::future::ready(()) => {}
            }
            self.make_room();
            tokio::select! {
                free = &mut taking => break free.ok()?,
                () = idle => {}
            }
        };
        let shared = Arc::new(Shared {
            busy: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            since: Mutex::new(Instant::now()),
            give_way: CancellationToken::new(),
        });
        let mut taken = self.lock();
        taken.last += 1;
        let number = taken.last;
        taken.by_number.insert(number, Arc::clone(&shared));
        drop(taken);
        Some(Place { places: Arc::clone(self), number, shared, _free: free })
    }

    /// Has the longest idle one go, where there is one.
    fn make_room(&self) {
        let taken = self.lock();
        let idle = taken.by_number.values().filter_map(|shared| Some((shared.idle_since()?, shared)));
        if let Some((_, shared)) = idle.min_by_key(|(since, _)| *since) {
            shared.give_way.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Fires when another connection needs the place more.
    pub(super) fn gives_way(&self) -> &CancellationToken {
        &self.shared.give_way
    }

    /// Whether a request is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire) > 0
    }

    /// How many requests began so far.
    pub(super) fn begun(&self) -> usize {
        self.shared.begun.load(Ordering::Acquire)
    }

    /// A request begins.
    pub(super) fn begins(&self) -> Busy {
        self.shared.begun.fetch_add(1, Ordering::AcqRel);
        self.busy()
    }

    /// Something is under way.
    pub(super) fn busy(&self) -> Busy {
        self.shared.busy.fetch_add(1, Ordering::AcqRel);
        Busy { places: Arc::clone(&self.places), shared: Arc::clone(&self.shared) }
    }
}

impl Shared {
    /// Since when nothing is under way; nothing where something is, or where it goes already.
    fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.busy.load(Ordering::Acquire) == 0 && !self.give_way.is_cancelled();
        is_idle.then(|| *self.since.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().by_number.remove(&self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *self.shared.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if self.shared.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.places.idle.notify_one();
        }
    }
}
