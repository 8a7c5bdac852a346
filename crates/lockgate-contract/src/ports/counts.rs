//! How many calls were admitted, as a policy asks for it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ports::{BoxFuture, Count, JournalError, Seen};

/// The numbers that one decision looks at. An engine reads those that its answer depends on; whoever asked the engine finds
/// them in [`Counts::seen`], so that nothing between the two can forget one, and admits the call only as long as they hold.
///
/// ```
/// use lockgate_contract::ports::{Count, Counts, Per};
///
/// let payments =
///     Count { name: "payments".into(), tool: Some("pay".into()), effect: None, per: Per::Tenant, within: None, from: None };
/// let counts = Counts::of([(payments.clone(), 4)]);
/// assert_eq!(counts.get(&payments), Some(4));
/// ```
pub struct Counts<'r> {
    reader: Option<&'r dyn CountReader>,
    known: Mutex<Known>,
}

/// Where the numbers come from.
pub trait CountReader: Send + Sync {
    /// How many calls were admitted by now, for each of these.
    fn admitted<'a>(&'a self, counts: &'a [Count]) -> BoxFuture<'a, Result<Vec<u64>, JournalError>>;
}

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Count, u64>,
    /// What an answer depends on that acts.
    binding: Vec<Count>,
    failure: Option<JournalError>,
}

/// Why a number is not known.
struct Missing {
    text: String,
    journal: Option<JournalError>,
}

impl<'r> Counts<'r> {
    /// Read when they are asked for.
    pub fn read_by(reader: &'r dyn CountReader) -> Self {
        Self { reader: Some(reader), known: Mutex::default() }
    }

    /// These and no others: what else is asked for is not known.
    pub fn of(numbers: impl IntoIterator<Item = (Count, u64)>) -> Self {
        let known = Known { numbers: numbers.into_iter().collect(), ..Known::default() };
        Self { reader: None, known: Mutex::new(known) }
    }

    /// None is known.
    pub fn unknown() -> Self {
        Self::of([])
    }

    /// Reads numbers that an answer will depend on. Each is read once a decision.
    ///
    /// # Errors
    ///
    /// Why one of them is not known: there is no answer without it.
    pub async fn read(&self, counts: &[Count]) -> Result<(), String> {
        if counts.is_empty() {
            return Ok(());
        }
        let fetched = self.fetch(counts).await;
        let mut known = self.known();
        if let Err(Missing { journal: Some(error), .. }) = &fetched {
            known.failure = Some(error.clone());
        }
        fetched.map_err(|missing| missing.text)?;
        for count in counts {
            if !known.binding.contains(count) {
                known.binding.push(count.clone());
            }
        }
        Ok(())
    }

    /// Reads numbers for an answer that is only written down, and that nothing follows from.
    ///
    /// # Errors
    ///
    /// Why one of them is not known.
    pub async fn look(&self, counts: &[Count]) -> Result<(), String> {
        self.fetch(counts).await.map_err(|missing| missing.text)
    }

    async fn fetch(&self, counts: &[Count]) -> Result<(), Missing> {
        let missing: Vec<Count> = {
            let known = self.known();
            counts.iter().filter(|count| !known.numbers.contains_key(*count)).cloned().collect()
        };
        let Some(first) = missing.first() else { return Ok(()) };
        let Some(reader) = self.reader else {
            return Err(Missing { text: format!("the count `{}` is not known here", first.name), journal: None });
        };
        match reader.admitted(&missing).await {
            Ok(numbers) if numbers.len() == missing.len() => {
                self.known().numbers.extend(missing.into_iter().zip(numbers));
                Ok(())
            }
            Ok(_) => {
                let error = JournalError::unavailable("it has not answered every count");
                Err(Missing { text: error.to_string(), journal: Some(error) })
            }
            Err(error) => {
                let text = format!("the count `{}` cannot be read: {error}", first.name);
                Err(Missing { text, journal: Some(error) })
            }
        }
    }

    /// A number that was read.
    pub fn get(&self, count: &Count) -> Option<u64> {
        self.known().numbers.get(count).copied()
    }

    /// What the answer depends on.
    pub fn seen(&self) -> Vec<Seen> {
        let known = self.known();
        let seen = known.binding.iter().filter_map(|count| {
            known.numbers.get(count).map(|admitted| Seen { count: count.clone(), admitted: *admitted })
        });
        seen.collect()
    }

    /// Why the journal did not answer what an answer depends on, where it did not.
    pub fn failure(&self) -> Option<JournalError> {
        self.known().failure.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change is one step: a panic leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.known().fmt(f)
    }
}

#[cfg(test)]
mod tests;
