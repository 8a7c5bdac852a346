//! How many requests one principal may have under way, and which of them end when its credential does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{Principal, Standing};

/// Counts what is under way.
pub(super) struct Admission {
    most: usize,
    under_way: Mutex<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    last: u64,
    by_credential: HashMap<Arc<str>, HashMap<u64, Holder>>,
}

/// Whoever holds a place.
struct Holder {
    principal: Principal,
    stay: Stay,
    revoked: CancellationToken,
}

/// How long a request is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stay {
    /// Until it is answered: one that was let in goes on though its credential's time is over meanwhile.
    UntilAnswered,
    /// For as long as somebody listens, and may.
    Listening,
}

/// A request's place; free again once this is dropped.
pub(super) struct Permit {
    admission: Arc<Admission>,
    credential: Arc<str>,
    number: u64,
    revoked: CancellationToken,
}

impl Admission {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, under_way: Mutex::default() })
    }

    /// A place for one more request, where there is one.
    pub(super) fn admit(self: &Arc<Self>, principal: &Principal, stay: Stay) -> Option<Permit> {
        let mut under_way = self.lock();
        let credential = match under_way.by_credential.get_key_value(principal.credential.as_str()) {
            Some((credential, holders)) if holders.len() < self.most => Arc::clone(credential),
            None if self.most > 0 => Arc::from(principal.credential.as_str()),
            _ => return None,
        };
        under_way.last += 1;
        let (number, revoked) = (under_way.last, CancellationToken::new());
        let holder = Holder { principal: principal.clone(), stay, revoked: revoked.clone() };
        under_way.by_credential.entry(Arc::clone(&credential)).or_default().insert(number, holder);
        Some(Permit { admission: Arc::clone(self), credential, number, revoked })
    }

    /// Ends what is under way for those who may have it no more.
    pub(super) fn judge(&self, standing: &dyn Fn(&Principal) -> Standing) {
        let under_way = self.lock();
        for holder in under_way.by_credential.values().flat_map(HashMap::values) {
            match (standing(&holder.principal), holder.stay) {
                (Standing::Good, _) | (Standing::Over, Stay::UntilAnswered) => {}
                (Standing::Over, Stay::Listening) | (Standing::Revoked, _) => holder.revoked.cancel(),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Fires when whoever holds it may have nothing more of it.
    pub(super) fn revoked(&self) -> &CancellationToken {
        &self.revoked
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut under_way = self.admission.lock();
        if let Some(holders) = under_way.by_credential.get_mut(&self.credential) {
            holders.remove(&self.number);
            if holders.is_empty() {
                under_way.by_credential.remove(&self.credential);
            }
        }
    }
}
