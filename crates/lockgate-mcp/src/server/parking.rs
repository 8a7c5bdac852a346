//! Calls that wait for answers from a client that has to come back with them (`input_required`).
//!
//! ```text
//! Call asks ─► park: state to the client, a task keeps the call going
//!                      │ retry with the state: the task hands the call over
//!                      │ nobody in time, or one too many: the question is given up, the call is cancelled and polled to its end
//! ```
//!
//! A state is used once: a call that asks again gets another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::call::Call;
use super::question::Question;
use super::seal::{Bound, Handle, Seal};
use super::{Peer as _, Principal, Standing};

/// A call with the questions that it waits for.
pub(super) type Waiting = (Call, Question);

/// Where calls wait.
pub(super) struct Parking {
    seal: Seal,
    patience: Duration,
    most: usize,
    lot: Mutex<HashMap<Handle, Place>>,
}

/// How a waiting call is reached.
struct Place {
    principal: Principal,
    until: Instant,
    /// Takes the sender that the call is handed over by. Dropped: the call is given up.
    claim: oneshot::Sender<oneshot::Sender<Waiting>>,
}

impl Parking {
    /// Calls wait for `patience`, and no more than `most` of them for one credential.
    ///
    /// # Errors
    ///
    /// The system has no randomness to give.
    pub(super) fn new(patience: Duration, most: usize) -> std::io::Result<Self> {
        Ok(Self { seal: Seal::new()?, patience, most, lot: Mutex::default() })
    }

    /// Keeps a call going until somebody comes for it; the state that the client has to come with.
    pub(super) fn park(self: &Arc<Self>, call: Call, question: Question, bound: &Bound<'_>) -> std::io::Result<String> {
        let mut handle: Handle = [0; 16];
        handle.copy_from_slice(&lockgate_host::randomness::secret_bytes()?[..16]);
        let until = Instant::now() + self.patience;
        let (claim, claimed) = oneshot::channel();
        {
            let mut lot = self.lot.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = || lot.iter().filter(|(_, place)| place.principal.credential == bound.credential);
            if mine().count() >= self.most
                && let Some(oldest) = mine().min_by_key(|(_, place)| place.until).map(|(handle, _)| *handle)
            {
                lot.remove(&oldest);
            }
            lot.insert(handle, Place { principal: call.peer().principal().clone(), until, claim });
        }
        let state = self.seal.close(&handle, bound);
        let parking = Arc::clone(self);
        let tasks = call.desk().tasks.clone();
        tasks.spawn(async move { parking.keep(handle, call, question, claimed, until).await });
        Ok(state)
    }

    /// The call that a state names, with its questions; nothing where the state is not this credential's, not for this
    /// request, used already or too late.
    pub(super) async fn claim(&self, state: &str, bound: &Bound<'_>) -> Option<Waiting> {
        let handle = self.seal.open(state, bound)?;
        let place = self.take(&handle)?;
        let (hand_over, handed_over) = oneshot::channel();
        place.claim.send(hand_over).ok()?;
        handed_over.await.ok()
    }

    /// Gives up the questions of those whose credential was taken back.
    pub(super) fn judge(&self, standing: &dyn Fn(&Principal) -> Standing) {
        let mut lot = self.lot.lock().unwrap_or_else(PoisonError::into_inner);
        lot.retain(|_, place| standing(&place.principal) != Standing::Revoked);
    }

    async fn keep(
        &self,
        handle: Handle,
        mut call: Call,
        mut question: Question,
        claimed: oneshot::Receiver<oneshot::Sender<Waiting>>,
        until: Instant,
    ) {
        let closing = call.desk().closing.clone();
        tokio::select! {
            biased;
            claimed = claimed => {
                if let Ok(hand_over) = claimed {
                    match hand_over.send((call, question)) {
                        Ok(()) => return,
                        // Whoever came for it is gone again.
                        Err(waiting) => (call, question) = waiting,
                    }
                }
            }
            () = call.keep_going() => {}
            () = closing.cancelled() => {}
            () = sleep_until(until) => {}
        }
        self.take(&handle);
        question.give_up();
        call.abandon();
    }

    fn take(&self, handle: &Handle) -> Option<Place> {
        self.lot.lock().unwrap_or_else(PoisonError::into_inner).remove(handle)
    }
}
