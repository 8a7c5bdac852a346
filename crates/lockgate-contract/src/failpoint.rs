//! Named places at which a test may end the process: the crash points of `docs/crash-matrix.md`.
//!
//! Without the feature `failpoints` a point is nothing at all. With it, a program that configures a point (crate `fail`) has
//! its callback called there; one that configures none does what it does without the feature.

/// Makes the points, their words and the list of all of them out of one table.
macro_rules! points {
    ($($(#[doc = $doc:literal])+ $point:ident = $word:literal,)+) => {
        /// A place at which a process may die.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Point {
            $($(#[doc = $doc])+ $point,)+
        }

        impl Point {
            /// Every point there is, so that no matrix misses one.
            pub const ALL: &[Self] = &[$(Self::$point),+];

            /// Its name.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$point => $word,)+
                }
            }
        }
    };
}

points! {
    /// Everything of a commit is written, and nothing is committed.
    CommitBefore = "journal.commit.before",
    /// The commit stands, and nobody was told.
    CommitAfter = "journal.commit.after",
    /// A new run has its row.
    CreateRun = "journal.create.run",
    /// A run has its next driver.
    HoldLease = "journal.hold.lease",
    /// The run's counter was raised.
    AppendNumbers = "journal.append.numbers",
    /// An event has its row; in PostgreSQL, all of a commit.
    AppendEvent = "journal.append.event",
    /// A question has its row.
    AskApproval = "journal.ask.approval",
    /// A claim has read that its driver may claim.
    ClaimLease = "journal.claim.lease",
    /// A claimed call has its row.
    ClaimCall = "journal.claim.call",
    /// A claim has taken its caller's key.
    ClaimCallerKey = "journal.claim.caller_key",
    /// A claim has used its approval up.
    ClaimApprovalConsumed = "journal.claim.approval_consumed",
    /// A claimed call names its approval; SQLite alone does it in a statement of its own.
    ClaimApprovalNoted = "journal.claim.approval_noted",
    /// A result's call was read.
    SettleRead = "journal.settle.read",
    /// The rest of a result's output is kept.
    SettleArtifact = "journal.settle.artifact",
    /// A settled call has its state.
    SettleCall = "journal.settle.call",
    /// The open questions of a settled call are withdrawn.
    SettleApprovals = "journal.settle.approvals_withdrawn",
    /// A reconciled call has its state.
    ReconcileCall = "journal.reconcile.call",
    /// The gate or the run is about to write.
    WriteBefore = "executor.write.before",
    /// Whoever wrote knows that it stands.
    WriteAfter = "executor.write.after",
    /// The handler is entered next.
    HandlerBefore = "executor.handler.before",
    /// The handler has answered, and its result is nowhere yet.
    HandlerAfter = "executor.handler.after",
    /// The call's result stands, and nobody was given it.
    ResultAfter = "executor.result.after",
    /// A tool is asked next what became of a call.
    ReconcileBefore = "executor.reconcile.before",
    /// A tool has said what became of a call, and that is nowhere yet.
    ReconcileAfter = "executor.reconcile.after",
    /// A run was made, and nothing of it was done.
    RunCreated = "harness.run.created",
    /// A run was taken over, and nothing of it was done.
    RunHeld = "harness.run.held",
    /// The model is asked next.
    TurnBefore = "harness.turn.before",
    /// The model has answered, and its turn is not stored.
    TurnAnswered = "harness.turn.answered",
    /// The model's turn is stored.
    TurnStored = "harness.turn.stored",
    /// The run ends next.
    EndBefore = "harness.end.before",
    /// The run has ended, and nobody was told.
    EndAfter = "harness.end.after",
}

/// Says that the process is at a point.
#[inline]
pub fn reach(point: Point) {
    #[cfg(feature = "failpoints")]
    fail::fail_point!(point.word());
    #[cfg(not(feature = "failpoints"))]
    let _ = point;
}
