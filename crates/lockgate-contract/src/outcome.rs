//! The closed table of outcomes: every requested call is settled exactly once, in exactly one row.
//!
//! The enum, the texts, the statuses, `lockgate explain` and `docs/outcomes/` all come from [`TABLE`].

mod rule;
mod status;
mod tool_code;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::rule::{EffectRule, Retry};
pub use self::status::Status;
pub use self::tool_code::{InvalidToolCode, ToolCode};

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The code itself.
    pub code: Code,
    /// The stable word.
    pub word: &'static str,
    /// The stages that end a call so, in the words of the picture.
    pub stage: &'static str,
    /// What the run counts it by.
    pub status: Status,
    /// What is known about the world.
    pub effect: EffectRule,
    /// Advice about trying again.
    pub retry: Retry,
    /// The default sentence for the model: no values, no names, no paths.
    pub model_text: &'static str,
    /// What it means, for people.
    pub meaning: &'static str,
    /// What to do about it, for people.
    pub remedy: &'static str,
}

macro_rules! outcomes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal {
        stage: $stage:literal, $status:ident, $effect:ident, $retry:ident,
        model: $model:literal,
        meaning: $meaning:literal,
        remedy: $remedy:literal,
    })+) => {
        /// A code of the closed table. A tool's own codes stand beside it: see [`ToolCode`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant),+ }

        /// The closed table, in the order in which a call meets it.
        pub const TABLE: &[Row] = &[$(Row {
            code: Code::$variant, word: $word, stage: $stage, status: Status::$status, effect: EffectRule::$effect,
            retry: Retry::$retry, model_text: $model, meaning: $meaning, remedy: $remedy,
        }),+];
    };
}

