//! Secrets that become known while texts are scrubbed already.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::builder::{MINIMUM_LENGTH, marker_start};
use crate::error::RedactError;
use crate::known::{KnownValues, Named};
use crate::secret::SecretValue;

/// The label of their markers.
pub(crate) const LABEL: &str = "credential";

/// So many values stay known that nobody holds any more: what was sent with one may still be on its way.
const MOST_PAST: usize = 64;
/// And so many bytes of them.
const MOST_PAST_BYTES: usize = 128 << 10;

/// Secrets that become known while texts are scrubbed already, such as a token that has just been got: every
/// [`Scrubber`](crate::Scrubber) that was built with them finds each from the moment on at which [`learn`](Self::learn) returns.
/// Cheap to clone; clones share what they know.
///
/// ```
/// use lockgate_contract::ports::Redactor;
/// use lockgate_redact::{LearnedSecrets, ScrubberBuilder, SecretValue};
///
/// let learned = LearnedSecrets::default();
/// let mut builder = ScrubberBuilder::new();
/// builder.learned(&learned);
/// let scrubber = builder.build()?;
/// let _held = learned.learn(&SecretValue::new("opensesame"))?;
/// assert!(scrubber.scrub("you sent opensesame").starts_with("you sent [redacted:credential#"));
/// # Ok::<(), lockgate_redact::RedactError>(())
/// ```
#[derive(Clone, Default)]
pub struct LearnedSecrets(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Whether there is anything to look for: without, a text costs nothing.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last one that was learned stands last.
    values: VecDeque<Arc<Named>>,
    known: Option<Arc<KnownValues>>,
}

/// A secret stays known as long as this is kept, and a while longer.
#[must_use = "a secret that nobody holds is forgotten after others"]
pub struct Learned(#[expect(dead_code, reason = "it is held, not read")] Arc<Named>);

impl LearnedSecrets {
    /// From now on this value is found, in all the forms of [`ScrubberBuilder::secret`](crate::ScrubberBuilder::secret).
    /// One of several lines is found in whole texts only, and not in those that come in pieces.
    ///
    /// # Errors
    ///
    /// [`RedactError::SecretTooShort`], [`RedactError::ValueInMarker`] and [`RedactError::Automaton`], as for a value that
    /// is known from the beginning. It is not kept out of texts then.
    pub fn learn(&self, value: &SecretValue) -> Result<Learned, RedactError> {
        let trimmed = value.expose().trim();
        let length = trimmed.chars().count();
        if length < MINIMUM_LENGTH {
            return Err(RedactError::SecretTooShort { name: LABEL.to_owned(), length });
        }
        if marker_start(LABEL).contains(trimmed) {
            return Err(RedactError::ValueInMarker { name: LABEL.to_owned() });
        }
        let mut state = self.state();
        if let Some(at) = state.values.iter().position(|known| known.value.expose() == trimmed)
            && let Some(known) = state.values.remove(at)
        {
            state.values.push_back(Arc::clone(&known));
            return Ok(Learned(known));
        }
        let new = Arc::new(Named { name: LABEL.into(), value: SecretValue::new(trimmed) });
        let mut values = state.values.clone();
        forget_the_past(&mut values);
        values.push_back(Arc::clone(&new));
        let known = KnownValues::new(values.iter().map(|value| Named::clone(value)).collect())?;
        *state = State { values, known: Some(Arc::new(known)) };
        self.0.any.store(true, Ordering::Release);
        Ok(Learned(new))
    }

    /// What is looked for now; nothing where nothing was learned.
    pub(crate) fn current(&self) -> Option<Arc<KnownValues>> {
        if !self.0.any.load(Ordering::Acquire) {
            return None;
        }
        self.state().known.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes out the oldest of those that nobody holds, where they are too many.
fn forget_the_past(values: &mut VecDeque<Arc<Named>>) {
    // Two hold each of them here: the list in force, and the one that is being made.
    let is_past = |value: &Arc<Named>| Arc::strong_count(value) <= 2;
    let (mut count, mut bytes) = (0, 0);
    for index in (0..values.len()).rev() {
        let Some(value) = values.get(index).filter(|value| is_past(value)) else { continue };
        count += 1;
        bytes += value.value.expose().len();
        if count > MOST_PAST || bytes > MOST_PAST_BYTES {
            values.remove(index);
        }
    }
}

impl fmt::Debug for LearnedSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LearnedSecrets").field("count", &self.state().values.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Learned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Learned")
    }
}

#[cfg(test)]
mod tests;
