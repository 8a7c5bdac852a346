//! What a person types.

use clap::{Parser, Subcommand, ValueEnum};

#[cfg(feature = "cedar")]
use crate::commands::policy;
use crate::commands::{
    approvals, call, completions, config, doctor, explain, journal, mcp, redact, run, runs, schema, serve, token,
    tools, worker,
};
use crate::output::When;

/// The gate every tool call of an AI agent passes
#[derive(Debug, Parser)]
#[command(name = "lockgate", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = "\
Data goes to standard output, words for people to standard error.
Set LOCKGATE_LOG=debug for the log.")]
pub(crate) struct Cli {
    /// When to use colour: `auto`, `always` or `never`; `NO_COLOR` is respected
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Global options"
    )]
    pub(crate) color: When,
    /// When to show what runs now, on standard error: `auto`, `always` or `never`
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Global options"
    )]
    pub(crate) progress: When,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Arguments),
    Call(call::Arguments),
    Tools(tools::Arguments),
    Approvals(approvals::Arguments),
    Serve(serve::Arguments),
    Mcp(mcp::Arguments),
    Config(config::Arguments),
    Runs(runs::Arguments),
    Token(token::Arguments),
    Worker(worker::Arguments),
    Journal(journal::Arguments),
    #[cfg(feature = "cedar")]
    Policy(policy::Arguments),
    Redact(redact::Arguments),
    Explain(explain::Arguments),
    Schema(schema::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
}

/// How an answer that is no run is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Human,
    /// One JSON value
    Json,
    /// One JSON value a line
    Jsonl,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_holds_together() {
        super::Cli::command().debug_assert();
    }
}
