//! How people are asked, and who of them may answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_contract::ports::Approvers;
use lockgate_sources::mock::TimeSpan;
use schemars::JsonSchema;
use serde::Deserialize;

/// How people are asked.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalsTable {
    /// How long a question stays open. Without: `10m`.
    pub expires: Option<TimeSpan>,
    /// How long it stays open at most, by the tool's effect, whatever a policy says.
    #[serde(default)]
    pub max_expires: MaxExpiresTable,
    /// Whose yes a question needs where no policy says it. Without: that of any one person.
    pub approvers: Option<ApproversTable>,
    /// Who has which roles, by the names that the system gives its users. Nobody else has any.
    #[serde(default)]
    pub people: BTreeMap<String, BTreeSet<String>>,
    /// Tells again of a question that stands for so long, and whenever as much time has passed since. Without: never.
    pub remind_after: Option<TimeSpan>,
    /// Tells the model why a person said no. Without: only that one did.
    #[serde(default)]
    pub tell_reasons: bool,
}

/// How long a question stays open at most.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxExpiresTable {
    /// About a tool that only reads.
    pub read: Option<TimeSpan>,
    /// About a tool that changes what is here.
    pub write: Option<TimeSpan>,
    /// About a tool that reaches others.
    pub external: Option<TimeSpan>,
}

/// Whose yes a question needs: each is another person's, and none the subject's own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproversTable {
    /// The roles of which each of them has at least one. Without: anybody who proves who they are.
    #[serde(default)]
    pub roles: Vec<String>,
    /// How many. Without: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
}

const fn one() -> u32 {
    1
}

impl ApprovalsTable {
    /// Who has to say yes.
    pub fn approvers(&self) -> Option<Approvers> {
        self.approvers.as_ref().map(|table| Approvers { roles: table.roles.clone(), count: table.count })
    }

    /// The roles of somebody.
    pub fn roles_of(&self, name: &str) -> Vec<String> {
        self.people.get(name).into_iter().flatten().cloned().collect()
    }

    /// The longest times, by effect.
    pub fn max_expires(&self) -> BTreeMap<Effect, Duration> {
        let MaxExpiresTable { read, write, external } = &self.max_expires;
        [(Effect::Read, read), (Effect::Write, write), (Effect::External, external)]
            .into_iter()
            .filter_map(|(effect, span)| Some((effect, span.as_ref()?.as_duration())))
            .collect()
    }

    /// Whether nobody could ever answer a question, whoever came: that cannot be meant.
    pub(super) fn asks_nobody(&self) -> bool {
        self.approvers.as_ref().is_some_and(|table| table.count == 0)
    }

    /// Why the people of the table are too few for a yes, where they are.
    pub fn too_few(&self) -> Option<String> {
        let required = self.approvers()?;
        if required.roles.is_empty() {
            return None;
        }
        let able = self.people.keys().filter(|name| required.have(&self.roles_of(name))).count();
        ((able as u64) < u64::from(required.needed())).then(|| {
            let (needed, roles) = (required.needed(), required.roles.join("`, `"));
            format!("`approvals.approvers` needs {needed} with a role of `{roles}`, and `approvals.people` has {able}")
        })
    }
}
