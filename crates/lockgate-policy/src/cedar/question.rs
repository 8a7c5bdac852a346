//! One decision: allow, ask or deny, and why.

use std::collections::BTreeSet;
use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Approvers, Count, Counts, Obligations, PolicyDecision, PolicyRequest, PolicyVerdict};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;

use super::adapter::{Answer, Set, Value};
use super::input::{self, Unfit};
use super::reads::Reads;
use super::rule::Rule;
use super::rules::Rules;
use super::slice::Prepared;
use super::tools::ToolFacts;

/// What the rules are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) subject: &'a Subject,
    pub(super) tool: &'a ToolFacts,
    pub(super) arguments: &'a Arguments,
    pub(super) arguments_digest: Digest,
    pub(super) permission: Permission,
    pub(super) step: u32,
    pub(super) run: RunFacts,
    pub(super) counts: &'a Counts<'a>,
    pub(super) now: Timestamp,
    pub(super) shadow: bool,
}

/// How long the approval runs that a decision supposes.
const SUPPOSED: Duration = Duration::from_mins(10);

impl Rules {
    /// Decides one call. What cannot be evaluated is denied, and so is a tool that the rules were not checked against.
    pub fn decide(&self, request: &PolicyRequest<'_>, now: Timestamp, shadow: bool) -> PolicyVerdict {
        let Some(question) = self.question(request, now, shadow) else {
            let name = request.tool.name();
            let reason =
                format!("`{name}` is denied: the rules were loaded for other tools, or another definition of it");
            return PolicyVerdict::new(PolicyDecision::Deny, vec![self.digest_word.clone()], reason);
        };
        self.answer(&question)
    }

