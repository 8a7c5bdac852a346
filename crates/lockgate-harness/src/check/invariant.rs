//! The closed set of invariants: what holds of every stream of events that Lockgate writes.
//!
//! The enum, the command's output and `docs/journal.md` all come from this table.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! invariants {
    ($($variant:ident = $word:literal [$($requirement:literal),+] { holds: $holds:literal, broken: $broken:literal, })+) => {
        /// What holds of every run's events. The words are stable: programs may compare them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Invariant { $(#[doc = $holds] $variant),+ }

        impl Invariant {
            /// Every invariant, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The requirements that it stands for, such as `R-209`.
            pub const fn requirements(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($requirement),+]),+ }
            }

            /// What holds, in one sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $holds),+ }
            }

            /// What it looks like in the events when it does not hold.
            pub const fn breaking(self) -> &'static str {
                match self { $(Self::$variant => $broken),+ }
            }
        }
    };
}

invariants! {
    Unreadable = "unreadable" ["R-013", "R-214"] {
        holds: "Every event can be read: its type is known where it steers the run, and its body is what the type promises.",
        broken: "A line of an export is cut off or is no event; the `data` of an event lacks a member or has one of another type; `v` is newer than this version, or a type that begins with `run.` or `call.` is unknown to it.",
    }
    OneRun = "one_run" ["R-206"] {
        holds: "All events carry the id of one run.",
        broken: "The `run_id` of an event is not the one of the first event.",
    }
    Numbering = "numbering" ["R-209"] {
        holds: "The events are numbered 1, 2, 3… in the order in which they were stored.",
        broken: "A `seq` is missing, is there twice, or stands behind a higher one.",
    }
    Chain = "chain" ["R-209"] {
        holds: "In a run that promises hashes each event carries the one that ties it to all events before it.",
        broken: "A `hash` is missing, or is not that of this event behind the one before it: an event was altered, removed or put in between. Who can rewrite all of them hides it from everybody who did not keep the last hash elsewhere: `lockgate journal heads` prints it, `lockgate journal check --head RUN=HASH` compares it.",
    }
    Records = "records" ["R-206", "R-209"] {
        holds: "What a journal keeps beside the events of a run is what these say: where the run and each of its calls stand, who drives it, what was decided.",
        broken: "`run.status` is `completed` without a `run.completed`; a call of which nobody knows is kept as settled; a question is kept as granted, and no `approval.decided` says so. Only a journal and its whole export show it.",
    }
    Signatures = "signatures" ["R-209", "R-214"] {
        holds: "In a run in which one decision is signed, every decision is: what the run is bound to, what a policy let pass or denied, what a person was asked and answered, and that the answer was used.",
        broken: "A `signature` is missing in the `data` of an event that has one elsewhere in the run, or does not stand where it was put. Whether each is over its own event is seen with the public key: `lockgate journal check --public-key FILE` names every decision that is unsigned, altered, or signed by somebody else.",
    }
    Beginning = "beginning" ["R-143", "R-201"] {
        holds: "The first event is `run.started`, which holds what the run is bound to, and there is no second one.",
        broken: "Event 1 is something else, or a `run.started` stands further down.",
    }
    Steps = "steps" ["R-211"] {
        holds: "Steps count the model's turns from 0: each answered turn is followed by the next step, and everything about a call carries the call's step.",
        broken: "A `step` skips a number or goes back; an event of a call has another step than the call's id; a `run.*` event has another step than the turn before it.",
    }
    CallIds = "call_ids" ["R-207", "R-208", "R-218", "R-227"] {
        holds: "Every call has one id, made by the harness from run, step and place, and every event about a call carries an id that was asked for.",
        broken: "An id in `model.responded` does not say `<run>:step-<n>:call-<m>` of its own place, or is there twice; a tool or approval event has no `call_id` or one that no turn lists; a model or run event has one.",
    }
    ModelTurns = "model_turns" ["R-131", "R-195"] {
        holds: "A `model.responded` or `model.failed` answers the `model.requested` before it, and every request has one answer at most.",
        broken: "An answer without a request, or for another step; two requests in a row without an answer and without a `run.resumed` between them.",
    }
    TurnOrder = "turn_order" ["R-201", "R-220"] {
        holds: "Calls of a turn start in its order: an effect waits for the results of all calls before it, and a read overtakes nothing but reads.",
        broken: "A `tool.started` of a write while a call before it in the same `model.responded` has no result yet.",
    }
    OrderOfChecks = "order_of_checks" ["R-062", "R-226"] {
        holds: "A call's events stand in the gate's order: requested, once; then relaxed, asked about, approved, started; and nothing starts whose arguments are not one JSON object.",
        broken: "A second `tool.requested` of one call; any other event of a call before it; a `tool.started` of a call whose `arguments_text` cannot be parsed or is code.",
    }
    AllowedTools = "allowed_tools" ["R-086", "R-148", "R-223"] {
        holds: "A name reaches a tool only through the run's allowed set, and it is the tool that the run was bound to.",
        broken: "A `tool.started` whose name or definition digest is not in the binding of `run.started`, or that changes something though the run was bound to a tool that reads; a result that names the version of a tool that is not available.",
    }
    Authorisation = "authorisation" ["R-164", "R-167", "R-173", "R-231"] {
        holds: "What a policy asks about starts under an approval that was granted, by as many different people as it takes, and what it denies does not run.",
        broken: "A `tool.started` under an asking policy without `approval.consumed` right before it; an `approval.consumed` without a grant, or behind a denial; a grant by fewer people than `approvers` takes, or a yes by the subject itself, by somebody without the roles, or by one who said so before; a result whose `audit.decision` says something else than its code.",
    }
    ApprovalOrder = "approval_order" ["R-169", "R-171"] {
        holds: "A question is asked once and before the start, is decided once while it is open, and its use is followed by the start of its call.",
        broken: "An `approval.decided` or `approval.consumed` without `approval.requested`; two decisions; a decision, a yes or an edit after the decision or the expiry; something else than the call's `tool.started` behind `approval.consumed`; a refusal because of a denial that no event shows.",
    }
    ApprovalBinding = "approval_binding" ["R-171", "R-172"] {
        holds: "An approval is used for exactly what was asked, by exactly the call that was asked about, before it expires.",
        broken: "The digest in `approval.consumed` is not the one in `approval.requested`, or that one is not the digest of the call; an `approval.edited` whose arguments are not those of its digests; another version or effect starts; the use comes at or after `expires_at`, or in another call.",
    }
    ApprovalSingleUse = "approval_single_use" ["R-172", "R-173"] {
        holds: "An approval is used once.",
        broken: "Two `approval.consumed` with one `approval_id`.",
    }
    IntentBeforeEffect = "intent_before_effect" ["R-125", "R-128"] {
        holds: "The intent stands in the journal before an effect: what ran has a `tool.started` before its result, and what was refused has none.",
        broken: "A result with status EXECUTED or ENV_ERROR and no `tool.started` before it; a refusal (NOT_EXECUTED) behind a `tool.started` of the same driver, unless it says that the handler was not entered.",
    }
    Attempts = "attempts" ["R-077", "R-124", "R-127", "R-128", "R-229"] {
        holds: "Attempts of a call are numbered 1, 2, 3…; there is a further one only after `tool.attempt_failed`, after `call.reconciled` said that the last one did not happen, or after a driver died, and then only of a tool that may be repeated.",
        broken: "An `attempt` that is not the next; a second `tool.started` without a `run.lease_taken` or `run.resumed` in between, or of a tool that is neither in the binding's `replayable` nor, for as long as its provider remembers a key, in its `keyed`, or without a new approval where the first one had one; a `tool.attempt_failed` or `tool.answered_late` of an attempt that was not started.",
    }
    ResultOnce = "result_once" ["R-085", "R-212"] {
        holds: "A call has one result, and nothing happens to it afterwards.",
        broken: "A second `tool.finished` or `tool.failed` with one `call_id`, or a `tool.started` behind the result, without a `call.reconciled` in between that says `not_done`.",
    }
    Pairing = "pairing" ["R-092", "R-131", "R-196", "R-212", "R-228"] {
        holds: "Every call of a turn has its result before the model is asked again or the run ends, and the model is sent all of them.",
        broken: "A `model.requested` or the end of the run while a call of `model.responded` has no `tool.finished` or `tool.failed`; `messages` that is not the number of turns and results so far.",
    }
    Placement = "placement" ["R-215", "R-219", "R-230"] {
        holds: "Everything that is said of a call is about the tool and the arguments that were called: results are placed by call id.",
        broken: "The `tool_name` of an event is not the one that `model.responded` has under its `call_id`; the arguments digest of a start or a result is not the one of the call's arguments. Two results that were exchanged show it twice.",
    }
    ResultShape = "result_shape" ["R-087", "R-088", "R-183", "R-225"] {
        holds: "A success is `tool.finished` with data and no code; a failure is `tool.failed` with a code and no data.",
        broken: "`ok` contradicts the event's type, the code or the data; a failure of which the environment reports completion.",
    }
    OutcomeTable = "outcome_table" ["R-095", "R-101", "R-120"] {
        holds: "Code, status, effect state and advice of a result are one row of the outcome table.",
        broken: "`policy_denied` with status EXECUTED; `timed_out` of a write with effect state `none`; `retryable` where the row advises against it; a code that settles no call; `wrong_action_language` of a tool call.",
    }
    TwoTexts = "two_texts" ["R-015", "R-110", "R-216", "R-224"] {
        holds: "A failure has a sentence for the model and, apart from it, a text for people.",
        broken: "`message` or `audit.text` is missing, or the words of a broken environment stand in both.",
    }
    ReusedResult = "reused_result" ["R-085", "R-219"] {
        holds: "A shared result is the one of an identical call that ran before it in the same turn, and says so; under a caller's key it may be that of another run.",
        broken: "`meta.deduplicated` names a call of another turn, a later one, one that was not executed, or one with another result.",
    }
    UnknownEffect = "unknown_effect" ["R-126", "R-128"] {
        holds: "A run that was told to stop at an unknown effect stops there in `run.needs_reconciliation`, which lists these calls and no others; no effect starts behind one in its turn.",
        broken: "Behind a result with effect state `unknown` comes a `model.requested`, another end of the run, or the `tool.started` of a later effect of the turn, without a `call.reconciled`; the list names a call whose effect is known; a `call.reconciled` of a call of which nothing is unknown.",
    }
    Budget = "budget" ["R-119", "R-120", "R-122"] {
        holds: "Nothing starts, and no model is asked, beyond the limits that the run has at that moment.",
        broken: "A `tool.started` behind `max_valid_actions` executed calls or at a place beyond `max_calls_per_turn`; a `model.requested` behind `max_steps` answered turns.",
    }
    StopReason = "stop_reason" ["R-114", "R-115", "R-116", "R-199"] {
        holds: "A run stops for the reason that its event gives, and as soon as that reason is there.",
        broken: "`final_answer` behind a turn with calls; `goal_reached` without a call that ends a run or a report of the environment; another `answer` than the last turn's text; a `model.requested` behind the final answer; a limit that is not used up; waiting for what nobody asked.",
    }
    Ending = "ending" ["R-197", "R-198"] {
        holds: "Behind the end of a run come decisions of people, late answers and what was found out later at most; a run that waits, stands at a limit or had unknown effects goes on with `run.resumed`; each `run.lease_taken` has a higher `epoch`.",
        broken: "Any other event behind `run.completed`, `run.failed` or `run.cancelled`; an event of a driver behind `run.waiting`, `run.limit_reached` or `run.needs_reconciliation` without `run.resumed`; a `run.resumed` behind a limit that was not changed, or while a call's effect is still unknown; an `epoch` that does not rise.",
    }
}

impl Invariant {
    /// The invariant with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|invariant| invariant.word() == word)
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Invariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
