//! The properties of the rules before one tool.

mod numbers;

use std::collections::BTreeSet;

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{PolicyDecision, PolicyVerdict};

use super::calls::{Answered, Approved, Looked, answered, every_call, plainest, settled, unfit};
use super::{Counterexample, Open, Proof, Property, Prover};
use crate::cedar::adapter::{Formula, Found, Solver, Unsolved};
use crate::cedar::question::both;
use crate::cedar::rule::Rule;
use crate::cedar::rules::Rules;
use crate::cedar::tools::ToolFacts;

/// One tool, and the rules that concern it.
pub(super) struct Case<'a> {
    rules: &'a Rules,
    list: Vec<&'a Rule>,
    before: Option<(&'a Rules, Vec<&'a Rule>)>,
    tool: &'a ToolFacts,
    looked: Looked,
    solver: &'a mut Solver,
    prover: &'a Prover,
    /// A call that is not denied, if there is one; or why nothing can be said. Found when it is first asked for.
    reached: Option<Answer<Option<Found>>>,
}

/// What a question came to.
type Answer<T> = Result<T, String>;

impl<'a> Case<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        before: Option<&'a Rules>,
        tool: &'a ToolFacts,
        solver: &'a mut Solver,
        prover: &'a Prover,
    ) -> Self {
        let list = concerning(rules, tool);
        let before = before.map(|before| (before, concerning(before, tool)));
        let named = list.iter().chain(before.iter().flat_map(|(_, list)| list));
        let looked = Looked::of(named.copied());
        Self { rules, list, before, tool, looked, solver, prover, reached: None }
    }

    /// Adds what becomes of one property to its proof.
    pub(super) async fn prove(&mut self, proof: &mut Proof) {
        if let Some(why) = self.set_apart(proof.property) {
            proof.set_apart.push((self.tool.name.clone(), why));
            return;
        }
        proof.tools.push(self.tool.name.clone());
        if proof.property == Property::ExternalAsks {
            proof.left_out.extend(self.allowed_so_often());
        }
        match self.answer(proof.property).await {
            Ok(counterexample) => proof.refuted.extend(counterexample),
            Err(why) => proof.open.push(Open { tool: self.tool.name.clone(), why }),
        }
    }

    async fn answer(&mut self, property: Property) -> Answer<Option<Counterexample>> {
        let reached = match self.reached.take() {
            Some(known) => known,
            None => self.looked_at().await,
        };
        let found = self.reached.insert(reached).clone()?;
        match property {
            Property::NeverFails => self.never_fails().await,
            Property::ExternalAsks => self.external_asks().await,
            Property::Reachable => self.reachable(found),
            Property::NoWider => self.no_wider().await,
        }
    }

    /// A call that is not denied, as far as a formula says so.
    async fn looked_at(&mut self) -> Answer<Option<Found>> {
        if let Some(why) = self.elsewhere() {
            return Err(why);
        }
        let calls = self.calls(Approved::Either);
        let reached = self.allowed(&self.formula(&self.list, &[unless(&calls)])?).await?;
        if reached.is_none() {
            // Of calls that there cannot be everything would be proved.
            let any = format!("permit (principal, action, resource) when {{ {calls} }};");
            let any = self.allowed(&self.formula(&[], &[any])?).await?;
            any.ok_or("what is supposed about its calls contradicts itself")?;
        }
        Ok(reached)
    }

    fn set_apart(&self, property: Property) -> Option<&'static str> {
        let (effect, permission) = (self.tool.effect, self.tool.permission);
        match property {
            Property::ExternalAsks if effect != Effect::External => Some("is not external"),
            Property::ExternalAsks if permission == Permission::Allow => Some("declares that nobody is to be asked"),
            Property::ExternalAsks | Property::Reachable if permission == Permission::Deny => Some("declares `deny`"),
            _ => None,
        }
    }

    /// A formula takes everything for existing, and the engine knows the call's own agent and tool only.
    fn elsewhere(&self) -> Option<String> {
        let before = self.before.iter().flat_map(|(_, list)| list);
        let rule = self.list.iter().chain(before).find(|rule| rule.parsed.looks_elsewhere())?;
        Some(format!("the rule `{}` looks into something that is neither the agent nor the tool of the call", rule.id))
    }

    async fn never_fails(&mut self) -> Answer<Option<Counterexample>> {
        for place in 0..self.list.len() {
            let rule = self.list[place];
            let Some(found) = self.failed(rule).await? else { continue };
            let fails = format!("the rule `{}` fails", rule.id);
            return self.shown(self.rules, None, found, &fails, |answered| answered.verdict.reason.contains(&fails));
        }
        Ok(None)
    }

    /// Allowed where nobody approved anything, though the tool wants a person asked: by a rule that does so however often. What
    /// applies so often only was approved, once and for as many calls, when the rule was written.
    async fn external_asks(&mut self) -> Answer<Option<Counterexample>> {
        let asked = format!("{} && context.permission == \"ask\"", self.calls(Approved::No));
        let always: Vec<&Rule> = self.list.iter().copied().filter(|rule| rule.cap.is_none()).collect();
        let formula = self.formula(&always, &[unless(&asked)])?;
        let Some(found) = self.allowed(&formula).await? else {
            return Ok(None);
        };
        let allowed = |answered: &Answered| {
            let mut by = determining(&answered.verdict);
            answered.verdict.decision == PolicyDecision::Allow && by.any(|id| always.iter().any(|rule| rule.id == id))
        };
        self.shown(self.rules, None, found, "is allowed", allowed)
    }

    fn reachable(&self, found: Option<Found>) -> Answer<Option<Counterexample>> {
        let Some(found) = found else {
            return Ok(Some(Counterexample {
                tool: self.tool.name.clone(),
                example: None,
                before: None,
                reason: format!("no call of `{}` is allowed or asked about", self.tool.name),
                rules: Vec::new(),
            }));
        };
        let reached = |answered: &Answered| answered.verdict.decision != PolicyDecision::Deny;
        self.shown(self.rules, None, found, "is not denied", reached).map(|_| None)
    }

    async fn no_wider(&mut self) -> Answer<Option<Counterexample>> {
        let Some((before, list)) = self.before.clone() else {
            return Ok(None);
        };
        if let Some((one, other)) = contradictory(&list) {
            return Err(format!(
                "the rules before deny where `{one}` and `{other}` demand different approvers at once"
            ));
        }
        if let Some(why) = self.counted_otherwise(&list) {
            return Err(why);
        }
        let wider = |answered: &Answered| {
            answered.before.is_some_and(|before| width(answered.verdict.decision) > width(before))
        };
        if let Some(found) = self.beyond(&self.list.clone(), &list).await? {
            return self.shown(self.rules, Some(before), found, "was denied, or asked about, before", wider);
        }
        // What failed before was denied.
        for rule in &list {
            if let Some(found) = self.failed(rule).await? {
                let found = settled(found, self.tool, &self.looked);
                let call = answered(before, None, self.tool, &found).map(|answered| answered.example);
                let call = call.map(|call| format!(", for `{call}`")).unwrap_or_default();
                return Err(format!("the rule `{}` of those before fails{call}, and that denies", rule.id));
            }
        }
        for (name, formula, value) in self.unread(&list)? {
            if let Some(mut found) = self.allowed(&formula).await? {
                found.input.insert(name, value);
                return self.shown(self.rules, Some(before), found, "was denied before", wider);
            }
        }
        self.no_wider_used_up(&list).await.map(|()| None)
    }

    /// A call that some rules let further than others do, if there is one.
    async fn beyond(&mut self, list: &[&Rule], others: &[&Rule]) -> Answer<Option<Found>> {
        for approved in [Approved::No, Approved::Yes] {
            let formula = self.formula(list, &[unless(&self.calls(approved))])?;
            let others = self.formula(others, &[])?;
            let found = self.solver.allowed_beyond(&formula, &others).await.map_err(|why| self.unsolved(why))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Arguments with numbers that rules before read and rules now do not: where Cedar cannot hold the number, that denied. For
    /// each its name, what the rules now allow to whom it mattered, and such a number.
    fn unread(&self, before: &[&Rule]) -> Answer<Vec<(String, Formula, String)>> {
        let mut unread = Vec::new();
        for field in &self.tool.shape.fields {
            let Some(value) = unfit(&field.kind) else { continue };
            let (old, new) = (readers(before, &field.name), readers(&self.list, &field.name));
            if old.is_subset(&new) {
                continue;
            }
            let mattered: Vec<_> = old.iter().map(|principal| format!("({principal})")).collect();
            let mut more = vec![unless(&format!("{} && ({})", self.calls(Approved::Either), mattered.join(" || ")))];
            more.extend(
                new.iter().map(|principal| format!("forbid (principal, action, resource) when {{ {principal} }};")),
            );
            unread.push((field.name.clone(), self.formula(&self.list, &more)?, value));
        }
        Ok(unread)
    }

    /// What was found, if the rules themselves say so too.
    fn shown(
        &self,
        rules: &Rules,
        before: Option<&Rules>,
        found: Found,
        what: &str,
        is_true: impl Fn(&Answered) -> bool,
    ) -> Answer<Option<Counterexample>> {
        let holds = |call: &Found| answered(rules, before, self.tool, call).is_some_and(|answered| is_true(&answered));
        let found = settled(found, self.tool, &self.looked);
        let plain = if holds(&found) { plainest(found, self.tool, holds) } else { found };
        let answered = answered(rules, before, self.tool, &plain)
            .ok_or_else(|| format!("the solver found a call that {what}, and it cannot be written down"))?;
        if !is_true(&answered) {
            let (example, reason) = (&answered.example, &answered.verdict.reason);
            return Err(format!("the solver found a call that {what}, and the rules answer `{example}`: {reason}"));
        }
        Ok(Some(Counterexample {
            tool: self.tool.name.clone(),
            rules: determining(&answered.verdict).map(str::to_owned).collect(),
            example: Some(answered.example),
            before: answered.before,
            reason: answered.verdict.reason,
        }))
    }

    async fn failed(&mut self, rule: &Rule) -> Answer<Option<Found>> {
        let supposed = self.calls(Approved::Either);
        let failed = self.solver.failed(&self.rules.tools.schema, self.tool, &rule.parsed, &supposed).await;
        failed.map_err(|why| self.unsolved(why))
    }

    async fn allowed(&mut self, formula: &Formula) -> Answer<Option<Found>> {
        let found = self.solver.allowed(formula).await;
        found.map_err(|why| self.unsolved(why))
    }

    fn calls(&self, approved: Approved) -> String {
        every_call(&self.rules.tools, self.tool, &self.looked, approved)
    }

    fn formula(&self, list: &[&Rule], more: &[String]) -> Answer<Formula> {
        let rules = list.iter().map(|rule| (rule.id.as_str(), &rule.parsed));
        Formula::of(&self.rules.tools.schema, self.tool, rules, more)
    }

    fn unsolved(&self, why: Unsolved) -> String {
        match why {
            Unsolved::Time => format!("time: the solver had no answer after {} ms", self.prover.limit.as_millis()),
            Unsolved::Otherwise(text) => text,
        }
    }
}

fn concerning<'r>(rules: &'r Rules, tool: &ToolFacts) -> Vec<&'r Rule> {
    rules.list.iter().filter(|rule| rule.parsed.concerns(tool)).collect()
}