    /// What the rules are asked about a call; nothing about a tool that they were not checked against.
    pub(super) fn question<'a>(
        &'a self,
        request: &PolicyRequest<'a>,
        now: Timestamp,
        shadow: bool,
    ) -> Option<Question<'a>> {
        let tool = self.tools.get(request.tool.name()).filter(|tool| tool.definition == request.tool.definition())?;
        Some(Question {
            subject: request.subject,
            tool,
            arguments: request.arguments,
            arguments_digest: request.arguments_digest,
            permission: request.permission,
            step: request.step,
            run: request.run,
            counts: request.counts,
            now,
            shadow,
        })
    }

    pub(super) fn answer(&self, question: &Question<'_>) -> PolicyVerdict {
        let Some(slice) = self.slices.get(&question.tool.name) else {
            return self.deny(question, &[], "the rules do not know it");
        };
        match slice.prepared(&self.list, &self.tools, question.tool, question.subject) {
            Ok(prepared) => prepared.answer(question.permission, || self.work_out(question, &prepared)),
            Err(error) => self.deny(question, &[], &format!("the rules could not be asked: {error}")),
        }
    }

    /// Twice: as it is, and where that is not allowed, as it would be if somebody had approved it.
    fn work_out(&self, question: &Question<'_>, prepared: &Prepared) -> PolicyVerdict {
        let fewer = match question.in_force(prepared) {
            Ok(fewer) => fewer,
            Err(error) => return self.deny(question, &[], &error),
        };
        let set = fewer.as_ref().unwrap_or(&prepared.set);
        let ask = |approved| {
            let context =
                question.context(&prepared.reads, &prepared.counts, approved).map_err(|text| (Vec::new(), text))?;
            let answer = prepared.world.ask(set, context).map_err(|error| (Vec::new(), error))?;
            if answer.failed.is_empty() {
                return Ok(answer);
            }
            let texts: Vec<_> =
                answer.failed.iter().map(|(id, error)| format!("the rule `{id}` fails: {error}")).collect();
            Err((answer.failed.into_iter().map(|(id, _)| id).collect(), texts.join("; ")))
        };
        let denied = |(ids, text): (Vec<String>, String)| self.deny(question, &ids, &text);
        let plain = match ask(false) {
            Ok(plain) => plain,
            Err(failed) => return denied(failed),
        };
        if plain.allowed {
            return self.verdict(
                question,
                PolicyDecision::Allow,
                &plain.determining,
                "is allowed",
                Obligations::default(),
            );
        }
        if !prepared.reads.context.contains("approval") {
            return self.refused(question, &plain);
        }
        match ask(true) {
            Ok(approved) if approved.allowed => self.ask_for(question, &plain, &approved),
            Ok(approved) => self.refused(question, &approved),
            Err(failed) => denied(failed),
        }
    }

    /// The rules that an approval lifts, and those that permit then, are those that ask: each of their demands holds.
    fn ask_for(&self, question: &Question<'_>, plain: &Answer, approved: &Answer) -> PolicyVerdict {
        let lifted = plain.determining.iter().filter(|id| !approved.determining.contains(id));
        let ids: Vec<String> = lifted.chain(&approved.determining).cloned().collect();
        match demanded(ids.iter().filter_map(|id| self.rule(id))) {
            Ok(obligations) => {
                self.verdict(question, PolicyDecision::Ask, &ids, "needs a person's approval", obligations)
            }
            Err(conflict) => self.deny(question, &ids, &conflict),
        }
    }

    fn refused(&self, question: &Question<'_>, answer: &Answer) -> PolicyVerdict {
        let reasons: Vec<_> =
            answer.determining.iter().filter_map(|id| self.rule(id)?.demands.reason.as_deref()).collect();
        match answer.determining.as_slice() {
            [] => self.deny(question, &[], "no rule permits it"),
            ids if reasons.is_empty() => self.deny(question, ids, &format!("by {}", listed(ids))),
            ids => self.deny(question, ids, &reasons.join("; ")),
        }
    }

    fn deny(&self, question: &Question<'_>, ids: &[String], why: &str) -> PolicyVerdict {
        self.verdict(question, PolicyDecision::Deny, ids, &format!("is denied: {why}"), Obligations::default())
    }

    fn verdict(
        &self,
        question: &Question<'_>,
        decision: PolicyDecision,
        ids: &[String],
        what: &str,
        obligations: Obligations,
    ) -> PolicyVerdict {
        let tool = question.tool;
        let [colon, because] = obligations.because.as_deref().map_or(["", ""], |because| [": ", because]);
        let reason = ["`", &tool.name, "` with effect ", tool.effect.word(), " ", what, colon, because].concat();
        let mut policies: Vec<String> = ids.iter().map(|id| format!("cedar:{id}")).collect();
        policies.push(self.digest_word.clone());
        PolicyVerdict { obligations, ..PolicyVerdict::new(decision, policies, reason) }
    }

    pub(super) fn rule(&self, id: &str) -> Option<&Rule> {
        self.by_id.get(id).and_then(|index| self.list.get(*index))
    }
}

