//! Bounded runs: the pure state machine, its drivers, budgets, waiting and resuming.
