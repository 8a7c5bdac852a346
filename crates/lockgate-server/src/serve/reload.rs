//! The run file is watched: a changed one is checked whole, and only then takes the place of the one before.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate::assembly::{Assembly, AssemblyError, Overrides, Servers, folder_of};
use lockgate::config::{ConfigError, RunFile};
use lockgate::contract::ports::Journal;
use lockgate::host::private_files::{Kept, PrivateFileError};
use lockgate_mcp::upstream::Dial;
use tokio_util::sync::CancellationToken;

use super::{FOR_SERVERS, ServeOptions, gateway_options};
use crate::content::Content;
use crate::gateway::Gateway;

/// How often the file is looked at.
pub(super) const GLANCE: Duration = Duration::from_secs(1);
/// How long a changed file has to stay as it is before it counts: one that is being written is empty for a moment, and an empty file
/// is a good one without any server.
pub(super) const STEADY: Duration = Duration::from_millis(250);
/// The longest run file, in bytes.
const LONGEST: u64 = 64 << 20;

/// What a changed file changes.
pub(super) struct Reload {
    pub(super) options: ServeOptions,
    /// The journal before any layer in front of it.
    pub(super) journal: Arc<dyn Journal>,
    pub(super) gateway: Arc<Gateway>,
    /// How servers are reached.
    pub(super) dial: Arc<dyn Dial>,
    pub(super) public_url: Option<String>,
    /// The file that is in force.
    pub(super) file: RunFile,
    /// What is in it, and what was when it was read: what was written since, while servers were being started, is a change.
    pub(super) content: Content,
    pub(super) seen: Arc<Vec<u8>>,
}

/// Looks at the file until it is told to stop. Returns servers that were started only by a changed file.
pub(super) async fn watch(mut reload: Reload, stop: CancellationToken) -> Option<Arc<Servers>> {
    let (mut seen, mut started) = (Arc::clone(&reload.seen), None);
    // A broken file is said once.
    let mut refused = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return started,
            () = tokio::time::sleep(GLANCE) => {}
        }
        let content = reload.now();
        if content.as_ref().is_ok_and(|content| *content == seen) {
            continue;
        }
        tokio::time::sleep(STEADY).await;
        let (content, file) = match (content, reload.now()) {
            (Ok(content), Ok(later)) if content == later => {
                let file = parsed(&reload.options.path, &content);
                (content, file)
            }
            // One that is not there may be about to be: editors put another one in its place.
            (Err(_), Err(error)) => {
                reload.refuses(&mut refused, &error.into());
                continue;
            }
            _ => continue,
        };
        let taken = match file {
            Ok(file) => reload.take_over(file).await,
            Err(error) => Err(error.into()),
        };
        match taken {
            Ok(new) => {
                seen = content;
                started = new.or(started);
                refused = None;
            }
            // It is looked at again: it may be mended.
            Err(error) => reload.refuses(&mut refused, &error),
        }
    }
}

/// A run file, and the content that it was read from.
pub(super) fn read(path: &Path) -> Result<(RunFile, Content, Arc<Vec<u8>>), AssemblyError> {
    let mut content = Content::new(path.to_owned(), Kept::Anyhow, LONGEST);
    let seen = content.now().map_err(|error| unreadable(path, &error))?;
    Ok((parsed(path, &seen)?, content, seen))
}

fn unreadable(path: &Path, error: &PrivateFileError) -> ConfigError {
    let cause = match error {
        PrivateFileError::Unreadable { cause, .. } => cause.to_string(),
        other => other.to_string(),
    };
    ConfigError::Unreadable { path: path.to_owned(), cause }
}

fn parsed(path: &Path, content: &[u8]) -> Result<RunFile, ConfigError> {
    match str::from_utf8(content) {
        Ok(text) => RunFile::parse(path, text),
        Err(_) => Err(ConfigError::Unreadable { path: path.to_owned(), cause: "it is not UTF-8".to_owned() }),
    }
}

/// The keys whose change does not count before the next start.
fn later(before: &RunFile, after: &RunFile) -> Vec<&'static str> {
    let place = |file: &RunFile| {
        let server = file.server.clone().unwrap_or_default();
        (
            server.bind.clone(),
            server.public_url.clone(),
            server.path.clone(),
            server.origins.clone(),
            server.hosts.clone(),
            server.max_body_bytes,
            server.max_calls,
        )
    };
    let mut later = Vec::new();
    if place(before) != place(after) {
        later.push("server");
    }
    // Whoever needs no credential is whoever it said when the server started.
    if before.subject != after.subject {
        later.push("subject");
    }
    if before.auth != after.auth {
        later.push("auth");
    }
    if before.journal != after.journal {
        later.push("journal");
    }
    later
}

impl Reload {
    /// What is in the file now.
    fn now(&mut self) -> Result<Arc<Vec<u8>>, ConfigError> {
        self.content.now().map_err(|error| unreadable(&self.options.path, &error))
    }

    /// Says why a changed file is not used: once, for as long as it is so.
    fn refuses(&self, said: &mut Option<String>, error: &AssemblyError) {
        let words = format!("the changed file is not used, and nothing changed: {error}");
        if said.as_ref() != Some(&words) {
            (self.options.told)(&words);
        }
        *said = Some(words);
    }

    /// Puts the changed file in force. Returns servers where none ran before.
    async fn take_over(&mut self, file: RunFile) -> Result<Option<Arc<Servers>>, AssemblyError> {
        let path = &self.options.path;
        let folder = folder_of(path);
        let (running, new) = match self.gateway.servers() {
            Some(servers) => (Some(servers), None),
            None if file.mcp.is_empty() => (None, None),
            None => {
                let servers = Arc::new(Servers::new(Arc::clone(&self.dial)));
                (Some(Arc::clone(&servers)), Some(servers))
            }
        };
        let overrides =
            Overrides { journal: Some(Arc::clone(&self.journal)), servers: running.clone(), ..Overrides::default() };
        // Everything holds together, or nothing changes.
        let assembly = Assembly::of(file.clone(), path, overrides)?;
        let table = file.server.clone().unwrap_or_default();
        for warning in &assembly.warnings {
            (self.options.told)(warning);
        }
        self.gateway.replace(assembly, gateway_options(&table, table.public_url.clone().or(self.public_url.clone())));
        if let Some(servers) = &running {
            servers.set(&file, &folder);
            if let Err(error) = servers.settled_within(&file, FOR_SERVERS).await {
                (self.options.told)(&error.to_string());
            }
        }
        (self.options.told)("the changed file is in force");
        let before = std::mem::replace(&mut self.file, file);
        for key in later(&before, &self.file) {
            (self.options.told)(&format!("what changed in `{key}` counts from the next start on"));
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests;