impl Question<'_> {
    /// The rules without those that were used as often as they may be; nothing where all of them apply.
    fn in_force(&self, prepared: &Prepared) -> Result<Option<Set>, String> {
        let mut used_up = Vec::new();
        for (id, cap) in &prepared.caps {
            let admitted = self.counts.get(&cap.count);
            let admitted = admitted.ok_or_else(|| format!("nobody knows how often the rule `{id}` was used"))?;
            if cap.is_used_up(admitted) {
                used_up.push(id.as_str());
            }
        }
        if used_up.is_empty() { Ok(None) } else { prepared.set.without(&used_up).map(Some) }
    }

    /// What the rules read of this call, and nothing else.
    pub(super) fn context(
        &self,
        reads: &Reads,
        counts: &[Count],
        approved: bool,
    ) -> Result<Vec<(String, Value)>, String> {
        let mut context = Vec::with_capacity(8);
        let mut add = |name: &str, value: Value| context.push((name.to_owned(), value));
        if reads.context.contains("input") {
            let fields = self.tool.shape.fields.iter().filter(|field| reads.input.contains(&field.name));
            let input = input::record(fields, self.arguments.root())
                .map_err(|Unfit { path, why }| format!("the rules look at the argument `{path}`: {why}"))?;
            add("input", Value::record(input));
        }
        if reads.context.contains("permission") {
            add("permission", Value::string(self.permission.word()));
        }
        if reads.context.contains("step") {
            add("step", Value::long(self.step.into()));
        }
        if reads.context.contains("run") {
            add("run", Value::record(self.run_facts()));
        }
        if reads.context.contains("counts") {
            add("counts", Value::record(self.counts(reads, counts)?));
        }
        if reads.context.contains("shadow") {
            add("shadow", Value::bool(self.shadow));
        }
        if reads.has("now") {
            add("now", Value::time(self.now));
        }
        if reads.has("arguments_digest") {
            add("arguments_digest", Value::string(&self.arguments_digest.to_string()));
        }
        if approved {
            // Whether there is one is all that most rules ask.
            let facts = if reads.looks_into_approvals() { self.supposed_approval() } else { Vec::new() };
            add("approval", Value::record(facts));
        }
        Ok(context)
    }

    fn run_facts(&self) -> Vec<(String, Value)> {
        let RunFacts { calls, actions, questions, steps_left, actions_left, questions_left } = self.run;
        let always = [("calls", calls), ("actions", actions), ("questions", questions)];
        let bounded = [("steps_left", steps_left), ("actions_left", actions_left), ("questions_left", questions_left)];
        let bounded = bounded.into_iter().filter_map(|(name, left)| Some((name, left?)));
        always.into_iter().chain(bounded).map(|(name, number)| (name.to_owned(), Value::long(number.into()))).collect()
    }

    /// The numbers that the rules look at. One that is not known has no answer.
    fn counts(&self, reads: &Reads, counts: &[Count]) -> Result<Vec<(String, Value)>, String> {
        let named = counts.iter().filter(|count| reads.counts.contains(&count.name));
        named
            .map(|count| {
                let admitted = self.counts.get(count).and_then(|admitted| i64::try_from(admitted).ok());
                let admitted = admitted.ok_or_else(|| format!("the count `{}` is not known", count.name))?;
                Ok((count.name.clone(), Value::long(admitted)))
            })
            .collect()
    }

    /// A valid approval of this very call. That the real one is so too, and whose yes it takes, is held by the gate.
    fn supposed_approval(&self) -> Vec<(String, Value)> {
        vec![
            ("arguments_digest".to_owned(), Value::string(&self.arguments_digest.to_string())),
            ("expires_at".to_owned(), Value::time(self.now.after(SUPPOSED))),
            ("uses_left".to_owned(), Value::long(1)),
        ]
    }
}

/// What several rules demand together: the strictest of each. Approvers have to be of a role that all of them name.
fn demanded<'r>(rules: impl Iterator<Item = &'r Rule>) -> Result<Obligations, String> {
    let mut obligations = Obligations::default();
    let mut reasons: Vec<&str> = Vec::new();
    let mut named_by: Option<&str> = None;
    for rule in rules {
        let demands = &rule.demands;
        if let Some(approvers) = &demands.approvers {
            let together = match &obligations.approvers {
                None => approvers.clone(),
                Some(others) => both(others, approvers).ok_or_else(|| {
                    let other = named_by.unwrap_or_default();
                    format!("the rules `{other}` and `{}` demand approvers of different roles", rule.id)
                })?,
            };
            obligations.approvers = Some(together);
            named_by = Some(&rule.id);
        }
        obligations.expires_in = match (obligations.expires_in, demands.expires_in) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if let Some(reason) = demands.reason.as_deref()
            && !reasons.contains(&reason)
        {
            reasons.push(reason);
        }
    }
    obligations.because = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(obligations)
}

/// Whose yes satisfies both; nothing where nobody's does.
pub(super) fn both(one: &Approvers, other: &Approvers) -> Option<Approvers> {
    let count = one.count.max(other.count);
    let roles = match (one.roles.as_slice(), other.roles.as_slice()) {
        ([], roles) | (roles, []) => roles.to_vec(),
        (roles, others) => {
            let others: BTreeSet<_> = others.iter().collect();
            let shared: Vec<_> = roles.iter().filter(|role| others.contains(role)).cloned().collect();
            (!shared.is_empty()).then_some(shared)?
        }
    };
    Some(Approvers { roles, count })
}

fn listed(ids: &[String]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    let rules = if ids.len() == 1 { "the rule" } else { "the rules" };
    format!("{rules} {}", ids.join(", "))
}
