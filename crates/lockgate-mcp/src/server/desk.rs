//! Where one service is offered: what all its clients share, whatever they came by.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockgate_contract::document::Document;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::{Admission, Permit, Stay};
use super::parking::Parking;
use super::{Principal, Service, Standing};
use crate::wire::{RpcError, code};

/// How much is taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, in bytes.
    pub message_bytes: usize,
    /// How many requests of one principal are under way at once, streams included.
    pub requests: usize,
    /// How many calls of one principal wait at once for a client that comes back with answers. One more, and the oldest is given up.
    pub questions: usize,
    /// How long an answer to a question is waited for.
    pub answer_within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message_bytes: 4 << 20, requests: 256, questions: 64, answer_within: Duration::from_mins(10) }
    }
}

/// How deep a message may be. What it carries is judged by whoever it is for.
pub(super) const DEEPEST_MESSAGE: usize = 200;

/// One service, with what is under way.
pub(super) struct Desk {
    pub(super) service: Arc<dyn Service>,
    pub(super) limits: Limits,
    pub(super) parking: Arc<Parking>,
    /// Fires when no more is taken on: streams end, and questions are given up.
    pub(super) closing: CancellationToken,
    /// What goes on beside requests.
    pub(super) tasks: TaskTracker,
    admission: Arc<Admission>,
    info: OnceLock<Document>,
}

impl Desk {
    /// Offers a service.
    ///
    /// # Errors
    ///
    /// The system has no randomness to give.
    pub(super) fn new(service: Arc<dyn Service>, limits: Limits) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            service,
            limits,
            parking: Arc::new(Parking::new(limits.answer_within, limits.questions)?),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            admission: Admission::new(limits.requests),
            info: OnceLock::new(),
        }))
    }

    /// A place for one more request of this principal.
    ///
    /// # Errors
    ///
    /// It has too many under way.
    pub(super) fn admit(&self, principal: &Principal, stay: Stay) -> Result<Permit, RpcError> {
        self.admission.admit(principal, stay).ok_or_else(|| {
            let most = self.limits.requests;
            RpcError::new(
                code::INTERNAL_ERROR,
                format!("too many requests at once: {most} are under way; try again later"),
            )
        })
    }

    /// Ends what is under way, and what waits, for those who may have it no more.
    pub(super) fn judge(&self, standing: &dyn Fn(&Principal) -> Standing) {
        self.admission.judge(standing);
        self.parking.judge(standing);
    }

    /// What this server says about itself: asked for once, for it goes with every result.
    pub(super) fn info(&self, principal: &Principal) -> &Document {
        self.info.get_or_init(|| self.service.facts(principal).info)
    }

    /// Takes no more on; what is under way goes on for a while, then it is told to stop.
    pub(super) async fn close(&self, patience: Duration) {
        self.closing.cancel();
        self.tasks.close();
        // What goes on beyond that ends with the process.
        let _too_long = tokio::time::timeout(patience, self.tasks.wait()).await;
    }
}
