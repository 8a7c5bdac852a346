//! Changes to a run file's text that leave everything else as it stands, comments included.

use std::collections::BTreeMap;

use thiserror::Error;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

/// An MCP server that is written into a run file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewServer {
    /// The program, with its arguments.
    pub command: Option<Vec<String>>,
    /// Environment variables that the program is given, by name.
    pub env: Vec<String>,
    /// Environment variables with these values; `${NAME}` for secrets.
    pub env_set: BTreeMap<String, String>,
    /// The folder that the program works in.
    pub folder: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// Headers, each with the environment variable that holds the value.
    pub headers_env: BTreeMap<String, String>,
    /// The environment variable with the token.
    pub bearer_env: Option<String>,
}

/// Why a run file's text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// It is no TOML.
    #[error("the file cannot be changed, because it is no TOML: {0}")]
    Toml(String),
    /// There is one already.
    #[error("there is an MCP server `{0}` already")]
    Taken(String),
    /// There is none.
    #[error("there is no MCP server `{0}`")]
    NotThere(String),
    /// `mcp` is something else than tables.
    #[error("`mcp` in this file is not written as tables `[mcp.NAME]`")]
    NoTables,
    /// What is to be taken over is none.
    #[error("nothing can be taken over: {0}")]
    Import(String),
}

impl EditError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Taken(name) => Some(format!("take it out first: `lockgate mcp remove {name}`, or use another name")),
            Self::NotThere(_) => Some("`lockgate mcp list` lists them".to_owned()),
            Self::Import(_) => Some("files with `mcpServers` or `servers` can be taken over".to_owned()),
            Self::Toml(_) | Self::NoTables => None,
        }
    }
}

/// A run file's text with one more server at its end.
///
/// # Errors
///
/// It is no TOML, or has such a server.
pub fn add_server(text: &str, name: &str, server: &NewServer) -> Result<String, EditError> {
    let mut document = parsed(text)?;
    let servers = document.entry("mcp").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_mut().ok_or(EditError::NoTables)?;
    if servers.contains_key(name) {
        return Err(EditError::Taken(name.to_owned()));
    }
    let mut table = Table::new();
    if let Some(command) = &server.command {
        table.insert("command", value(array(command)));
    }
    if let Some(url) = &server.url {
        table.insert("url", value(url));
    }
    if !server.env.is_empty() {
        table.insert("env", value(array(&server.env)));
    }
    if !server.env_set.is_empty() {
        table.insert("env_set", value(inline(&server.env_set)));
    }
    if let Some(folder) = &server.folder {
        table.insert("folder", value(folder));
    }
    if !server.headers_env.is_empty() {
        table.insert("headers_env", value(inline(&server.headers_env)));
    }
    if let Some(bearer) = &server.bearer_env {
        table.insert("bearer_env", value(bearer));
    }
    if !text.trim().is_empty() {
        table.decor_mut().set_prefix("\n");
    }
    servers.insert(name, Item::Table(table));
    Ok(document.to_string())
}

/// A run file's text without a server.
///
/// # Errors
///
/// It is no TOML, or has no such server.
pub fn remove_server(text: &str, name: &str) -> Result<String, EditError> {
    let mut document = parsed(text)?;
    let servers = document.get_mut("mcp").ok_or_else(|| EditError::NotThere(name.to_owned()))?;
    let servers = servers.as_table_like_mut().ok_or(EditError::NoTables)?;
    servers.remove(name).ok_or_else(|| EditError::NotThere(name.to_owned()))?;
    Ok(document.to_string())
}

fn parsed(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::Toml(error.message().to_owned()))
}

fn array(values: &[String]) -> Array {
    values.iter().collect()
}

fn inline(values: &BTreeMap<String, String>) -> InlineTable {
    values.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

#[cfg(test)]
mod tests;
