//! Which bad journals there are: from which good one, how corrupted, and what has to be said about it.

use serde_json::json;

use super::corruption::Journal;
use crate::check::Invariant;
use crate::check::Invariant::{
    AllowedTools, ApprovalBinding, ApprovalOrder, ApprovalSingleUse, Attempts, Authorisation, Beginning, Budget,
    CallIds, Chain, Ending, IntentBeforeEffect, ModelTurns, Numbering, OneRun, OrderOfChecks, OutcomeTable, Pairing,
    Placement, ResultOnce, ResultShape, ReusedResult, Signatures, Steps, StopReason, TurnOrder, TwoTexts,
    UnknownEffect, Unreadable,
};

/// One bad journal.
pub(super) struct Bad {
    /// What it breaks: the first half of its name.
    pub(super) invariant: Invariant,
    /// How it was corrupted: the second half of its name.
    pub(super) way: &'static str,
    /// The good journal that it was made of.
    pub(super) from: &'static str,
    pub(super) corrupt: fn(&mut Journal),
    /// The events that have to be named.
    pub(super) seqs: &'static [u64],
    /// What follows from it: one lost event can break several invariants.
    pub(super) also: &'static [Invariant],
}

/// Another digest than any.
const OTHER: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
/// Behind every expiry.
const LATE: &str = "2027-01-15T09:00:00.000Z";

