//! The run file's tables.

mod approvals;
mod hook;
mod mcp;
mod model;
mod notify;
mod quota;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use lockgate_contract::effect::{Effect, OnUnknown};
use lockgate_contract::run::Budget;
use lockgate_contract::subject::Subject;
use lockgate_sources::mock::{MockTool, TimeSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

pub use self::approvals::{ApprovalsTable, ApproversTable, MaxExpiresTable};
pub use self::hook::{HookTable, HookWhen};
pub(crate) use self::mcp::is_variable;
pub use self::mcp::{McpEra, McpGrant, McpOauthTable, McpRelay, McpTable, McpToolTable, Piece, pieces};
pub use self::model::{ModelTable, PriceTable, RemoteTable, ToolCallsWord, UsdPerMillion};
pub use self::notify::{NotifyBy, NotifyTable};
pub use self::quota::QuotaTable;
pub use self::server::ServerTable;
use crate::auth::AuthTable;
use crate::error::ConfigError;

/// What a run is made of. Paths are relative to the file, the journal's to the working directory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// What the agent is asked. A file for `lockgate call` needs none.
    pub task: Option<String>,
    /// Standing instructions for the model.
    pub system: Option<String>,
    /// The model. A file for `lockgate call` needs none.
    pub model: Option<ModelTable>,
    /// Where the truth is kept.
    #[serde(default)]
    pub journal: JournalTable,
    /// On whose behalf the run acts: never said by a model.
    #[serde(default)]
    pub subject: SubjectTable,
    /// The run's limits.
    #[serde(default)]
    pub budget: BudgetTable,
    /// How calls are checked and run.
    #[serde(default)]
    pub gate: GateTable,
    /// How many calls are admitted, beyond the run's own limits.
    #[serde(default)]
    pub quota: Vec<QuotaTable>,
    /// Who decides whether a call may run.
    #[serde(default)]
    pub policy: PolicyTable,
    /// Programs that may stop a call, or are told of it.
    #[serde(default)]
    pub hook: Vec<HookTable>,
    /// How people are asked.
    #[serde(default)]
    pub approvals: ApprovalsTable,
    /// What is taken out of every text that leaves.
    #[serde(default)]
    pub redaction: RedactionTable,
    /// Who is told that people are asked.
    #[serde(default)]
    pub notify: Vec<NotifyTable>,
    /// The tools.
    #[serde(default)]
    pub tools: ToolsTable,
    /// MCP servers, whose tools are there too, by name.
    #[serde(default)]
    pub mcp: BTreeMap<String, McpTable>,
    /// How `lockgate serve` offers the tools.
    pub server: Option<ServerTable>,
    /// Who may use what `lockgate serve` offers.
    pub auth: Option<AuthTable>,
}

/// Where the truth is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalTable {
    /// `sqlite:PATH` or `memory:`; `--journal` overrides it.
    pub url: Option<String>,
    /// Ties the events of a run to each other with hashes, so that an altered one shows.
    #[serde(default)]
    pub chain: bool,
    /// The environment variable with the key that signs decisions, as `lockgate journal keygen` writes it.
    pub sign_key_env: Option<String>,
    /// The file with the key that signs decisions.
    pub sign_key_file: Option<String>,
}

/// On whose behalf the run acts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubjectTable {
    /// The tenant.
    pub tenant: Option<String>,
    /// The person.
    pub user: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// What the subject may reach.
    #[serde(default)]
    pub scopes: BTreeSet<String>,
    /// The data domains that the subject may see. Without: no tool that reaches one.
    #[serde(default)]
    pub domains: BTreeSet<String>,
    /// The strongest effect that the subject may cause. Without: `external`.
    #[serde(default)]
    #[schemars(schema_with = "effect_words")]
    pub level: Option<Effect>,
    /// Pins, by tool name: such a tool is seen in exactly this version or not at all. Every name must be a registered one.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

/// The run's limits.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetTable {
    /// Model turns. Without: 20.
    pub max_steps: Option<u32>,
    /// Executed calls. Without: 50.
    pub max_valid_actions: Option<u32>,
    /// Calls of one model turn. Without: 32.
    pub max_calls_per_turn: Option<u32>,
    /// Time from the start. Without: `10m`. Waiting for people does not count.
    pub deadline: Option<TimeSpan>,
    /// Environment failures in a row, after which the run fails. Without: 3; 0 switches it off.
    pub max_environment_failures: Option<u32>,
    /// Model turns in a row with the same calls and results, after which the run fails. Without: 6; 0 switches it off.
    pub max_repeated_turns: Option<u32>,
    /// Attempts beyond the first, over all calls of the run. Without: 0, nothing is tried again. Only what did not happen, or
    /// what may happen twice, ever is.
    pub max_retries: Option<u32>,
    /// Questions to people; a call beyond them that would ask is refused. Without: no limit.
    pub max_questions: Option<u32>,
}

