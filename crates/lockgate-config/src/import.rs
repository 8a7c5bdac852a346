//! MCP servers as other programs' files have them: `mcpServers` of Claude and Cursor, `servers` of VS Code.
//!
//! A secret is never written down again: what looks like one, or cannot be told from one, becomes a reference to an environment
//! variable.

use serde_json::{Map, Value};

use crate::edit::{EditError, NewServer};
use crate::run_file::is_variable;

/// What another program's file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Its servers, by the names that they have here.
    pub servers: Vec<(String, NewServer)>,
    /// What could not be taken over, and what is to be done yet.
    pub notes: Vec<String>,
}

/// Reads another program's file.
///
/// # Errors
///
/// It is no JSON, or has no servers.
pub fn import_servers(text: &str) -> Result<Imported, EditError> {
    let file: Value = serde_json::from_str(text).map_err(|error| {
        EditError::Import(format!("it is no JSON, which has no comments and no commas at the end: {error}"))
    })?;
    let servers = ["mcpServers", "servers"].iter().find_map(|key| file.get(key)?.as_object());
    let servers = servers.or_else(|| file.pointer("/mcp/servers")?.as_object());
    let servers = servers.ok_or_else(|| EditError::Import("it has neither `mcpServers` nor `servers`".to_owned()))?;
    let mut imported = Imported::default();
    for (name, server) in servers {
        let Some(server) = server.as_object() else {
            imported.notes.push(format!("`{name}` is not taken over: it is no object"));
            continue;
        };
        let mut reader = Reader { name: plain_name(name), notes: Vec::new() };
        if reader.name != *name {
            reader.note(&format!("was called `{name}`, which is no name for a server here"));
        }
        match reader.server(server) {
            Ok(new) => imported.servers.push((reader.name.clone(), new)),
            Err(why) => reader.notes = vec![format!("`{name}` is not taken over: {why}")],
        }
        imported.notes.extend(reader.notes);
    }
    Ok(imported)
}

/// Keys that say what may run without a question: that is said here, and by whoever runs this gate.
const GRANTS: [&str; 4] = ["alwaysAllow", "autoApprove", "allowedTools", "trust"];
/// Keys that are read.
const READ: [&str; 10] =
    ["command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers", "type", "disabled"];

/// Reads one server.
struct Reader {
    name: String,
    notes: Vec<String>,
}

impl Reader {
    fn note(&mut self, words: &str) {
        self.notes.push(format!("`{}` {words}", self.name));
    }

    fn server(&mut self, server: &Map<String, Value>) -> Result<NewServer, String> {
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let mut new = NewServer::default();
        if server.get("disabled").and_then(Value::as_bool) == Some(true) {
            return Err("it is switched off there".to_owned());
        }
        if let Some(command) = text("command") {
            let arguments = server.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
            let words = std::iter::once(Some(command)).chain(arguments.iter().map(Value::as_str));
            let words: Option<Vec<_>> = words.map(|word| word.map(str::to_owned)).collect();
            let words = words.ok_or("an argument of its program is no text")?;
            if let Some(secret) = secret_word(&words) {
                return Err(format!(
                    "its program's argument `{secret}` refers to something, or looks like a secret: \
                    arguments are seen by every program on the machine; see whether it takes an environment variable"
                ));
            }
            new.command = Some(words);
            for (variable, value) in server.get("env").and_then(Value::as_object).into_iter().flatten() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let value = self.kept(variable, &value);
                new.env_set.insert(variable.clone(), value);
            }
            new.folder = text("cwd").map(str::to_owned);
        } else if let Some(url) = text("url").or(text("serverUrl")).or(text("httpUrl")) {
            if url.contains("${") || url.contains('@') {
                return Err("its address refers to something, or holds a password".to_owned());
            }
            new.url = Some(url.to_owned());
            for (header, value) in server.get("headers").and_then(Value::as_object).into_iter().flatten() {
                self.header(&mut new, header, value.as_str().unwrap_or_default());
            }
        } else {
            return Err("it has neither a `command` nor a `url`".to_owned());
        }
        for key in server.keys() {
            if GRANTS.contains(&key.as_str()) {
                self.note(&format!(
                    "had `{key}`, which is not taken over: say `effect` and `permission` in [mcp.{}]",
                    self.name.clone()
                ));
            } else if !READ.contains(&key.as_str()) {
                self.note(&format!("had `{key}`, which is not taken over"));
            }
        }
        Ok(new)
    }

    /// The value of an environment variable as it may be written down.
    fn kept(&mut self, variable: &str, value: &str) -> String {
        if let Some(value) = references(value) {
            for name in value.1 {
                self.note(&format!("needs the environment variable `{name}`"));
            }
            return value.0;
        }
        if is_harmless(variable, value) {
            return value.to_owned();
        }
        let name = if is_variable(variable) { variable.to_owned() } else { self.variable(variable) };
        self.note(&format!("had a value for `{variable}`: set the environment variable `{name}` to it"));
        format!("${{{name}}}")
    }

    fn header(&mut self, new: &mut NewServer, header: &str, value: &str) {
        let bearer = value.strip_prefix("Bearer ").filter(|_| header.eq_ignore_ascii_case("authorization"));
        let value = bearer.unwrap_or(value);
        if bearer.is_none() && header.eq_ignore_ascii_case("authorization") {
            self.note("had another `Authorization` than a bearer token, which is not taken over");
            return;
        }
        // A value that is nothing but one reference.
        let referred =
            references(value).filter(|(text, names)| names.len() == 1 && *text == format!("${{{}}}", names[0]));
        let name = if let Some((_, names)) = referred {
            names[0].clone()
        } else {
            self.variable(if bearer.is_some() { "token" } else { header })
        };
        self.note(&format!("needs the environment variable `{name}`, with what stood in its header `{header}`"));
        if bearer.is_some() {
            new.bearer_env = Some(name);
        } else {
            new.headers_env.insert(header.to_owned(), name);
        }
    }

    /// A variable of its own for this server.
    fn variable(&self, of: &str) -> String {
        variable_name(&format!("{}_{of}", self.name))
    }
}

