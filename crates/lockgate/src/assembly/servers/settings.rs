//! From the tables `[mcp.NAME]` to settings: what they refer to is looked up here, once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use lockgate_config::{McpEra, McpRelay, McpTable, McpToolTable, Piece, RunFile, pieces};
use lockgate_mcp::upstream::{KeyGoes, Place, Relay, Rules, Secret, Settings, Tokens};
use lockgate_mcp::wire::Era;
use lockgate_redact::is_secret_name;
use lockgate_sources::mock::TimeSpan;

use super::login::{login, login_secrets};

/// Variables that every program needs to find others and its own files.
const ALWAYS: [&str; 2] = ["PATH", "HOME"];

/// The settings of one server, or why it cannot be tried.
pub(in crate::assembly) fn settings(
    name: &str,
    table: &McpTable,
    file: &RunFile,
    folder: &Path,
) -> Result<Settings, String> {
    let rules = Rules {
        effect: table.effect,
        permission: table.permission,
        replay: table.replay,
        scopes: Some(table.scopes.clone()),
        timeout: table.timeout.map(TimeSpan::as_duration),
        version: None,
    };
    Ok(Settings {
        name: name.to_owned(),
        prefix: table.prefix(name).to_owned(),
        place: place(table, folder)?,
        tokens: tokens(table)?,
        login: table.oauth.as_ref().map(|oauth| login(oauth, file, folder)).transpose()?,
        era: table.era.map(|era| match era {
            McpEra::Legacy => Era::Legacy,
            McpEra::Modern => Era::Modern,
        }),
        version: table.version.clone(),
        allow: table.allow.clone(),
        hide: table.hide.clone(),
        rules,
        tools: table.tool.iter().map(|(raw, tool)| (raw.clone(), rules_of(tool))).collect(),
        timeout: file.gate.call_timeout.map_or(Duration::from_secs(30), TimeSpan::as_duration),
        idle_timeout: table.idle_timeout.map(TimeSpan::as_duration),
        required: table.required,
        start_timeout: table.start_timeout(),
        restarts: table.restarts(),
        relay: Relay {
            elicitation: table.relays(McpRelay::Elicitation),
            sampling: table.relays(McpRelay::Sampling),
            roots: table.relays(McpRelay::Roots),
        },
        key: table.idempotency_argument.clone().map_or(KeyGoes::Nowhere, KeyGoes::Argument),
        alone: file.mcp.len() == 1,
    })
}

/// The variables whose values are secrets, each with the key that names it: tokens and headers, and what stands alone in a value of
/// a program's environment.
pub(in crate::assembly) fn secrets(file: &RunFile) -> BTreeSet<(&'static str, &str)> {
    let mut secrets = BTreeSet::new();
    for table in file.mcp.values() {
        secrets.extend(table.bearer_env.iter().map(|variable| ("mcp.bearer_env", variable.as_str())));
        secrets.extend(table.bearer_env_by_user.values().map(|variable| ("mcp.bearer_env_by_user", variable.as_str())));
        if let Some(oauth) = &table.oauth {
            secrets.extend(login_secrets(oauth));
        }
        secrets.extend(table.headers_env.values().map(|variable| ("mcp.headers_env", variable.as_str())));
        for value in table.env_set.values() {
            if let Ok([Piece::Variable(variable)]) = pieces(value).as_deref() {
                secrets.insert(("mcp.env_set", variable));
            }
        }
    }
    secrets
}

/// Variables that are handed to programs, each with the key that names it, and may be secret: those whose name says so, and what a text
/// is filled with.
pub(in crate::assembly) fn handed_on(file: &RunFile) -> BTreeSet<(&'static str, &str)> {
    let mut variables = BTreeSet::new();
    for table in file.mcp.values() {
        let named = table.env.iter().map(String::as_str).filter(|name| is_secret_name(name));
        variables.extend(named.map(|variable| ("mcp.env", variable)));
        for piece in table.env_set.values().filter_map(|value| pieces(value).ok()).flatten() {
            if let Piece::Variable(variable) = piece {
                variables.insert(("mcp.env_set", variable));
            }
        }
    }
    variables
}

fn rules_of(tool: &McpToolTable) -> Rules {
    Rules {
        effect: tool.effect,
        permission: tool.permission,
        replay: tool.replay,
        scopes: tool.scopes.clone(),
        timeout: tool.timeout.map(TimeSpan::as_duration),
        version: tool.version.clone(),
    }
}

fn place(table: &McpTable, folder: &Path) -> Result<Place, String> {
    let Some(command) = &table.command else {
        let headers = table.headers_env.iter();
        return Ok(Place::Address {
            url: table.url.clone().unwrap_or_default(),
            headers: headers
                .map(|(header, variable)| Ok((header.clone(), Secret::new(variable_of("headers_env", variable)?))))
                .collect::<Result<_, String>>()?,
        });
    };
    let mut environment = BTreeMap::new();
    for variable in ALWAYS.into_iter().chain(table.env.iter().map(String::as_str)) {
        // What is not set is not handed on, either.
        if let Ok(value) = std::env::var(variable) {
            environment.insert(variable.to_owned(), Secret::new(value));
        }
    }
    for (variable, value) in &table.env_set {
        environment.insert(variable.clone(), Secret::new(filled(variable, value)?));
    }
    let folder = table.folder.as_ref().map_or_else(|| folder.to_owned(), |inner| folder.join(inner));
    let mut command = command.clone();
    // A path is looked up in the folder that the program works in.
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = folder.join(&*program).display().to_string();
    }
    Ok(Place::Program { command, environment, folder })
}

fn filled(variable: &str, value: &str) -> Result<String, String> {
    let parts = pieces(value)?.into_iter().map(|piece| match piece {
        Piece::Text(text) => Ok(text.to_owned()),
        Piece::Variable(name) => variable_of(&format!("env_set.{variable}"), name),
    });
    parts.collect()
}

fn tokens(table: &McpTable) -> Result<Tokens, String> {
    let shared = table.bearer_env.as_deref().map(|variable| variable_of("bearer_env", variable)).transpose()?;
    let mut by_user = BTreeMap::new();
    for (user, variable) in &table.bearer_env_by_user {
        let Some((tenant, user)) = user.split_once('/') else { continue };
        // A user whose token is not set has none: nobody else's is taken.
        if let Ok(token) = variable_of("bearer_env_by_user", variable) {
            by_user.insert((tenant.to_owned(), user.to_owned()), Secret::new(token));
        }
    }
    if by_user.is_empty() && !table.bearer_env_by_user.is_empty() {
        return Err("`bearer_env_by_user` names variables, and none of them is set".to_owned());
    }
    Ok(Tokens { shared: shared.map(Secret::new), by_user })
}

pub(super) fn variable_of(key: &str, variable: &str) -> Result<String, String> {
    std::env::var(variable)
        .ok()
        .filter(|value| !value.is_empty())
        .ok_or_else(|| format!("`{key}` refers to `{variable}`, which is not set"))
}
