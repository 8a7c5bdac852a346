//! The run file: its tables, its checks, its JSON Schema.
//!
//! It owns what an operator writes down: every key is known, every value is checked before anything starts. What is built
//! from it is somebody else's.

mod budget;
mod error;
mod run_file;

pub use budget::{BudgetChange, InvalidBudgetChange};
pub use error::ConfigError;
pub use run_file::{
    ApprovalsTable, ApproversTable, ArgumentErrorsRule, BudgetTable, CoreSet, GateTable, HookTable, HookWhen,
    JournalTable, MaxExpiresTable, ModelTable, NotifyBy, NotifyTable, PolicyEngineWord, PolicyMode, PolicyTable,
    QuotaTable, RedactionTable, RunFile, SubjectTable, ToolsTable, UnknownFieldsRule,
};

/// Where the journal is when nobody says otherwise: relative to the working directory.
pub const DEFAULT_JOURNAL: &str = "sqlite:.lockgate/journal.db";

/// The JSON Schema of the run file, generated from its types.
pub fn run_file_schema() -> serde_json::Value {
    schemars::schema_for!(RunFile).to_value()
}