/// A value with its references as they are written here, and the variables that it refers to; nothing where it refers to none.
/// `${env:NAME}` and `${NAME}` are variables of the environment, and `${input:NAME}`, which was asked for, becomes one.
fn references(value: &str) -> Option<(String, Vec<String>)> {
    let (mut text, mut names, mut rest) = (String::new(), Vec::new(), value);
    while let Some((before, behind)) = rest.split_once("${") {
        let (inner, after) = behind.split_once('}')?;
        let name = match inner.split_once(':') {
            Some(("env", name)) => name.to_owned(),
            Some(("input", name)) => variable_name(name),
            // Also `${NAME:-default}`, without its default.
            _ => name_before(inner).to_owned(),
        };
        if !is_variable(&name) {
            return None;
        }
        text.push_str(before);
        text.extend(["${", &name, "}"]);
        names.push(name);
        rest = after;
    }
    if names.is_empty() {
        return None;
    }
    text.push_str(rest);
    Some((text, names))
}

/// The name in `NAME:-default`.
fn name_before(inner: &str) -> &str {
    inner.split_once(":-").map_or(inner, |(name, _)| name)
}

/// Upper case, and `_` for whatever is none of letters, digits and `_`.
fn variable_name(of: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' };
    let name: String = of.chars().map(plain).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// A name that servers can have here.
fn plain_name(name: &str) -> String {
    const LONGEST: usize = 32;
    let plain = |character: char| if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
    let mut name: String = name.chars().map(plain).take(LONGEST).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_end_matches('_').to_owned();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// Words in a name that say that its value is a secret.
const SECRET_WORDS: [&str; 9] = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED", "COOKIE", "PRIVATE", "PAT"];

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Whether a value can be written down: short, plain, and not under a name that promises a secret. A path may be longer.
fn is_harmless(variable: &str, value: &str) -> bool {
    const LONGEST: usize = 16;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:, ".contains(&byte);
    let is_path = value.starts_with(['/', '~']) || value.starts_with("./");
    !names_a_secret(variable) && value.bytes().all(plain) && (value.len() <= LONGEST || is_path)
}

/// The first word of a command line that must not be written down: one that refers to something, and what follows or stands in an
/// option whose name promises a secret.
fn secret_word(words: &[String]) -> Option<&str> {
    let is_option = |word: &str| word.starts_with('-');
    words.iter().enumerate().find_map(|(place, word)| {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        let follows = before.is_some_and(|before| is_option(before) && !before.contains('=') && names_a_secret(before));
        let holds = is_option(option) && !value.is_empty() && names_a_secret(option);
        if word.contains("${") || holds {
            return Some(option);
        }
        (follows && !is_option(word)).then(|| before.map_or(option, String::as_str))
    })
}

#[cfg(test)]
mod tests;
