//! Programs around a call: before it, what may stop it; after it, whoever is told.

use std::time::Duration;

use lockgate_sources::mock::TimeSpan;
use schemars::JsonSchema;
use serde::Deserialize;

/// A program that is started for calls. Before a call it may stop it; after a call it is told what became of it. It can allow,
/// approve and change nothing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookTable {
    /// What audits and logs call it: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// `before` or `after`.
    pub when: HookWhen,
    /// The program, with its arguments, that reads the call from its standard input. No shell is started. It works in the run
    /// file's folder, and is looked up there where it is named by a path, such as `./till.sh`.
    pub command: Vec<String>,
    /// Only for calls of these tools; one `*` or more stand for any characters. Each must fit a registered tool. Without: of all.
    pub tools: Option<Vec<String>>,
    /// The environment variables that the program is given. Those that hold secrets are named under `tools.secrets_from_env` too.
    #[serde(default)]
    pub env: Vec<String>,
    /// How long it may take; then it is killed, and before a call that stops the call. Without: `5s`.
    pub timeout: Option<TimeSpan>,
}

/// When a hook is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookWhen {
    /// Behind the policy, before anybody is asked and before the call is written down. Only exit code 0 lets it pass.
    Before,
    /// Once the call has run and its result stands.
    After,
}

impl HookTable {
    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.as_ref().map_or(Duration::from_secs(5), |span| span.as_duration())
    }

    /// What is wrong with the tables.
    pub(super) fn wrong(tables: &[Self]) -> Option<String> {
        let plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        tables.iter().enumerate().find_map(|(place, table)| {
            let name = &table.name;
            if name.is_empty() || !name.chars().all(plain) {
                return Some(format!(
                    "`{}` is no name for a `hook`: letters, digits, `.`, `_` and `-` make one",
                    name.escape_debug()
                ));
            }
            if tables[..place].iter().any(|earlier| earlier.name == *name) {
                return Some(format!("two hooks are called `{name}`"));
            }
            if table.command.first().is_none_or(String::is_empty) {
                return Some(format!("the `command` of hook `{name}` names no program"));
            }
            if table.tools.as_ref().is_some_and(Vec::is_empty) {
                return Some(format!("`tools` of hook `{name}` is empty: leave it out for all tools"));
            }
            table.timeout().is_zero().then(|| format!("`timeout` of hook `{name}` is zero"))
        })
    }
}
