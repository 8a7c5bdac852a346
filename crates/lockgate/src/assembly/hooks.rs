//! The hooks of a run file: programs that may stop a call, and programs that are told of it.

use std::path::Path;
use std::sync::Arc;

use lockgate_config::{HookTable, HookWhen};
use lockgate_contract::ports::Redactor;
use lockgate_executor::{ToolNames, Veto};
use lockgate_host::children::nesting;
use lockgate_notify::{AfterHook, Program, TargetError};
use lockgate_policy::ProgramHook;
use lockgate_registry::discovery;

use super::Names;
use super::error::AssemblyError;

/// Those before a call, in the order of the file. They work in the file's folder, an absolute path.
pub(super) fn vetoes(tables: &[HookTable], folder: &Path, redactor: &Arc<dyn Redactor>) -> Vec<Veto> {
    let before = tables.iter().filter(|table| table.when == HookWhen::Before);
    let veto = |table: &HookTable| {
        let hook = ProgramHook::new(table.command.clone(), table.env.clone(), Arc::clone(redactor)).in_folder(folder);
        Veto::new(&table.name, Arc::new(hook)).of_tools(tools(table)).within(table.timeout())
    };
    before.map(veto).collect()
}

/// Those after a call, which work in the file's folder too. Where a hook started this process, nobody is told: it would start
/// itself again, and so on.
pub(super) fn told_after(
    tables: &[HookTable],
    folder: &Path,
    warnings: &mut Vec<String>,
) -> Result<Vec<AfterHook>, TargetError> {
    if nesting() > 0 {
        for (when, what) in [
            (HookWhen::Before, "calls that a hook would be asked about are blocked"),
            (HookWhen::After, "no hook is told of calls that ran"),
        ] {
            if tables.iter().any(|table| table.when == when) {
                warnings.push(format!("a hook started this process, so it starts none itself: {what}"));
            }
        }
        return Ok(Vec::new());
    }
    let after = tables.iter().filter(|table| table.when == HookWhen::After);
    let hook = |table: &HookTable| {
        let program = Program::new(table.command.clone(), table.env.clone(), table.timeout())?.in_folder(folder);
        Ok(AfterHook::new(&table.name, tools(table), program))
    };
    after.map(hook).collect()
}

/// Each rule fits a tool: a misspelt one would leave the tool that was meant without its hook.
pub(super) fn check_tools(tables: &[HookTable], names: &mut Names<'_>) -> Result<(), AssemblyError> {
    let registered = names.registry.names();
    for rule in tables.iter().flat_map(|table| table.tools.iter().flatten()) {
        if !registered.iter().any(|name| discovery::matches_rule(rule, name)) {
            names.named("hook.tools", rule)?;
        }
    }
    Ok(())
}

fn tools(table: &HookTable) -> ToolNames {
    table.tools.clone().map_or(ToolNames::All, ToolNames::Only)
}
