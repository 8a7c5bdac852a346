//! The run file: its tables, its checks, its JSON Schema.
//!
//! It owns what an operator writes down: every key is known, every value is checked before anything starts. What is built
//! from it is somebody else's.

mod auth;
mod budget;
mod edit;
mod error;
mod import;
mod run_file;

pub use auth::{AuthTable, IssuerTable, JwtAlgorithm};
pub use budget::{BudgetChange, InvalidBudgetChange};
pub use edit::{EditError, NewServer, add_server, remove_server};
pub use error::ConfigError;
pub use import::{Imported, import_servers};
pub use run_file::{
    ApprovalsTable, ApproversTable, ArgumentErrorsRule, BudgetTable, CoreSet, GateTable, HookTable, HookWhen,
    JournalTable, MaxExpiresTable, McpEra, McpGrant, McpOauthTable, McpRelay, McpTable, McpToolTable, ModelTable,
    NotifyBy, NotifyTable, Piece, PolicyEngineWord, PolicyMode, PolicyTable, PriceTable, QuotaTable, RedactionTable,
    RemoteTable, RunFile, ServerTable, SubjectTable, ToolCallsWord, ToolsTable, UnknownFieldsRule, UsdPerMillion,
    pieces,
};

/// Where the journal is when nobody says otherwise: relative to the working directory.
pub const DEFAULT_JOURNAL: &str = "sqlite:.lockgate/journal.db";

/// The JSON Schema of the run file, generated from its types.
pub fn run_file_schema() -> serde_json::Value {
    schemars::schema_for!(RunFile).to_value()
}