/// How calls are checked and run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateTable {
    /// How long a call may take whose tool declares nothing. Without: `30s`.
    pub call_timeout: Option<TimeSpan>,
    /// Bytes of an output that are shown; the rest is kept as an artifact. Without: 65536; 0 means no limit.
    pub max_output_bytes: Option<usize>,
    /// What a model learns about invalid arguments. Without: `code`.
    #[serde(default)]
    pub argument_errors: ArgumentErrorsRule,
    /// Reads of one turn that may run side by side. Without: 8.
    #[schemars(range(min = 1))]
    pub parallel_reads: Option<usize>,
    /// What the run does after an unknown effect. Without: `stop`.
    #[serde(default)]
    #[schemars(schema_with = "on_unknown_words")]
    pub on_unknown: Option<OnUnknown>,
    /// Repairs of broken argument text. This version knows none: the list must be empty.
    #[serde(default)]
    #[schemars(length(max = 0))]
    pub repair: Vec<String>,
    /// What foreign schemas that leave objects open mean. Without: `as_declared`.
    #[serde(default)]
    pub unknown_fields: UnknownFieldsRule,
    /// How long a caller's idempotency key is remembered. Without: `24h`.
    pub keep_idempotency_keys: Option<TimeSpan>,
    /// What you call the environment that calls act on, such as `staging`. People are shown it, and an approval that was given
    /// for one is none in another.
    pub environment: Option<String>,
}

/// What a model learns about invalid arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentErrorsRule {
    /// A code and a reason word.
    #[default]
    Code,
    /// Also which declared property breaks which rule.
    DeclaredPaths,
}

/// What foreign schemas that leave objects open mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownFieldsRule {
    /// What they say.
    #[default]
    AsDeclared,
    /// Undeclared fields are refused.
    Refuse,
}

/// Who decides whether a call may run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyTable {
    /// The engine. Without: `native`, by which the tools' declared permissions decide.
    #[serde(default)]
    pub engine: PolicyEngineWord,
    /// The files that the rules of `cedar` stand in, relative to this one; one `*` in a file's name stands for any characters, and
    /// `lockgate:native` and `lockgate:ask-always` for rules that ship with Lockgate. Without: `lockgate:native`.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether `cedar` or `http` acts. Without: `enforce`.
    #[serde(default)]
    pub mode: PolicyMode,
    /// Where `http` asks: https, or http on this machine. It is asked as `OPA`'s data API is, such as
    /// `http://127.0.0.1:8181/v1/data/lockgate/decision`.
    pub url: Option<String>,
    /// How long one answer of `http` may take. Without: `2s`.
    pub timeout: Option<TimeSpan>,
    /// The environment variable with the token that `http` is asked with. Without: none is sent.
    pub token_env: Option<String>,
    /// Allows plain HTTP to a decision point that is not this machine.
    #[serde(default)]
    pub allow_insecure: bool,
}

/// An engine that decides whether a call may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyEngineWord {
    /// The tools' declared permissions.
    #[default]
    Native,
    /// Rules in Cedar's language.
    Cedar,
    /// A decision point that is asked over HTTP.
    Http,
}

/// Whether an engine acts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    /// They decide.
    #[default]
    Enforce,
    /// The tools' declared permissions decide; what the engine would have answered is written down.
    Shadow,
}

/// What is taken out of every text that leaves, beyond what Lockgate knows by itself and `tools.secrets_from_env`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactionTable {
    /// Files with token rules, beside the built-in ones.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Values that stay although a rule finds them, by their SHA-256 digests in hexadecimal. A known secret never stays.
    #[serde(default)]
    pub allow: Vec<String>,
}

/// The tools of the run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolsTable {
    /// Core sets over `root`.
    #[serde(default)]
    pub core: BTreeSet<CoreSet>,
    /// The folder that core tools work in. Without: the run file's.
    pub root: Option<String>,
    /// The names that the run may call: exact, `*` only where it is written. Without: all that the subject may see.
    pub allow: Option<Vec<String>>,
    /// Catalogs: TOML files, or `SQLite` files with a table `tools`.
    #[serde(default)]
    pub catalog: Vec<String>,
    /// Environment variables whose values must never leave.
    #[serde(default)]
    pub secrets_from_env: Vec<String>,
    /// Tools with scripted behaviour.
    #[serde(default)]
    pub mock: Vec<MockTool>,
}

/// A core set. A run without a set does not even contain its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoreSet {
    /// `read_file`, `list_dir`, `glob`, `grep`, `read_artifact`.
    Read,
}

