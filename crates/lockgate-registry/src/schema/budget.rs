//! How long a validation may go on.

use std::cell::Cell;

/// How many steps a validation may take.
///
/// The work grows with the product of schema and value, and with some schemas (`unevaluatedProperties` in a recursion with
/// alternatives) by a power of the value's depth. When the budget is spent, every value reads as `null` without anything
/// inside, so that the validation ends soon; its result means nothing then.
pub(super) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    const AT_LEAST: u64 = 1_000_000;
    const FOR_EACH_BYTE: u64 = 50;

    /// For a document with a text of this length.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self::of(as_steps(bytes).saturating_mul(Self::FOR_EACH_BYTE).saturating_add(Self::AT_LEAST))
    }

    pub(super) fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    fn of(steps: u64) -> Self {
        Self { left: Cell::new(steps) }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    pub(super) fn spend(&self, steps: usize) {
        self.left.set(self.left.get().saturating_sub(as_steps(steps)));
    }
}

fn as_steps(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
