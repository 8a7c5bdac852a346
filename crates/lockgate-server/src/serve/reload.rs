//! The run file is watched: a changed one is checked whole, and only then takes the place of the one before.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate::assembly::{Assembly, AssemblyError, Overrides, Servers, folder_of};
use lockgate::config::RunFile;
use lockgate::contract::digest::Digest;
use lockgate::contract::ports::Journal;
use lockgate::host::files;
use lockgate_mcp::upstream::Dial;
use tokio_util::sync::CancellationToken;

use super::{FOR_SERVERS, ServeOptions, gateway_options};
use crate::gateway::Gateway;

/// How often the file is looked at.
const GLANCE: Duration = Duration::from_secs(1);
/// How long a changed file has to stay as it is before it counts: one that is being written is empty for a moment, and an empty file
/// is a good one without any server.
const STEADY: Duration = Duration::from_millis(250);

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
    /// What was in it before it was read: what was written since, while servers were being started, is a change.
    pub(super) seen: Option<Digest>,
}

/// Looks at the file until it is told to stop. Returns servers that were started only by a changed file.
pub(super) async fn watch(mut reload: Reload, stop: CancellationToken) -> Option<Arc<Servers>> {
    let (mut seen, mut started) = (reload.seen, None);
    // A broken file is said once.
    let mut refused = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return started,
            () = tokio::time::sleep(GLANCE) => {}
        }
        let content = reload.content();
        if content == seen {
            continue;
        }
        tokio::time::sleep(STEADY).await;
        let file = RunFile::read(&reload.options.path);
        if reload.content() != content {
            continue;
        }
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
            Err(error) => {
                // A file that is being written is looked at again.
                let words = format!("the changed file is not used, and nothing changed: {error}");
                if refused.as_ref() != Some(&words) {
                    (reload.options.told)(&words);
                }
                refused = Some(words);
            }
        }
    }
}

/// What is in a file; nothing where it cannot be read.
pub(super) fn content_of(path: &Path) -> Option<Digest> {
    files::content_digest(path).ok()
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
    /// What is in the file; nothing where it cannot be read.
    fn content(&self) -> Option<Digest> {
        content_of(&self.options.path)
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
