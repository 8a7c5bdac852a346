//! How many calls are admitted, and what rules call the number.

use lockgate_contract::effect::Effect;
use lockgate_contract::ports::{Count, Per, Quota};
use lockgate_sources::mock::TimeSpan;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// How many calls are admitted: started with the journal's leave, whatever came of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaTable {
    /// What rules call the number: `context.counts.NAME`. Without: no rule can look at it.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_]{0,63}$"))]
    pub name: Option<String>,
    /// Only calls of this tool. It must be a registered one.
    pub tool: Option<String>,
    /// Only calls with this effect.
    #[serde(default)]
    #[schemars(schema_with = "super::effect_words")]
    pub effect: Option<Effect>,
    /// Whose calls are counted together: `run`, `subject` or `tenant`.
    #[schemars(schema_with = "per_words")]
    pub per: Per,
    /// So many at most. Without: they are only counted, for rules.
    pub most: Option<u32>,
    /// In this time, up to now. Without: ever.
    pub within: Option<TimeSpan>,
}

impl QuotaTable {
    /// What the gate holds. Without a name of its own it is called by what it counts, for people: `5 of pay in 3600s per tenant`.
    pub fn quota(&self) -> Quota {
        let what = match (&self.tool, self.effect) {
            (Some(tool), _) => tool,
            (None, Some(effect)) => effect.word(),
            (None, None) => "all calls",
        };
        let within = self.within.map(TimeSpan::as_duration);
        let span = within.map(|within| format!(" in {within:?}")).unwrap_or_default();
        let told = || format!("{} of {what}{span} per {}", self.most.unwrap_or_default(), self.per.word());
        Quota {
            count: Count {
                name: self.name.clone().unwrap_or_else(told),
                tool: self.tool.clone(),
                effect: self.effect,
                per: self.per,
                within,
                from: None,
            },
            most: self.most,
        }
    }

    /// What rules may look at; nothing where it has no name.
    pub fn count(&self) -> Option<Count> {
        self.name.as_ref().map(|_| self.quota().count)
    }
}

/// Words that Cedar keeps for itself, among those that could be names.
const RESERVED: [&str; 9] = ["true", "false", "if", "then", "else", "in", "is", "like", "has"];

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// Whether every table counts something, under a name of its own; for whom, where there are no rules to look at it.
pub(super) fn check(tables: &[QuotaTable], has_rules: bool) -> Result<(), String> {
    for (place, table) in tables.iter().enumerate() {
        let Some(name) = &table.name else {
            if table.most.is_none() {
                return Err("a `quota` has a `most`, or a `name` by which rules look at it, or both".to_owned());
            }
            continue;
        };
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
        if !starts || name.len() > LONGEST || !name.bytes().all(plain) || RESERVED.contains(&name.as_str()) {
            return Err(format!(
                "`quota.name` is a word of lower-case letters, digits and `_`, which `{}` is not",
                name.escape_debug()
            ));
        }
        if tables[..place].iter().any(|other| other.name.as_ref() == Some(name)) {
            return Err(format!("two of `quota` have the name `{name}`"));
        }
        if table.most.is_none() && !has_rules {
            let why = "bounds nothing without `most`, and `policy.engine` has no rules that look at it";
            return Err(format!("the `quota` `{name}` {why}"));
        }
    }
    Ok(())
}

fn per_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Per::ALL.iter().map(|per| per.word()).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests;
