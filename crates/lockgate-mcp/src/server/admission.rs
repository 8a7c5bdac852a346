//! How many requests one principal may have under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts what is under way.
pub(super) struct Admission {
    most: usize,
    under_way: Mutex<HashMap<Arc<str>, usize>>,
}

/// A request's place; free again once this is dropped.
pub(super) struct Permit {
    admission: Arc<Admission>,
    credential: Arc<str>,
}

impl Admission {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, under_way: Mutex::default() })
    }

    /// A place for one more request, where there is one.
    pub(super) fn admit(self: &Arc<Self>, credential: &str) -> Option<Permit> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let credential = match under_way.get_key_value(credential) {
            Some((credential, count)) if *count < self.most => Arc::clone(credential),
            None if self.most > 0 => Arc::from(credential),
            _ => return None,
        };
        *under_way.entry(Arc::clone(&credential)).or_default() += 1;
        Some(Permit { admission: Arc::clone(self), credential })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut under_way = self.admission.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = under_way.get_mut(&self.credential) {
            *count -= 1;
            if *count == 0 {
                under_way.remove(&self.credential);
            }
        }
    }
}
