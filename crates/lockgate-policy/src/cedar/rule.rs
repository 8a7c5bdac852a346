//! One rule: its id, its place, what it reads, and what it demands by its annotations.

use std::collections::BTreeMap;
use std::time::Duration;

use lockgate_contract::nearest::nearest;
use lockgate_contract::ports::Approvers;
use lockgate_contract::time::read_span;

use crate::approvers::approvers;

use super::adapter::Parsed;
use super::cap::Cap;
use super::error::Defect;
use super::reads::Reads;

/// A rule of a file.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) demands: Demands,
    pub(super) reads: Reads,
    /// How often it applies; absent: always.
    pub(super) cap: Option<Cap>,
    pub(super) parsed: Parsed,
}

/// What a rule's annotations demand of the question that it leads to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Demands {
    pub(super) approvers: Option<Approvers>,
    pub(super) expires_in: Option<Duration>,
    pub(super) reason: Option<String>,
}

/// The annotations that exist. Any other would be passed over, so any other is an error.
const ANNOTATIONS: [&str; 6] = ["id", "approvers", "reason", "expires", "uses", "since"];

impl Rule {
    /// Reads a parsed rule. `place` counts the rules of its file from 1 and names those that name themselves nothing.
    pub(super) fn of(
        parsed: Parsed,
        file: &str,
        place: usize,
        of_any_approval: &[serde_json::Value],
    ) -> Result<Self, Defect> {
        let line = parsed.line;
        let mut annotations: BTreeMap<String, String> = parsed.annotations.iter().cloned().collect();
        if let Some(unknown) = annotations.keys().find(|key| !ANNOTATIONS.contains(&key.as_str())) {
            let defect = Defect::new(file, line, format!("there is no annotation `@{unknown}`"));
            return Err(defect.hint(match nearest(unknown, ANNOTATIONS) {
                Some(near) => format!("did you mean `@{near}`?"),
                None => "the annotations are @id, @approvers, @reason, @expires, @uses and @since".to_owned(),
            }));
        }
        let id = annotations.remove("id").unwrap_or_else(|| format!("{file}#{place}"));
        let plain = |character: char| !character.is_whitespace() && !character.is_control();
        if id.is_empty() || !id.chars().all(plain) {
            let defect = Defect::new(file, line, format!("`{}` is no id for a rule", id.escape_debug()));
            return Err(defect.hint("an id is one word, such as `large-payments`"));
        }
        let reads = Reads::of(&parsed.conditions, of_any_approval);
        if reads.approval_facts {
            let text = format!(
                "`{id}` compares an approval with something: what becomes of it is not known when a person is asked"
            );
            let hint =
                "write `context has approval`, and whose yes it needs and for how long in `@approvers` and `@expires`";
            return Err(Defect::new(file, line, text).hint(hint));
        }
        let cap = Cap::take(&id, &parsed, &mut annotations)
            .map_err(|(text, hint)| Defect::new(file, line, text).hint(hint))?;
        let demands = demands(&annotations).map_err(|(text, hint)| Defect::new(file, line, text).hint(hint))?;
        if (demands.approvers.is_some() || demands.expires_in.is_some()) && !reads.context.contains("approval") {
            let text = format!("`{id}` demands something of an approval, and does not look at one");
            let hint = "permit `when { context has approval }`, or forbid `unless { context has approval }`";
            return Err(Defect::new(file, line, text).hint(hint));
        }
        Ok(Self { id, file: file.to_owned(), line, demands, reads, cap, parsed })
    }
}

impl Rule {
    /// Whether its answer depends on how many calls were admitted.
    pub(super) fn looks_at_counts(&self) -> bool {
        self.cap.is_some() || self.reads.context.contains("counts")
    }
}

fn demands(annotations: &BTreeMap<String, String>) -> Result<Demands, (String, &'static str)> {
    let refused =
        |name: &str, value: &str, hint| (format!("`@{name}(\"{}\")` says nothing", value.escape_debug()), hint);
    let mut demands = Demands::default();
    for (name, value) in annotations {
        match name.as_str() {
            "approvers" => {
                let approvers = approvers(value).ok_or_else(|| {
                    refused(
                        name,
                        value,
                        "write a role, or several, and how many people: `finance`, `finance,legal:2`, `:2` for any two",
                    )
                })?;
                demands.approvers = Some(approvers);
            }
            "expires" => {
                let span = read_span(value).filter(|span| !span.is_zero());
                let span =
                    span.ok_or_else(|| refused(name, value, "write a whole number and its unit, such as `10m`"))?;
                demands.expires_in = Some(span);
            }
            _ if value.trim().is_empty() => {
                return Err(refused(name, value, "write why, for the person who is asked"));
            }
            _ => demands.reason = Some(value.clone()),
        }
    }
    Ok(demands)
}

#[cfg(test)]
mod tests;
