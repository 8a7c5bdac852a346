//! A mock's behaviour, and how far it has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockgate_contract::arguments::Arguments;
use lockgate_contract::tool::{Failure, Handler, Output};

use super::behaviour::Entry;
use super::count_file::{CountFile, on_disk};
use super::step::Step;
use crate::error::Problem;

/// What a mock does each time its handler is entered.
#[derive(Debug)]
pub(crate) struct Script {
    /// INVARIANT: there is a last one; it repeats.
    steps: Vec<Step>,
    last: Step,
    entered: AtomicU32,
    count_file: Option<CountFile>,
}

impl Script {
    /// Checks every entry. `entered_before` is how often the handler was already entered in this run.
    pub(crate) fn new(
        entries: Vec<Entry>,
        count_file: Option<CountFile>,
        entered_before: u32,
    ) -> Result<Self, Problem> {
        let steps = entries.into_iter().enumerate().map(|(index, entry)| {
            entry.into_step().map_err(|problem| Problem::Behaviour { number: index + 1, problem })
        });
        let mut steps = steps.collect::<Result<Vec<_>, _>>()?;
        let last = steps.pop().ok_or(Problem::NoBehaviour)?;
        Ok(Self { steps, last, entered: AtomicU32::new(entered_before), count_file })
    }

    /// A handler that follows the script.
    pub(crate) fn into_handler(self) -> Handler {
        let script = Arc::new(self);
        Handler::untyped(move |arguments, _context| {
            let script = Arc::clone(&script);
            async move { script.enter(&arguments).await }
        })
    }

    /// One entry of the handler: counted, written down, and only then acted.
    pub(super) async fn enter(&self, arguments: &Arguments) -> Result<Output, Failure> {
        let step = self.next();
        if let Some(count_file) = self.count_file.clone() {
            on_disk(move || count_file.add_one()).await?;
        }
        step.act(arguments).await
    }

    fn next(&self) -> &Step {
        let one_more = |entered: u32| Some(entered.saturating_add(1));
        // Both orderings are relaxed: nothing else is published with the count.
        let entered = self.entered.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).unwrap_or(u32::MAX);
        usize::try_from(entered).ok().and_then(|index| self.steps.get(index)).unwrap_or(&self.last)
    }
}
