//! Rules that apply so often only, and numbers that two sets of rules look at.

use super::{Answer, Case, answered, settled};
use crate::cedar::rule::Rule;

impl Case<'_> {
    /// The rules that apply so often only, in words.
    pub(super) fn allowed_so_often(&self) -> Vec<String> {
        let capped = self.list.iter().filter_map(|rule| Some((&rule.id, rule.cap.as_ref()?)));
        capped.map(|(id, cap)| format!("`{id}` allows `{}` for {cap}", self.tool.name)).collect()
    }

    /// Why nothing can be said of numbers: both sets look at one that counted something else before.
    pub(super) fn counted_otherwise(&self, before: &[&Rule]) -> Option<String> {
        let counted = self.prover.counts_before.as_ref()?;
        let looks = |list: &[&Rule], name: &str| list.iter().any(|rule| rule.reads.counts.contains(name));
        let mut counts = self.rules.tools.counts.iter().filter(|(name, _)| looks(before, name));
        counts.find_map(|(name, count)| match counted.iter().find(|old| old.name == *name) {
            None => Some(format!("the rules before look at the count `{name}`, which there was none of")),
            // Whatever the number is, all of it is covered where only one set looks at it.
            Some(old) if old != count && looks(&self.list, name) => {
                Some(format!("the count `{name}` counted something else before"))
            }
            Some(_) => None,
        })
    }

    /// Looks at the rules before as if all of them that apply so often only were used up, and with them those that are the same
    /// now. Such rules only permit: what holds with all of them and with none of them holds for whatever is left of them. One
    /// that is new, or has other words now, stays: it may be there still when the one before is used up.
    pub(super) async fn no_wider_used_up(&mut self, before: &[&Rule]) -> Answer<()> {
        let (capped, always): (Vec<&Rule>, Vec<&Rule>) = before.iter().partition(|rule| rule.cap.is_some());
        if capped.is_empty() {
            return Ok(());
        }
        let list: Vec<&Rule> =
            self.list.iter().copied().filter(|rule| !capped.iter().any(|old| is_same(old, rule))).collect();
        let Some(found) = self.beyond(&list, &always).await? else {
            return Ok(());
        };
        let found = settled(found, self.tool, &self.looked);
        let call = answered(self.rules, None, self.tool, &found).map(|answered| answered.example);
        let call = call.map(|call| format!(", such as `{call}`")).unwrap_or_default();
        let other = capped.iter().find(|old| !self.list.iter().any(|rule| is_same(old, rule)));
        let (rule, now) = match other {
            Some(other) => (Some(*other), " and is not the same now"),
            None => (capped.first().copied(), ""),
        };
        let (id, cap) = rule.and_then(|rule| Some((&rule.id, rule.cap.as_ref()?))).ok_or("a rule was lost")?;
        Err(format!(
            "the rule `{id}` of those before applies for {cap}{now}: once it is used up, more may be let through than before{call}"
        ))
    }
}

/// Whether two rules are one: used up at the same call.
fn is_same(one: &Rule, other: &Rule) -> bool {
    one.id == other.id && one.cap == other.cap && one.parsed.source() == other.parsed.source()
}