#[rustfmt::skip]
pub(super) fn bad() -> Vec<Bad> {
    let bad = |invariant, way, from, corrupt, seqs, also| Bad { invariant, way, from, corrupt, seqs, also };
    vec![
        bad(Unreadable, "truncated", "reads", |journal| journal.cut_off(40), &[], &[]),
        bad(Unreadable, "edited", "reads", |journal| journal.edit(6, "/data/status", "DONE"), &[6], &[]),
        bad(Unreadable, "edited-version", "reads", |journal| journal.edit(6, "/v", 2), &[6], &[]),
        bad(Unreadable, "edited-type", "reads", |journal| journal.edit(20, "/type", "run.paused"), &[20], &[]),
        bad(Unreadable, "edited-word", "reads", |journal| journal.edit(20, "/data/reason", "bored"), &[20], &[]),
        bad(Unreadable, "dropped-member", "reads", |journal| journal.remove(2, "/data", "tools"), &[2], &[]),

        bad(OneRun, "edited", "reads", |journal| journal.edit(6, "/run_id", "run-00000000ffff"), &[6], &[]),

        bad(Numbering, "dropped", "reads", |journal| journal.drop(4), &[3, 5], &[OrderOfChecks]),
        bad(Numbering, "doubled", "reads", |journal| journal.double(6), &[6], &[]),
        bad(Numbering, "swapped", "reads", |journal| journal.swap(6, 7), &[6, 7], &[]),
        bad(Numbering, "edited", "reads", |journal| journal.edit(20, "/seq", 40), &[19, 40], &[]),
        bad(Numbering, "truncated", "reads", |journal| journal.begin_with(2), &[2], &[Beginning]),

        bad(Chain, "edited", "chained", |journal| journal.edit(1, "/data/task", "another task"), &[1], &[]),
        bad(Chain, "edited-time", "chained", |journal| journal.edit(2, "/at", "2027-01-15T08:00:00.009Z"), &[2], &[]),
        bad(Chain, "edited-hash", "chained", |journal| journal.edit(3, "/hash", OTHER), &[3, 4], &[]),
        bad(Chain, "dropped-hash", "chained", |journal| journal.remove(3, "", "hash"), &[3], &[]),
        bad(Chain, "dropped-promise", "chained", |journal| journal.remove(1, "/data", "chained"), &[1], &[]),
        bad(Chain, "dropped", "chained", |journal| journal.drop(4), &[5], &[Numbering, OrderOfChecks]),

        bad(Signatures, "dropped", "signed", |journal| journal.remove(1, "/data", "signature"), &[1], &[]),
        bad(Signatures, "edited", "signed", |journal| journal.edit(1, "/data/signature/v", 2), &[1], &[]),

        bad(Beginning, "dropped", "reads", |journal| journal.drop_and_close(1), &[1], &[]),
        bad(Beginning, "doubled", "reads", |journal| journal.repeat(1, 3), &[4], &[]),

        bad(Steps, "edited", "reads", |journal| journal.edit(6, "/step", 1), &[3, 6], &[]),
        bad(Steps, "edited-turn", "reads", |journal| journal.edit(10, "/step", 2), &[10], &[ModelTurns]),
        bad(Steps, "edited-stop", "reads", |journal| journal.edit(20, "/step", 0), &[20], &[]),

        bad(CallIds, "edited", "reads",
            |journal| journal.edit(3, "/data/calls/1/call_id", "run-000000000001:step-0:call-7"), &[3], &[Pairing]),
        bad(CallIds, "doubled", "reads",
            |journal| journal.edit(3, "/data/calls/1/call_id", "run-000000000001:step-0:call-0"), &[3], &[]),
        bad(CallIds, "dropped", "reads", |journal| journal.remove(6, "", "call_id"), &[6], &[Pairing]),
        bad(CallIds, "misplaced", "reads",
            |journal| journal.edit(6, "/call_id", "run-000000000001:step-0:call-9"), &[6], &[Pairing]),
        bad(CallIds, "edited-stop", "reads",
            |journal| journal.add(20, "", "call_id", "run-000000000001:step-0:call-0"), &[20], &[]),

        bad(ModelTurns, "dropped", "reads", |journal| journal.drop_and_close(10), &[10], &[]),
        bad(ModelTurns, "doubled", "reads", |journal| journal.repeat(2, 2), &[2, 3], &[]),
        bad(ModelTurns, "swapped", "reads", |journal| journal.exchange(10, 11), &[10], &[Steps, Pairing]),
        bad(ModelTurns, "moved", "replay", |journal| journal.move_behind(6, 2), &[2, 4], &[]),
        bad(ModelTurns, "edited-kind", "reads", |journal| journal.edit(1, "/data/kind", "direct"), &[2], &[]),

        bad(TurnOrder, "swapped", "limits", |journal| journal.move_behind(6, 8), &[4, 7], &[]),

        bad(OrderOfChecks, "dropped", "reads", |journal| journal.drop_and_close(4), &[4], &[]),
        bad(OrderOfChecks, "doubled", "reads", |journal| journal.repeat(4, 4), &[4, 5], &[]),
        bad(OrderOfChecks, "swapped", "reads", |journal| journal.exchange(4, 5), &[4], &[]),
        bad(OrderOfChecks, "edited", "reads",
            |journal| journal.edit(3, "/data/calls/0/arguments_text", "{"), &[3, 5], &[]),
        bad(OrderOfChecks, "edited-language", "reads",
            |journal| journal.add(3, "/data/calls/0", "language", "code"), &[3, 5], &[]),

        bad(AllowedTools, "edited", "reads", |journal| journal.edit(5, "/data/definition", OTHER), &[1, 5], &[]),
        bad(AllowedTools, "edited-version", "refusals", |journal| journal.edit(5, "/data/tool_version", "1.0"), &[5], &[]),
        bad(AllowedTools, "dropped-name", "reads",
            |journal| journal.remove(1, "/data/binding/allowed/tools", "look"), &[1, 5], &[]),
        bad(AllowedTools, "edited-effect", "reads", |journal| journal.edit(5, "/data/effect", "write"), &[1, 5], &[]),
        bad(AllowedTools, "edited-count", "reads", |journal| journal.edit(2, "/data/tools", 17), &[2], &[]),

        bad(Authorisation, "dropped", "approval", |journal| journal.drop_and_close(10), &[5, 10], &[]),
        bad(Authorisation, "dropped-decision", "approval", |journal| journal.drop_and_close(7), &[5, 9], &[]),
        bad(Authorisation, "edited", "approval", |journal| journal.edit(7, "/data/decision", "denied"), &[7, 10], &[]),
        bad(Authorisation, "edited-code", "refusals",
            |journal| journal.edit(9, "/data/code", "rejected_by_tool"), &[9], &[]),
        bad(Authorisation, "edited-relaxation", "relaxed", |journal| journal.edit(5, "/data/from", "deny"), &[5], &[]),
        bad(Authorisation, "dropped-other-policy", "approval", |journal| {
            journal.edit(11, "/data/policies", json!(["house:ask"]));
            journal.drop_and_close(10);
        }, &[10, 11], &[]),

        bad(ApprovalOrder, "dropped", "approval", |journal| journal.drop_and_close(5), &[6], &[StopReason]),
        bad(ApprovalOrder, "doubled", "approval", |journal| journal.repeat(7, 7), &[7, 8], &[]),
        bad(ApprovalOrder, "swapped", "approval", |journal| journal.exchange(10, 11), &[11, 12], &[Authorisation]),
        bad(ApprovalOrder, "truncated", "approval", |journal| journal.truncate_behind(10), &[10], &[]),
        bad(ApprovalOrder, "edited", "refusals", |journal| journal.edit(13, "/data/decision", "granted"), &[11, 16], &[]),
        bad(ApprovalOrder, "edited-time", "approval", |journal| journal.edit(7, "/at", LATE), &[5, 7], &[]),
        bad(ApprovalOrder, "edited-word", "approval",
            |journal| journal.edit(7, "/data/decision", "maybe"), &[7], &[Authorisation]),
        bad(ApprovalOrder, "moved", "approval", |journal| journal.move_behind(7, 11), &[9, 11], &[Authorisation]),
        bad(ApprovalOrder, "moved-question", "approval", |journal| journal.move_behind(5, 11), &[10, 11], &[ApprovalBinding, StopReason]),

        bad(ApprovalBinding, "edited", "approval", |journal| journal.edit(10, "/data/digest", OTHER), &[5, 10], &[]),
        bad(ApprovalBinding, "edited-time", "approval", |journal| journal.edit(10, "/at", LATE), &[5, 10], &[]),
        bad(ApprovalBinding, "edited-arguments", "approval",
            |journal| journal.edit(3, "/data/calls/0/arguments_text", r#"{"do":"ok","to":"eve"}"#), &[3, 5], &[Placement]),
        bad(ApprovalBinding, "edited-question", "approval", |journal| journal.edit(5, "/data/digest", OTHER), &[5], &[]),
        bad(ApprovalBinding, "edited-version", "approval",
            |journal| journal.edit(11, "/data/tool_version", "2.0"), &[5, 11], &[Placement]),
        bad(ApprovalBinding, "misplaced", "approval",
            |journal| journal.edit(10, "/call_id", "run-000000000002:step-0:call-1"), &[5, 10],
            &[ApprovalOrder, Authorisation, OrderOfChecks]),

        bad(ApprovalSingleUse, "doubled", "approval", |journal| {
            journal.repeat(10, 11);
            journal.repeat(11, 12);
        }, &[10, 12], &[Attempts]),

        bad(IntentBeforeEffect, "dropped", "reads", |journal| journal.drop_and_close(5), &[5], &[]),
        bad(IntentBeforeEffect, "swapped", "reads", |journal| journal.exchange(5, 6), &[5], &[ResultOnce]),
        bad(IntentBeforeEffect, "edited", "reads", |journal| {
            journal.edit(9, "/data/code", "rejected_by_tool");
            journal.edit(9, "/data/status", "NOT_EXECUTED");
        }, &[8, 9], &[]),

        bad(Attempts, "edited", "reads", |journal| journal.edit(5, "/data/attempt", 2), &[5], &[]),
        bad(Attempts, "dropped", "replay", |journal| {
            journal.drop_and_close(7);
            journal.drop_and_close(6);
        }, &[5, 6], &[]),
        bad(Attempts, "dropped-name", "replay", |journal| journal.edit(1, "/data/binding/replayable", json!([])), &[5, 8], &[]),
        bad(Attempts, "doubled", "approval", |journal| {
            journal.edit(1, "/data/binding/replayable", json!(["pay"]));
            journal.repeat(9, 11);
            journal.repeat(11, 12);
            journal.edit(13, "/data/attempt", 2);
        }, &[11, 13], &[Authorisation]),

        bad(ResultOnce, "doubled", "reads", |journal| journal.repeat(6, 6), &[6, 7], &[]),
        bad(ResultOnce, "doubled-later", "reads", |journal| journal.repeat(6, 14), &[6, 15], &[]),

        bad(Pairing, "dropped", "reads", |journal| journal.drop_and_close(9), &[3, 7, 9], &[]),
        bad(Pairing, "dropped-last", "unknown", |journal| journal.drop_and_close(11), &[3, 10, 11], &[]),
        bad(Pairing, "dropped-direct", "direct", |journal| journal.drop_and_close(10), &[2, 10], &[]),
        bad(Pairing, "edited", "reads", |journal| journal.edit(10, "/data/messages", 4), &[3, 10], &[]),

        bad(Placement, "misplaced", "reads", |journal| journal.misplace(14, 17), &[11, 14], &[]),
        bad(Placement, "misplaced-ids", "reads", |journal| journal.misplace_ids(6, 9), &[3, 6],
            &[OrderOfChecks, IntentBeforeEffect, ResultOnce]),
        bad(Placement, "edited", "reads", |journal| journal.edit(6, "/data/tool_name", "stat"), &[3, 6], &[]),
        bad(Placement, "edited-arguments", "reads",
            |journal| journal.edit(5, "/data/arguments_digest", OTHER), &[3, 5], &[]),

        bad(ResultShape, "edited", "reads", |journal| journal.edit(9, "/data/data", json!({})), &[9], &[]),
        bad(ResultShape, "edited-type", "reads", |journal| journal.edit(6, "/type", "tool.failed"), &[6], &[]),
        bad(ResultShape, "dropped-member", "reads", |journal| journal.remove(6, "/data", "data"), &[6], &[]),
        bad(ResultShape, "edited-report", "reads",
            |journal| journal.add(9, "/data", "env_reported_completion", true), &[9], &[StopReason]),
        bad(ResultShape, "dropped-code", "reads", |journal| journal.edit(9, "/data/code", json!(null)), &[9], &[]),
        bad(ResultShape, "edited-code", "reads", |journal| journal.edit(6, "/data/code", "no_luck"), &[6], &[]),

        bad(OutcomeTable, "edited", "refusals", |journal| journal.edit(7, "/data/retryable", false), &[7], &[]),
        bad(OutcomeTable, "edited-status", "refusals",
            |journal| journal.edit(5, "/data/status", "EXECUTED"), &[5], &[IntentBeforeEffect]),
        bad(OutcomeTable, "edited-effect", "unknown",
            |journal| journal.edit(9, "/data/effect_state", "none"), &[9], &[UnknownEffect]),
        bad(OutcomeTable, "edited-success", "reads", |journal| journal.edit(6, "/data/effect_state", "none"), &[6], &[]),
        bad(OutcomeTable, "edited-code", "refusals",
            |journal| journal.edit(7, "/data/code", "approval_required"), &[7], &[]),
        bad(OutcomeTable, "dropped-language", "code",
            |journal| journal.remove(3, "/data/calls/0", "language"), &[5], &[]),
        bad(OutcomeTable, "edited-own-code", "reads", |journal| journal.edit(9, "/data/status", "ENV_ERROR"), &[9], &[]),
        bad(OutcomeTable, "dropped-member", "failures", |journal| journal.remove(6, "/data/meta", "error_id"), &[6], &[]),

        bad(TwoTexts, "dropped-member", "refusals", |journal| journal.remove(9, "/data/audit", "text"), &[9], &[]),
        bad(TwoTexts, "edited", "environment", |journal| journal.edit(6, "/data/message", "no way to it"), &[6], &[]),
        bad(TwoTexts, "edited-success", "reads", |journal| journal.edit(6, "/data/message", "well done"), &[6], &[]),
        bad(TwoTexts, "dropped-message", "refusals", |journal| journal.remove(9, "/data", "message"), &[9], &[]),

        bad(ReusedResult, "edited", "shared", |journal| journal.edit(8, "/data/data/n", 2), &[6, 8], &[]),
        bad(ReusedResult, "misplaced", "shared",
            |journal| journal.edit(8, "/data/meta/deduplicated", "run-000000000004:step-1:call-0"), &[8], &[]),
        bad(ReusedResult, "swapped", "shared", |journal| journal.move_behind(6, 8), &[7], &[]),
        bad(ReusedResult, "doubled", "shared", |journal| {
            journal.repeat(5, 7);
            journal.edit(8, "/call_id", "run-000000000004:step-0:call-1");
        }, &[8, 9], &[]),

        bad(UnknownEffect, "edited", "unknown", |journal| journal.edit(12, "/type", "run.cancelled"), &[9, 12], &[]),
        bad(UnknownEffect, "edited-list", "unknown",
            |journal| journal.edit(12, "/data/calls/0", "run-000000000003:step-0:call-0"), &[6, 12], &[]),
        bad(UnknownEffect, "dropped-list", "unknown", |journal| journal.edit(12, "/data/calls", json!([])), &[12], &[]),
        bad(UnknownEffect, "edited-result", "limits", |journal| {
            for (pointer, value) in [
                ("/type", json!("tool.failed")),
                ("/data/ok", json!(false)),
                ("/data/code", json!("timed_out")),
                ("/data/effect_state", json!("unknown")),
                ("/data/data", json!(null)),
                ("/data/message", json!("no answer")),
            ] {
                journal.edit(6, pointer, value);
            }
            journal.add(6, "/data/audit", "text", "no answer within 30000 ms");
        }, &[6, 8], &[]),

        bad(Budget, "edited", "limits", |journal| journal.edit(1, "/data/budget/max_valid_actions", 1), &[8], &[]),
        bad(Budget, "edited-calls", "limits", |journal| journal.edit(1, "/data/budget/max_calls_per_turn", 1), &[8], &[]),
        bad(Budget, "edited-steps", "reads", |journal| journal.edit(1, "/data/budget/max_steps", 2), &[18], &[]),

        bad(StopReason, "edited", "reads", |journal| journal.edit(20, "/data/answer", "d"), &[19, 20], &[]),
        bad(StopReason, "edited-channel", "environment",
            |journal| journal.edit(12, "/data/completed_by", "agent"), &[8, 12], &[]),
        bad(StopReason, "edited-limit", "limits", |journal| journal.edit(12, "/data/limit", "max_steps"), &[12], &[]),
        bad(StopReason, "edited-reason", "reads", |journal| journal.edit(20, "/data/reason", "goal_reached"), &[19, 20], &[]),
        bad(StopReason, "dropped-list", "approval", |journal| journal.edit(6, "/data/approvals", json!([])), &[6], &[]),
        bad(StopReason, "edited-end", "reads", |journal| journal.edit(20, "/data/reason", "call_settled"), &[19, 20], &[]),
        bad(StopReason, "misplaced-channel", "shared",
            |journal| journal.edit(14, "/data/completed_by", "environment"), &[10, 14], &[]),
        bad(StopReason, "moved", "approval", |journal| journal.move_behind(6, 12), &[5, 11, 12], &[Ending]),
        bad(StopReason, "edited-report", "limits",
            |journal| journal.add(6, "/data", "env_reported_completion", true), &[3, 15], &[]),
        bad(StopReason, "dropped", "reads", |journal| {
            journal.edit(11, "/data/calls", json!([]));
            for _ in 12..=17 {
                journal.drop_and_close(12);
            }
        }, &[11, 12], &[Pairing]),

        bad(Ending, "dropped", "approval", |journal| journal.drop_and_close(9), &[6, 9], &[]),
        bad(Ending, "doubled", "reads", |journal| journal.repeat(20, 20), &[20, 21], &[]),
        bad(Ending, "swapped", "reads", |journal| journal.exchange(19, 20), &[19, 20], &[StopReason]),
        bad(Ending, "edited", "limits", |journal| journal.edit(14, "/data", json!({})), &[12, 14], &[Budget]),
    ]
}
