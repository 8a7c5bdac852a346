//! The result of one call.

use std::fmt::Write as _;

use lockgate::contract::document::{Document, Limits};
use lockgate::contract::effect::EffectState;
use lockgate::contract::event::Audit;
use lockgate::contract::ids::RunId;
use lockgate::contract::outcome::Status;
use lockgate::contract::result::ToolResult;
use lockgate::executor::StageTimes;
use lockgate::harness::DirectAnswer;
use serde::Serialize;

use crate::render::json::pretty;
use crate::render::style::{BAD, FAINT, GOOD, NAME, OPEN, styled};
use crate::render::text::{harmless, indented, one_line};

/// The wire shape, and the audit where it was asked for.
#[derive(Debug, Serialize)]
pub(crate) struct CallView<'a> {
    #[serde(flatten)]
    result: &'a ToolResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<AuditView<'a>>,
}

/// The whole truth about a call.
#[derive(Debug, Serialize)]
struct AuditView<'a> {
    run_id: &'a RunId,
    status: Option<Status>,
    effect_state: EffectState,
    #[serde(flatten)]
    audit: &'a Audit,
    /// Microseconds in each stage that the call reached; absent for a stored result.
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<&'a StageTimes>,
}

impl<'a> CallView<'a> {
    /// What is printed of an answer.
    pub(crate) fn of(answer: &'a DirectAnswer, audit: bool) -> Self {
        Self {
            result: &answer.result,
            audit: audit.then_some(AuditView {
                run_id: &answer.run_id,
                status: answer.status,
                effect_state: answer.effect_state,
                audit: &answer.audit,
                timings: answer.times.as_ref(),
            }),
        }
    }
}

/// Puts a stored whole output in the place of its head and tail.
pub(crate) fn make_whole(result: &mut ToolResult, whole: &str) {
    // A stored output is the text of a string, or the JSON of anything else; only arrays and objects grow beyond a cap.
    let structured = whole.starts_with(['{', '[']).then(|| Document::parse(whole, Limits::OWN).ok()).flatten();
    result.data = Some(structured.unwrap_or_else(|| Document::string(whole)));
    result.meta.truncated_bytes = None;
    result.meta.truncated_chars = None;
}

/// For people: what happened in a line, then the data or why there is none.
pub(crate) fn human(answer: &DirectAnswer) -> String {
    let result = &answer.result;
    let version =
        result.tool_version.as_deref().map(|version| format!(" {}", one_line(version, 20))).unwrap_or_default();
    let mut text = format!("{}{version} · {} · {}\n", one_line(&result.tool_name, 60), verdict(answer), result.call_id);
    if let Some(data) = &result.data {
        let shown = match data.root().as_str() {
            Some(words) => harmless(&words),
            None => harmless(&pretty(data)),
        };
        text.push_str(&indented(&shown, 2));
    }
    if let Some(error) = &result.error {
        text.push_str(&indented(&harmless(&error.message), 2));
        if error.retryable {
            text.push_str("  trying again may help\n");
        }
    }
    if let Some(earlier) = &result.meta.deduplicated {
        let _ = writeln!(text, "  the stored result of {earlier}: nothing was run");
    }
    if let (Some(bytes), Some(artifact)) = (result.meta.truncated_bytes, &result.meta.artifact) {
        let _ = writeln!(text, "  {bytes} bytes left out; `--full` prints the whole ({artifact})");
    }
    if let Some(error_id) = &result.meta.error_id {
        let _ = writeln!(text, "  error id {error_id}");
    }
    text
}

fn verdict(answer: &DirectAnswer) -> String {
    let Some(error) = &answer.result.error else {
        return styled(GOOD, "ok");
    };
    let reason = error.reason.as_deref().map(|reason| format!(" ({})", one_line(reason, 60))).unwrap_or_default();
    let style = if answer.status.is_none() { OPEN } else { BAD };
    let unknown = if answer.effect_state == EffectState::Unknown { " · effect unknown" } else { "" };
    format!("{}{reason}{unknown}", styled(style, &error.code))
}

/// The audit for people: one fact a line.
pub(crate) fn audit(answer: &DirectAnswer) -> String {
    let audit = &answer.audit;
    let mut facts: Vec<(&str, String)> = vec![("run", answer.run_id.to_string())];
    facts.extend(answer.status.map(|status| ("counts as", status.to_string())));
    facts.push(("effect state", answer.effect_state.to_string()));
    facts.extend(audit.reason.iter().map(|reason| ("true reason", reason.clone())));
    facts.extend(audit.text.iter().map(|text| ("what happened", text.clone())));
    facts.extend(audit.decision.iter().map(|decision| ("policy decision", decision.to_string())));
    if !audit.policies.is_empty() {
        facts.push(("policies", audit.policies.join(", ")));
    }
    facts.extend(audit.approval_id.iter().map(|id| ("approval", id.to_string())));
    facts.extend(audit.tool_version.iter().map(|version| ("tool version", version.clone())));
    facts.extend(audit.definition.iter().map(|digest| ("definition", digest.to_string())));
    facts.extend(audit.arguments_digest.iter().map(|digest| ("arguments", digest.to_string())));
    if let Some(times) = &answer.times {
        let times: Vec<_> = times.stages().map(|(stage, spent)| format!("{stage} {}", spent.as_micros())).collect();
        facts.push(("microseconds", times.join(", ")));
    }
    format!("{}\n{}", styled(NAME, "audit"), facts.iter().map(|(name, value)| fact(name, value)).collect::<String>())
}

fn fact(name: &str, value: &str) -> String {
    format!(
        "  {}  {}\n",
        styled(FAINT, format_args!("{name:<15}")),
        harmless(value).replace('\n', "\n                   ")
    )
}

#[cfg(test)]
mod tests;
