//! The requests that are under way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::document::Document;
use lockgate_contract::ports::Caller;
use tokio::sync::{Notify, oneshot};

use super::ClientError;

/// By id: a later request has a greater one.
#[derive(Default)]
pub(super) struct Flights(Mutex<BTreeMap<i64, Flight>>);

/// A request that is under way.
pub(super) struct Flight {
    answer: oneshot::Sender<Result<Document, ClientError>>,
    pub(super) life: Arc<Life>,
    pub(super) caller: Option<Arc<dyn Caller>>,
    acknowledged: Option<oneshot::Sender<Document>>,
}

/// What is known of a request, apart from its answer.
#[derive(Default)]
pub(super) struct Life {
    /// A sign of life.
    pub(super) pulse: Notify,
    /// How many questions about it are being answered: it cannot be expected to go on.
    asking: AtomicUsize,
    /// How far it is on its way: one of those below.
    way: AtomicU8,
}

/// It waits to be sent.
const WAITING: u8 = 0;
/// It may have reached the server.
const SENT: u8 = 1;
/// Nobody waits for it any more, and it was not sent: nor will it be.
const GIVEN_UP: u8 = 2;

impl Life {
    /// It is about to be sent. False where it was given up: whoever gave it up was told that nothing happened.
    #[must_use]
    pub(super) fn may_be_sent(&self) -> bool {
        self.way.compare_exchange(WAITING, SENT, Ordering::AcqRel, Ordering::Acquire) != Err(GIVEN_UP)
    }

    /// Gives it up, if it was not sent: whether that is so, and stays so.
    #[must_use]
    pub(super) fn gives_up(&self) -> bool {
        self.way.compare_exchange(WAITING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire) != Err(SENT)
    }

    pub(super) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) > 0
    }

    /// For as long as a question is answered.
    pub(super) fn asking(self: Arc<Self>) -> Asking {
        self.asking.fetch_add(1, Ordering::AcqRel);
        Asking(self)
    }
}

/// A question that is being answered.
pub(super) struct Asking(Arc<Life>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::AcqRel);
        self.0.pulse.notify_one();
    }
}

impl Flight {
    pub(super) fn land(self, outcome: Result<Document, ClientError>) {
        // Whoever waited may have given up.
        let _ = self.answer.send(outcome);
    }
}

impl Flights {
    pub(super) fn open(
        &self,
        id: i64,
        caller: Option<Arc<dyn Caller>>,
        acknowledged: Option<oneshot::Sender<Document>>,
    ) -> (oneshot::Receiver<Result<Document, ClientError>>, Arc<Life>) {
        let (answer, receiver) = oneshot::channel();
        let life = Arc::new(Life::default());
        self.lock().insert(id, Flight { answer, life: life.clone(), caller, acknowledged });
        (receiver, life)
    }

    pub(super) fn take(&self, id: i64) -> Option<Flight> {
        self.lock().remove(&id)
    }

    /// Passes on what the server honours of a subscription.
    pub(super) fn acknowledge(&self, id: i64, honoured: &Document) {
        let listens = self.lock().get_mut(&id).and_then(|flight| flight.acknowledged.take());
        if let Some(listens) = listens {
            // Whoever asked may have given up.
            let _ = listens.send(honoured.clone());
        }
    }

    pub(super) fn has(&self, id: i64) -> bool {
        self.lock().contains_key(&id)
    }

    /// The id of the only one, where there is only one.
    pub(super) fn only(&self) -> Option<i64> {
        let flights = self.lock();
        if flights.len() == 1 { flights.keys().next().copied() } else { None }
    }

    pub(super) fn life(&self, id: i64) -> Option<Arc<Life>> {
        self.lock().get(&id).map(|flight| flight.life.clone())
    }

    /// Whoever can be asked about what came on the stream of a request, or on none: then the last who can.
    pub(super) fn caller(&self, via: Option<i64>) -> Option<(Arc<Life>, Arc<dyn Caller>)> {
        let flights = self.lock();
        let pair = |flight: &Flight| Some((flight.life.clone(), flight.caller.clone()?));
        match via {
            Some(id) => flights.get(&id).and_then(pair),
            None => flights.values().rev().find_map(pair),
        }
    }

    /// The only one who sent something and listens.
    pub(super) fn only_caller(&self) -> Option<Arc<dyn Caller>> {
        let flights = self.lock();
        let mut callers = flights.values().filter_map(|flight| flight.caller.clone());
        let only = callers.next()?;
        callers.next().is_none().then_some(only)
    }

    /// All of them end: nobody will answer.
    pub(super) fn lose(&self, why: &str) {
        for (_, flight) in std::mem::take(&mut *self.lock()) {
            let outcome = lost(&flight.life, why);
            flight.land(Err(outcome));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a request whose connection is gone.
pub(super) fn lost(life: &Life, why: &str) -> ClientError {
    if life.gives_up() { ClientError::NotSent(why.to_owned()) } else { ClientError::Lost(why.to_owned()) }
}
