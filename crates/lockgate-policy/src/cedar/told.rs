//! Rules as people are shown them.

use std::collections::BTreeMap;

use lockgate_contract::ports::PolicyRequest;
use lockgate_contract::time::Timestamp;
use serde::Serialize;

use super::adapter::Principal;
use super::rules::Rules;

/// A rule as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// What the journal calls it.
    pub id: String,
    /// Its file, as it was named.
    pub file: String,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Its text, with its annotations.
    pub text: String,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// A rule that permits calls of a tool, and does not permit this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// What the journal calls it.
    pub id: String,
    /// Why it does not.
    pub why: String,
}

impl Rules {
    /// The rule with this id; nothing where the set has none.
    pub fn rule_text(&self, id: &str) -> Option<RuleText> {
        let rule = self.rule(id)?;
        Some(RuleText {
            id: rule.id.clone(),
            file: rule.file.clone(),
            line: rule.line,
            text: rule.parsed.source(),
            annotations: rule.parsed.annotations.iter().cloned().collect(),
        })
    }

    /// The rules that permit calls of the tool, for a call that none of them permits. None for a call that no rule was asked
    /// about, because of an argument that rules cannot hold.
    pub fn near(&self, request: &PolicyRequest<'_>, now: Timestamp, shadow: bool) -> Vec<NearMiss> {
        let question = self.question(request, now, shadow);
        let (Some(question), Ok(principal)) = (question, Principal::of(request.subject)) else {
            return Vec::new();
        };
        let tool = question.tool;
        let slice = self.slices.get(&tool.name);
        let prepared = slice.and_then(|slice| slice.prepared(&self.list, &self.tools, tool, request.subject).ok());
        if prepared.is_none_or(|prepared| question.context(&prepared.reads, &prepared.counts, false).is_err()) {
            return Vec::new();
        }
        let about_it = self.list.iter().filter(|rule| !rule.parsed.forbids() && rule.parsed.concerns(tool));
        about_it
            .map(|rule| {
                let is_for = rule.parsed.is_for(&principal);
                let why = if is_for { "its conditions do not hold" } else { "it is for others" };
                NearMiss { id: rule.id.clone(), why: why.to_owned() }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