impl RunFile {
    /// Reads a run file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = lockgate_host::files::read_to_string(path)
            .map_err(|cause| ConfigError::Unreadable { path: path.to_owned(), cause: cause.to_string() })?;
        Self::parse(path, &text)
    }

    /// Reads a run file's text. `path` is for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let file: Self = toml::from_str(text).map_err(|error| ConfigError::from_toml(path, text, &error))?;
        file.check(path)?;
        Ok(file)
    }

    fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let invalid =
            |detail: &str| Err(ConfigError::Invalid { path: path.to_owned(), line: 1, detail: detail.to_owned() });
        if !self.gate.repair.is_empty() {
            return invalid("`gate.repair` must be empty: this version repairs no arguments");
        }
        if self.gate.call_timeout.is_some_and(|span| span.as_duration().is_zero()) {
            return invalid("`gate.call_timeout` is zero, so no call could succeed");
        }
        if let Some(wrong) = self.policy.wrong(&self.gate) {
            return invalid(wrong);
        }
        if self.journal.sign_key_env.is_some() && self.journal.sign_key_file.is_some() {
            return invalid("`journal` has a `sign_key_env` and a `sign_key_file`: there is one key");
        }
        if self.gate.parallel_reads == Some(0) {
            return invalid("`gate.parallel_reads` must be at least 1");
        }
        if let Some(wrong) = self.notify.iter().find_map(|table| table.by().err()) {
            return invalid(wrong);
        }
        if let Some(wrong) = HookTable::wrong(&self.hook) {
            return invalid(&wrong);
        }
        if let Err(wrong) = quota::check(&self.quota, self.policy.engine == PolicyEngineWord::Cedar) {
            return invalid(&wrong);
        }
        if let Some(wrong) = McpTable::wrong(&self.mcp) {
            return invalid(&wrong);
        }
        if let Some(wrong) = self.server.as_ref().and_then(ServerTable::wrong) {
            return invalid(&wrong);
        }
        if let Some(wrong) = self.auth.as_ref().and_then(AuthTable::wrong) {
            return invalid(&wrong);
        }
        if self.approvals.asks_nobody() {
            return invalid("`approvals.approvers.count` must be at least 1");
        }
        Ok(())
    }
}

impl PolicyTable {
    /// How long one answer of a decision point may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(Duration::from_secs(2), TimeSpan::as_duration)
    }

    /// What cannot be meant.
    fn wrong(&self, gate: &GateTable) -> Option<&'static str> {
        let is = |engine| self.engine == engine;
        if !is(PolicyEngineWord::Cedar) && !self.files.is_empty() {
            return Some(
                "`policy.files` are rules for `policy.engine = \"cedar\"`: without it they would decide nothing",
            );
        }
        if is(PolicyEngineWord::Native) && self.mode == PolicyMode::Shadow {
            return Some(
                "`policy.mode = \"shadow\"` tries `policy.engine = \"cedar\"` or `\"http\"`, which is not chosen",
            );
        }
        if is(PolicyEngineWord::Http) {
            let patience = gate.call_timeout.map_or(Duration::from_secs(30), TimeSpan::as_duration);
            return match &self.url {
                None => Some("`policy.engine = \"http\"` needs the `url` that is asked"),
                Some(_) if self.timeout() >= patience => {
                    Some("`policy.timeout` is not shorter than `gate.call_timeout`: the gate would give up first")
                }
                Some(_) => None,
            };
        }
        (self.url.is_some() || self.timeout.is_some() || self.token_env.is_some() || self.allow_insecure)
            .then_some("`policy.url`, `timeout`, `token_env` and `allow_insecure` are for `policy.engine = \"http\"`")
    }
}

impl SubjectTable {
    /// The subject, with defaults for what is not said.
    pub fn subject(&self) -> Subject {
        let default = Subject::default();
        Subject {
            tenant: self.tenant.clone().unwrap_or(default.tenant),
            user: self.user.clone().unwrap_or(default.user),
            agent: self.agent.clone().unwrap_or(default.agent),
            scopes: self.scopes.clone(),
            domains: self.domains.clone(),
            level: self.level.unwrap_or(default.level),
            versions: self.versions.clone(),
        }
    }
}

impl BudgetTable {
    /// The budget, with defaults for what is not said.
    pub fn budget(&self) -> Budget {
        let default = Budget::default();
        Budget {
            max_steps: self.max_steps.unwrap_or(default.max_steps),
            max_valid_actions: self.max_valid_actions.unwrap_or(default.max_valid_actions),
            max_calls_per_turn: self.max_calls_per_turn.unwrap_or(default.max_calls_per_turn),
            deadline_ms: self
                .deadline
                .map_or(default.deadline_ms, |span| u64::try_from(span.as_duration().as_millis()).unwrap_or(u64::MAX)),
            max_environment_failures: self.max_environment_failures.unwrap_or(default.max_environment_failures),
            max_repeated_turns: self.max_repeated_turns.unwrap_or(default.max_repeated_turns),
            max_retries: self.max_retries.unwrap_or(default.max_retries),
            max_questions: self.max_questions.or(default.max_questions),
        }
    }
}

pub(crate) fn effect_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Effect::ALL.iter().map(|effect| effect.word()).collect::<Vec<_>>() })
}

fn on_unknown_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": OnUnknown::ALL.iter().map(|rule| rule.word()).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests;
