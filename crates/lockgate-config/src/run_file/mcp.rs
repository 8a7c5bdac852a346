//! MCP servers whose tools the file's runs may call.

mod check;
mod oauth;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
use lockgate_sources::mock::TimeSpan;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

pub use self::oauth::{McpGrant, McpOauthTable};
pub(crate) use self::value::is_variable;
pub use self::value::{Piece, pieces};

/// An MCP server. Its tools are called `NAME__TOOL`; what they may do is said here, never by the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpTable {
    /// The program, with its arguments, that is started and spoken with over its standard input and output. No shell is started.
    pub command: Option<Vec<String>>,
    /// The environment variables that the program is given, by name. It gets no others, but for `PATH` and `HOME`.
    #[serde(default)]
    pub env: Vec<String>,
    /// Environment variables that the program is given with these values; `${NAME}` stands for a variable of this process. Secrets
    /// are written so, never out.
    #[serde(default)]
    pub env_set: BTreeMap<String, String>,
    /// The folder that the program works in, relative to this file. Without: this file's.
    pub folder: Option<String>,
    /// The server's address: https, or http on this machine.
    pub url: Option<String>,
    /// Headers that are sent to it, each with the environment variable that holds the value.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// The environment variable with the token that is sent to it for everybody. Beside `bearer_env_by_user` it is for asking what the
    /// server offers, and for nobody's calls.
    pub bearer_env: Option<String>,
    /// The environment variables with the tokens of users, by `TENANT/USER`. A user who is not named has none: nobody acts under
    /// another's token.
    #[serde(default)]
    pub bearer_env_by_user: BTreeMap<String, String>,
    /// How tokens are got, where nobody wrote one down.
    pub oauth: Option<McpOauthTable>,
    /// Allows plain HTTP to a server that is not this machine.
    #[serde(default)]
    pub allow_insecure: bool,
    /// The only era of the protocol in which it is spoken with: `legacy` up to 2025-11-25, `modern` from 2026-07-28 on. Without: it
    /// is found out, and so is how it answers over HTTP.
    pub era: Option<McpEra>,
    /// The version that the server must say that it has: one that says another is not used. Its tools have it too. Without: any, and
    /// the tools have `1.0`.
    pub version: Option<String>,
    /// What stands before `__` in its tools' names. Without: the server's name. It may be empty where there is no other server.
    pub prefix: Option<String>,
    /// The tools that exist, by the server's own names: exact, `*` only where it is written. Without: all.
    pub allow: Option<Vec<String>>,
    /// Tools that do not exist for anybody, by the server's own names: exact, `*` only where it is written.
    #[serde(default)]
    pub hide: Vec<String>,
    /// The side effect of its tools. Without: `external`.
    #[schemars(schema_with = "effect_words")]
    #[serde(default)]
    pub effect: Option<Effect>,
    /// The permission that its tools declare. Without: `allow` for `read`, else `ask`.
    #[schemars(schema_with = "permission_words")]
    #[serde(default)]
    pub permission: Option<Permission>,
    /// Whether recovery may run its tools again. Without: `safe` for `read`, else `never`.
    #[schemars(schema_with = "replay_words")]
    #[serde(default)]
    pub replay: Option<ReplayPolicy>,
    /// The scopes that a subject needs for its tools, all of them.
    #[serde(default)]
    pub scopes: BTreeSet<String>,
    /// How long one call may take at all. Without: `gate.call_timeout`.
    pub timeout: Option<TimeSpan>,
    /// How long one call may be without an answer or progress. Without: `timeout`.
    pub idle_timeout: Option<TimeSpan>,
    /// Whether nothing starts without it.
    #[serde(default)]
    pub required: bool,
    /// How long its start may take. Without: `30s`.
    pub start_timeout: Option<TimeSpan>,
    /// How often it is started again, after it was lost, within an hour. Without: 10.
    pub restarts: Option<u32>,
    /// What it may ask whoever sent the call. Without: `elicitation`.
    pub relay: Option<BTreeSet<McpRelay>>,
    /// The argument of its tools that carries a call's idempotency key, where they recognise one.
    pub idempotency_argument: Option<String>,
    /// Single tools, by the server's own names.
    #[serde(default)]
    pub tool: BTreeMap<String, McpToolTable>,
}

/// What is different with one tool of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpToolTable {
    /// Its side effect.
    #[schemars(schema_with = "effect_words")]
    #[serde(default)]
    pub effect: Option<Effect>,
    /// The permission that it declares.
    #[schemars(schema_with = "permission_words")]
    #[serde(default)]
    pub permission: Option<Permission>,
    /// Whether recovery may run it again.
    #[schemars(schema_with = "replay_words")]
    #[serde(default)]
    pub replay: Option<ReplayPolicy>,
    /// The scopes that a subject needs for it, in place of the server's.
    pub scopes: Option<BTreeSet<String>>,
    /// How long one call may take at all.
    pub timeout: Option<TimeSpan>,
    /// Its version, which pins and results name.
    pub version: Option<String>,
}

/// How a server agrees on anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpEra {
    /// By a handshake: up to 2025-11-25.
    Legacy,
    /// In each request: from 2026-07-28 on.
    Modern,
}

/// What a server may ask whoever sent the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpRelay {
    /// Questions to the person.
    Elicitation,
    /// Text from the client's model.
    Sampling,
    /// The folders that the client works in.
    Roots,
}

impl McpTable {
    /// How long its start may take.
    pub fn start_timeout(&self) -> Duration {
        self.start_timeout.map_or(Duration::from_secs(30), TimeSpan::as_duration)
    }

    /// How often it is started again within an hour.
    pub fn restarts(&self) -> u32 {
        self.restarts.unwrap_or(10)
    }

    /// What stands before `__` in its tools' names.
    pub fn prefix<'t>(&'t self, name: &'t str) -> &'t str {
        self.prefix.as_deref().unwrap_or(name)
    }

    /// Whether it may ask whoever sent the call for this.
    pub fn relays(&self, what: McpRelay) -> bool {
        self.relay.as_ref().map_or(what == McpRelay::Elicitation, |relay| relay.contains(&what))
    }
}

fn effect_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Effect::ALL.iter().map(|effect| effect.word()).collect::<Vec<_>>() })
}

fn permission_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Permission::ALL.iter().map(|permission| permission.word()).collect::<Vec<_>>() })
}

fn replay_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ReplayPolicy::ALL.iter().map(|replay| replay.word()).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests;
