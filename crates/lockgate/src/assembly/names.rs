//! Names of tools in rules: each has to be that of a tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockgate_config::McpTable;
use lockgate_contract::nearest::nearest;
use lockgate_contract::subject::Subject;
use lockgate_registry::{RegisteredTool, Registry};

use super::error::AssemblyError;

/// Where names of tools are looked up that rules are about.
pub(super) struct Names<'n> {
    pub(super) registry: &'n Registry,
    pub(super) servers: &'n BTreeMap<String, McpTable>,
    pub(super) warnings: &'n mut Vec<String>,
}

impl Names<'_> {
    /// The tool that a rule names: a misspelt name would leave the tool that was meant without the rule. One of a server that is not
    /// there now may come later, and finds the rule then.
    pub(super) fn named(
        &mut self,
        rule: &'static str,
        name: &str,
    ) -> Result<Option<Arc<RegisteredTool>>, AssemblyError> {
        if let Some(tool) = self.registry.get(name) {
            return Ok(Some(tool));
        }
        let is_of = |(server, table): (&String, &McpTable)| match table.prefix(server) {
            "" => true,
            prefix => name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("__") || rest.starts_with('*')),
        };
        if self.servers.iter().any(is_of) {
            self.warnings.push(format!("`{rule}` names `{name}`, and no tool of its MCP server has this name now"));
            return Ok(None);
        }
        let names = self.registry.names();
        let nearest = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Err(AssemblyError::UnknownTool { rule, tool: name.to_owned(), nearest })
    }
}

/// Every pin names a tool.
pub(super) fn check_pins(names: &mut Names<'_>, subject: &Subject) -> Result<(), AssemblyError> {
    for (name, pinned) in &subject.versions {
        let Some(tool) = names.named("subject.versions", name)? else { continue };
        let version = tool.spec().version();
        if version != pinned {
            names.warnings.push(format!(
                "`subject.versions` pins `{name}` to version `{pinned}`, and version `{version}` is registered: it is hidden"
            ));
        }
    }
    Ok(())
}
