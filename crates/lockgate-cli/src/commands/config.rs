//! `lockgate config`: run files, looked at before they are used.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lockgate::assembly::{Assembly, Overrides, open_journal};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::counted;

/// Check a run file
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
}

/// Check a run file whole, as a start or a reload would; no MCP server is started
#[derive(Debug, Args)]
struct Check {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE", default_value = "lockgate.toml")]
    run_file: PathBuf,
}

pub(crate) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let Command::Check(Check { run_file }) = &arguments.command;
    let overrides = Overrides { journal: Some(open_journal("memory:")?), ..Overrides::default() };
    let assembly = Assembly::load(run_file, overrides)?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let tools = counted(assembly.registry.len() as u64, "tool");
    let servers = counted(assembly.run_file.mcp.len() as u64, "MCP server");
    output.text(&format!("{} is in order: {tools} of its own, {servers}\n", run_file.display()));
    Ok(Exit::Ok)
}