/// The rules that an answer is by.
fn determining(verdict: &PolicyVerdict) -> impl Iterator<Item = &str> {
    verdict.policies.iter().filter_map(|policy| policy.strip_prefix("cedar:"))
}

/// Whom these rules read this argument for, as conditions.
fn readers(list: &[&Rule], argument: &str) -> BTreeSet<String> {
    let readers = list.iter().filter(|rule| rule.reads.input.contains(argument));
    readers.map(|rule| rule.parsed.principal()).collect()
}

/// How much an answer lets through.
fn width(decision: PolicyDecision) -> u8 {
    match decision {
        PolicyDecision::Deny => 0,
        PolicyDecision::Ask => 1,
        PolicyDecision::Allow => 2,
    }
}

/// The rule that nothing but such calls is allowed.
fn unless(condition: &str) -> String {
    format!("forbid (principal, action, resource) unless {{ {condition} }};")
}

/// Two rules whose approvers have no role in common.
fn contradictory<'r>(list: &[&'r Rule]) -> Option<(&'r str, &'r str)> {
    let demanding: Vec<_> =
        list.iter().filter_map(|rule| Some((&*rule.id, rule.demands.approvers.as_ref()?))).collect();
    let pairs =
        demanding.iter().enumerate().flat_map(|(at, one)| demanding.iter().skip(at + 1).map(move |other| (one, other)));
    let mut apart = pairs.filter(|((_, one), (_, other))| both(one, other).is_none());
    apart.next().map(|((one, _), (other, _))| (*one, *other))
}