outcomes! {
    WrongActionLanguage = "wrong_action_language" {
        stage: "proposed", NotExecuted, None, No,
        model: "This run takes tool calls only.",
        meaning: "Code reached the gate, which only knows tool calls (R-096): a wiring mistake, not one of the model.",
        remedy: "Offer the model nothing but the run's tools: no custom tool with free text, no code interpreter.",
    }
    UnknownTool = "unknown_tool" {
        stage: "resolved", NotExecuted, None, No,
        model: "This tool is not available.",
        meaning: "No such tool is registered, or this run may not use it.",
        remedy: "The audit text says which: not_registered, not_allowed, revoked or quarantined. Register the tool, or add it to the run's allowed names.",
    }
    DefinitionChanged = "definition_changed" {
        stage: "resolved", NotExecuted, None, No,
        model: "The tool changed since this run began, so it was not run.",
        meaning: "The tool's definition is not the one that the run was bound to.",
        remedy: "Start a new run, which binds the new definition.",
    }
    ToolNotLoaded = "tool_not_loaded" {
        stage: "resolved", NotExecuted, None, Yes,
        model: "This tool is not loaded yet: load it with tool_search first.",
        meaning: "A deferred tool was called before it was loaded.",
        remedy: "Nothing: the model can load it and call again.",
    }
    InvalidArguments = "invalid_arguments" {
        stage: "proposed, validated", NotExecuted, None, Yes,
        model: "The arguments are not valid for this tool: compare them with its input schema.",
        meaning: "The argument text is not one JSON object, or does not match the tool's input schema.",
        remedy: "The reason word says what is wrong; the audit text says where.",
    }
    RejectedByTool = "rejected_by_tool" {
        stage: "authorized", NotExecuted, None, No,
        model: "The tool rejected these arguments.",
        meaning: "The tool's own check before permission refused this call.",
        remedy: "The sentence is the tool's own; see its documentation.",
    }
    LimitReached = "limit_reached" {
        stage: "authorized", NotExecuted, None, No,
        model: "The budget of this run is used up, so the call was not run.",
        meaning: "A budget or a rate limit refuses the call.",
        remedy: "The audit text names the limit. Raise it in `[budget]`, or with `--budget` on resume.",
    }
    PolicyDenied = "policy_denied" {
        stage: "authorized", NotExecuted, None, No,
        model: "This call is not permitted.",
        meaning: "The policy denies the call or could not be evaluated, or a hook stops it (reason `hook`).",
        remedy: "The audit text names the policy or the hook. No approval can lift a denial.",
    }
    ApprovalRequired = "approval_required" {
        stage: "authorized", NotExecuted, None, No,
        model: "This call waits for a person's approval.",
        meaning: "A person has to approve the call. It stays open in its run.",
        remedy: "Decide it with `lockgate approvals approve` or `deny`, then resume the run.",
    }
    ApprovalDenied = "approval_denied" {
        stage: "authorized, recorded", NotExecuted, None, No,
        model: "A person denied this call.",
        meaning: "The person who was asked said no.",
        remedy: "Nothing: the answer stands for this call.",
    }
    ApprovalExpired = "approval_expired" {
        stage: "authorized, recorded", NotExecuted, None, No,
        model: "The approval came too late, so the call was not run.",
        meaning: "No decision came, or none was used, before the approval expired.",
        remedy: "Let the model ask again; `[approvals] expires` sets how long a question stays open.",
    }
    ApprovalWithdrawn = "approval_withdrawn" {
        stage: "authorized, recorded", NotExecuted, None, No,
        model: "The approval was taken back, so the call was not run.",
        meaning: "The approval was withdrawn before it was used.",
        remedy: "Nothing: a new call asks again.",
    }
    ApprovalStale = "approval_stale" {
        stage: "authorized, recorded", NotExecuted, None, No,
        model: "What was approved is not what would run, so the call was not run.",
        meaning: "The approval is bound to other arguments, another definition, subject, run or call.",
        remedy: "Approve what would really run. The open call stays open.",
    }
    ApprovalUsed = "approval_used" {
        stage: "authorized, recorded", NotExecuted, None, No,
        model: "This approval was already used.",
        meaning: "An approval is good for one execution, and this one has had it.",
        remedy: "A further execution needs a further approval.",
    }
    SandboxUnavailable = "sandbox_unavailable" {
        stage: "recorded", NotExecuted, None, No,
        model: "The tool cannot be run safely here, so it was not run.",
        meaning: "The fence that the tool requires is not available on this machine.",
        remedy: "`lockgate doctor` says what is missing.",
    }
    StorageUnavailable = "storage_unavailable" {
        stage: "recorded", NotExecuted, None, Yes,
        model: "The call could not be recorded, so nothing was run.",
        meaning: "The intent could not be made durable.",
        remedy: "Check the journal's disk or database; `lockgate doctor` looks at it.",
    }
    IdempotencyConflict = "idempotency_conflict" {
        stage: "recorded", NotExecuted, None, No,
        model: "The same idempotency key was used for a different request.",
        meaning: "A key names one request, and this is another.",
        remedy: "Use a fresh key.",
    }
    InProgress = "in_progress" {
        stage: "recorded", NotExecuted, None, Yes,
        model: "The same request is running.",
        meaning: "The first request with this key has no result yet.",
        remedy: "Ask again later, or wait.",
    }
    DuplicateCall = "duplicate_call" {
        stage: "recorded", NotExecuted, None, No,
        model: "An identical call in this turn was already made, so this one was not run.",
        meaning: "The tool's `on_duplicate` rule refuses identical writes of one turn.",
        remedy: "Set `on_duplicate` to `run_each` or `share_result` if that is what you want.",
    }
    Blocked = "blocked" {
        stage: "harness", NotExecuted, None, No,
        model: "A call before this one ended with an unknown effect, so this one was not run.",
        meaning: "Calls behind an unknown effect in the same turn are not started.",
        remedy: "Settle the unknown effect first.",
    }
    Cancelled = "cancelled" {
        stage: "before the run stage", NotExecuted, None, No,
        model: "The call was cancelled before it took effect.",
        meaning: "The run was cancelled before the handler started.",
        remedy: "Nothing.",
    }
    Interrupted = "interrupted" {
        stage: "ran", Executed, UnknownUnlessRead, No,
        model: "The call was cancelled while it ran: it may or may not have happened.",
        meaning: "The run was cancelled after the handler started.",
        remedy: "Check whether it happened before you repeat it.",
    }
    ResultNotRecorded = "result_not_recorded" {
        stage: "released", Executed, Done, No,
        model: "The call ran, but its result could not be stored.",
        meaning: "The handler finished and the journal did not take the result.",
        remedy: "Check the journal's disk or database, then settle the call.",
    }
    GateInternalError = "gate_internal_error" {
        stage: "any", NotExecuted, ByProgress, No,
        model: "The gate failed on this call.",
        meaning: "A defect of Lockgate itself.",
        remedy: "`lockgate runs show RUN --all` has the text beside the error id. Please report it.",
    }
    EnvironmentError = "environment_error" {
        stage: "ran", EnvError, NoneIfTheToolSaysSo, IfNothingHappened,
        model: "The environment of this tool is not available.",
        meaning: "The tool's backend is broken or out of reach.",
        remedy: "The audit text has the tool's words. Repair the backend.",
    }
    TimedOut = "timed_out" {
        stage: "ran", Executed, UnknownUnlessRead, IfNothingHappened,
        model: "No answer in time: it may or may not have happened.",
        meaning: "The call took longer than its time-out.",
        remedy: "Check whether it happened before you repeat it; `timeout` on the tool or `call_timeout` sets the limit.",
    }
    ToolInternalError = "tool_internal_error" {
        stage: "ran", Executed, UnknownUnlessRead, No,
        model: "The tool failed unexpectedly.",
        meaning: "The handler returned an error that is not a business failure, or panicked.",
        remedy: "`lockgate runs show RUN --all` has the text beside the error id. It is a bug of the tool.",
    }
    InvalidToolOutput = "invalid_tool_output" {
        stage: "checked", Executed, Done, No,
        model: "The tool answered in a wrong form, so nothing of its answer is shown.",
        meaning: "The output is not JSON that can be shown, or does not match the tool's output schema.",
        remedy: "The audit text says where. It is a bug of the tool.",
    }
    OutcomeUnknown = "outcome_unknown" {
        stage: "ran, recovery", Executed, Unknown, No,
        model: "The outcome is unknown: it may have happened. Check before repeating it.",
        meaning: "The effect started and its result was lost.",
        remedy: "Find out what happened and settle the call.",
    }
}

impl Code {
    /// The row of this code.
    pub fn row(self) -> &'static Row {
        // INVARIANT: the table is written in the order of the enum, by one macro.
        &TABLE[self as usize]
    }

    /// The stable word.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The code with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.word == word).map(|row| row.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a call failed: a row of the table, or the tool's own business failure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A row of the closed table.
    Gate(Code),
    /// The tool's own code.
    Tool(ToolCode),
}

impl Outcome {
    /// The stable word.
    pub fn word(&self) -> &str {
        match self {
            Self::Gate(code) => code.word(),
            Self::Tool(code) => code.word(),
        }
    }

    /// Whether this is that row of the table.
    pub fn is(&self, code: Code) -> bool {
        *self == Self::Gate(code)
    }
}

impl From<Code> for Outcome {
    fn from(code: Code) -> Self {
        Self::Gate(code)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Outcome {
    type Err = InvalidToolCode;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match Code::from_word(word) {
            Some(code) => Ok(Self::Gate(code)),
            None => ToolCode::new(word.to_owned()).map(Self::Tool),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
