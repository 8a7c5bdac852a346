//! What calls of a tool can come to, before any is made: what discovery hides, and what operators are told.
//!
//! ```text
//!   the rules of the tool's slice ── without an approval, and with one ──► denied both times, whatever call may come: hidden
//!                                                                      └─► anything else: shown, and left to the gate
//! ```

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Counts, PolicyDecision, Visibility};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;

use super::CedarPolicy;
use super::adapter::{self, Partial};
use super::question::Question;
use super::rules::Rules;
use super::slice::Prepared;
use super::supposed::Supposed;
use super::tools::ToolFacts;

/// What the rules answer to whatever calls of one tool one subject may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    denied: bool,
    words: Vec<String>,
}

impl Outlook {
    /// Whether every call is denied, whatever its arguments are, and whatever anybody approves.
    pub fn is_denied(&self) -> bool {
        self.denied
    }

    /// What is known, for an operator, a line each: `allowed`, `denied`, `needs approval`, or with the condition that is left of
    /// a rule, `small-payments: allowed when context.input.amount <= 100`, also where that is none and the rule applies so often
    /// only: `often: allowed for 20 calls since 2026-01-02T12:00:00.000Z`. Models are never told.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Every call gets this answer.
    fn of(decision: PolicyDecision) -> Self {
        let word = match decision {
            PolicyDecision::Allow => "allowed",
            PolicyDecision::Ask => "needs approval",
            PolicyDecision::Deny => "denied",
        };
        Self { denied: decision == PolicyDecision::Deny, words: vec![word.to_owned()] }
    }

    /// Nothing is known, so nothing is hidden.
    fn unclear(why: &str) -> Self {
        Self { denied: false, words: vec![format!("depends on the call: {why}")] }
    }
}

/// Conditions that hold for every approval which is supposed.
static OF_ANY_APPROVAL: LazyLock<Vec<serde_json::Value>> = LazyLock::new(adapter::conditions_of_any_approval);

/// Whom and what is looked ahead for.
struct Foreseen<'a> {
    subject: &'a Subject,
    tool: &'a ToolFacts,
    prepared: &'a Prepared,
}

impl Foreseen<'_> {
    /// A call, where all of them get the same answer.
    fn any_call<'q>(
        &'q self,
        permission: Permission,
        arguments: &'q Arguments,
        counts: &'q Counts<'q>,
    ) -> Question<'q> {
        Question {
            subject: self.subject,
            tool: self.tool,
            arguments,
            arguments_digest: arguments.digest(),
            permission,
            step: 0,
            run: RunFacts::default(),
            counts,
            now: Timestamp::default(),
            shadow: false,
        }
    }
}

impl Rules {
    /// What calls of this tool by this subject can come to under these rules, where they act.
    pub fn outlook(&self, subject: &Subject, spec: &ToolSpec) -> Outlook {
        let known = self.tools.get(spec.name()).filter(|tool| tool.definition == spec.definition());
        let Some((tool, slice)) = known.and_then(|tool| Some((tool, self.slices.get(&tool.name)?))) else {
            return Outlook::unclear("the rules were loaded for other tools, or another definition of it");
        };
        match slice.prepared(&self.list, &self.tools, tool, subject) {
            Ok(prepared) => prepared.outlook(|| self.foresee(spec, &Foreseen { subject, tool, prepared: &prepared })),
            Err(error) => Outlook::unclear(&error),
        }
    }

    fn foresee(&self, spec: &ToolSpec, of: &Foreseen<'_>) -> Outlook {
        let declared = self.supposing(spec.permission(), of);
        // The permission that a call gets from a tool which proves it harmless.
        let relaxes = spec.permission() == Permission::Ask && spec.harmless_when().is_some();
        let (outlook, harmless) = match (declared, relaxes.then(|| self.supposing(Permission::Allow, of))) {
            (Ok(declared), None) => return declared,
            (Ok(declared), Some(Ok(harmless))) => (declared, harmless),
            (Err(error), _) | (_, Some(Err(error))) => return Outlook::unclear(&error),
        };
        let more = harmless.words.iter().filter(|word| !outlook.words.contains(word));
        let more: Vec<String> = more.map(|word| format!("where the tool proves it harmless, {word}")).collect();
        Outlook { denied: outlook.denied && harmless.denied, words: [outlook.words, more].concat() }
    }

    fn supposing(&self, permission: Permission, of: &Foreseen<'_>) -> Result<Outlook, String> {
        let prepared = of.prepared;
        if prepared.is_fixed() {
            let (arguments, counts) = (Arguments::empty(), Counts::unknown());
            return Ok(Outlook::of(self.answer(&of.any_call(permission, &arguments, &counts)).decision));
        }
        let foreseen = |approved| {
            let supposed = Supposed { permission, approved };
            let rules = prepared.rules.iter().filter_map(|index| self.list.get(*index));
            prepared.world.foresee(
                &self.tools.schema,
                rules.map(|rule| (rule.id.as_str(), &rule.parsed)),
                |conditions| supposed.put_into(conditions, &OF_ANY_APPROVAL),
            )
        };
        let (plain, approved) = (foreseen(false)?, foreseen(true)?);
        // A rule that is used up permits no more. What is denied with it is denied without it, and nothing else is as sure.
        let for_good = prepared.caps.is_empty();
        Ok(match (plain.allowed, approved.allowed) {
            (Some(false), Some(false)) => Outlook::of(PolicyDecision::Deny),
            (Some(true), _) if for_good => Outlook::of(PolicyDecision::Allow),
            (Some(false), Some(true)) if for_good => Outlook::of(PolicyDecision::Ask),
            _ => Outlook { denied: false, words: self.told(prepared, plain, approved) },
        })
    }

    /// What is left of each rule, in the order of the rules.
    fn told(&self, prepared: &Prepared, plain: Partial, approved: Partial) -> Vec<String> {
        let by_id = |partial: Partial| -> BTreeMap<String, Option<String>> {
            partial.left.into_iter().map(|left| (left.id, left.when)).collect()
        };
        let (plain, approved) = (by_id(plain), by_id(approved));
        let mut words = Vec::new();
        for rule in prepared.rules.iter().filter_map(|index| self.list.get(*index)) {
            let mut tell = |what: &str, when: &Option<String>| {
                let when = when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
                let often = rule.cap.as_ref().map(|cap| format!(" for {cap}")).unwrap_or_default();
                words.push(format!("{}: {what}{often}{when}", rule.id));
            };
            let (before, after) = (plain.get(&rule.id), approved.get(&rule.id));
            match (rule.parsed.forbids(), before, after) {
                (_, None, None) => {}
                (false, Some(when), _) => tell("allowed", when),
                (false, None, Some(when)) | (true, Some(when), None) => tell("needs approval", when),
                (true, Some(when), Some(still)) if when == still => tell("denied", when),
                (true, Some(when), Some(still)) => {
                    tell("needs approval", when);
                    tell("denied", still);
                }
                (true, None, Some(when)) => tell("denied", when),
            }
        }
        words
    }
}

/// Hides what the rules in force deny to a subject whatever the call is. It authorises nothing: whoever calls a tool that is
/// seen, or that is still in the set which its run was bound to, is decided about by the rules of that moment.
impl Visibility for CedarPolicy {
    fn sees(&self, subject: &Subject, tool: &ToolSpec) -> bool {
        // Rules in the shadow hide nothing, and neither does what cannot be worked out.
        !self.acts
            || catch_unwind(AssertUnwindSafe(|| self.rules().outlook(subject, tool)))
                .map_or(true, |outlook| !outlook.is_denied())
    }
}

#[cfg(test)]
mod tests;
