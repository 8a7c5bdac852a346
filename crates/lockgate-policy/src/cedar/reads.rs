//! What a rule's conditions read of the context: found once at load, so that a decision gathers nothing else, and so that a rule
//! which reads nothing that changes from call to call is asked once.

use std::collections::BTreeSet;

use serde_json::Value;

/// Some attributes, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Names {
    Some(BTreeSet<String>),
    All,
}

/// What is read of the context, and of the arguments and the counts within it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) context: Names,
    pub(super) input: Names,
    /// Of the numbers of admitted calls.
    pub(super) counts: Names,
    /// What an approval is compared with where that holds for every approval which a decision supposes.
    pub(super) compared: Names,
    /// Also something of the approval that is not the same for all of them: no rule may.
    pub(super) approval_facts: bool,
}

impl Default for Names {
    fn default() -> Self {
        Self::Some(BTreeSet::new())
    }
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(names) => names.contains(name),
        }
    }

    /// Those that are named one by one.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::Some(names) => Some(names),
            Self::All => None,
        };
        names.into_iter().flatten().map(String::as_str)
    }

    fn add(&mut self, name: &str) {
        if let Self::Some(names) = self {
            names.insert(name.to_owned());
        }
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::All, _) => {}
            (all, Self::All) => *all = Self::All,
            (Self::Some(names), Self::Some(more)) => names.extend(more.iter().cloned()),
        }
    }
}

impl Reads {
    /// What these conditions read. `of_any_approval` are conditions that hold for every approval that a decision supposes.
    pub(super) fn of(conditions: &Value, of_any_approval: &[Value]) -> Self {
        let mut reads = Self::default();
        reads.walk(conditions, of_any_approval);
        reads
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.context.merge(&other.context);
        self.input.merge(&other.input);
        self.counts.merge(&other.counts);
        self.compared.merge(&other.compared);
    }

    /// Whether a rule reads this of the context.
    pub(super) fn has(&self, name: &str) -> bool {
        self.context.contains(name) || self.compared.contains(name)
    }

    /// Whether a rule looks into the approval.
    pub(super) fn looks_into_approvals(&self) -> bool {
        self.compared.contains("approval")
    }

    /// Whether the answer is the same for every call of one tool by one subject, as long as the permission is the same.
    pub(super) fn nothing_of_the_call(&self) -> bool {
        let Names::Some(names) = &self.context else {
            return false;
        };
        names.iter().all(|name| name == "permission" || name == "approval")
    }

    fn walk(&mut self, value: &Value, of_any_approval: &[Value]) {
        if of_any_approval.contains(value) {
            let mut compared = Self::default();
            compared.walk(value, &[]);
            self.compared.merge(&compared.context);
            self.context.add("approval");
            return;
        }
        if let Some(path) = context_path(value) {
            return self.path(&path);
        }
        match value {
            Value::Array(elements) => elements.iter().for_each(|element| self.walk(element, of_any_approval)),
            // A literal reads nothing.
            Value::Object(members) if members.len() == 1 && members.contains_key("Value") => {}
            Value::Object(members) if members.len() == 1 && members.contains_key("Record") => {
                // Its names are anybody's, and no operators.
                members.values().filter_map(Value::as_object).flat_map(|record| record.values()).for_each(|member| {
                    self.walk(member, of_any_approval);
                });
            }
            Value::Object(members) => members.values().for_each(|member| self.walk(member, of_any_approval)),
            _ => {}
        }
    }

    fn path(&mut self, path: &[&str]) {
        match path {
            [] => {
                *self = Self {
                    context: Names::All,
                    input: Names::All,
                    counts: Names::All,
                    compared: Names::All,
                    approval_facts: true,
                };
            }
            ["input", rest @ ..] => {
                self.context.add("input");
                match rest.first() {
                    Some(name) => self.input.add(name),
                    None => self.input = Names::All,
                }
            }
            ["counts", rest @ ..] => {
                self.context.add("counts");
                match rest.first() {
                    Some(name) => self.counts.add(name),
                    None => self.counts = Names::All,
                }
            }
            [name, rest @ ..] => {
                self.context.add(name);
                self.approval_facts |= *name == "approval" && !rest.is_empty();
            }
        }
    }
}

/// `context.a.b` and `context.a has b`, as the attributes from the context on.
pub(super) fn context_path(value: &Value) -> Option<Vec<&str>> {
    let members = value.as_object()?;
    let (operator, operand) = members.iter().next().filter(|_| members.len() == 1)?;
    match operator.as_str() {
        "Var" => (operand.as_str()? == "context").then(Vec::new),
        "." | "has" => {
            let mut path = context_path(operand.get("left")?)?;
            match operand.get("attr")? {
                // `has a.b`
                Value::Array(names) => path.extend(names.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?),
                name => path.push(name.as_str()?),
            }
            Some(path)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
