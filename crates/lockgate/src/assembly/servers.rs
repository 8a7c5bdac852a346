//! The MCP servers of a run file, and their tools in its registry.

mod login;
mod settings;
mod shelf;
mod told;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_config::RunFile;
use lockgate_contract::tool::ToolSpec;
use lockgate_host::clock::SystemClock;
use lockgate_host::randomness::RandomIds;
use lockgate_mcp::upstream::{Condition, Dial, Parts, Status, Upstreams};
use lockgate_redact::LearnedSecrets;

pub(super) use self::settings::{handed_on, secrets, settings};
pub(super) use self::shelf::Live;
use self::shelf::LiveShelf;
pub(super) use self::told::Told;
use super::error::AssemblyError;

/// The MCP servers of a run file. They run for as long as this is kept.
pub struct Servers {
    upstreams: Upstreams,
    shelf: Arc<LiveShelf>,
    told: Arc<Told>,
    /// Those that cannot even be tried, and why.
    unusable: Mutex<BTreeMap<String, String>>,
}

impl Servers {
    /// Starts the servers of a file. Paths are relative to `folder`, an absolute one. Must be called within a runtime.
    pub fn start(file: &RunFile, folder: &Path, dial: Arc<dyn Dial>) -> Arc<Self> {
        let servers = Self::new(dial);
        servers.set(file, folder);
        Arc::new(servers)
    }

    /// No server yet.
    pub fn new(dial: Arc<dyn Dial>) -> Self {
        let shelf = Arc::new(LiveShelf::default());
        let told = Arc::<Told>::default();
        let parts = Parts {
            dial,
            shelf: Arc::clone(&shelf) as _,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            confidant: Arc::clone(&told) as _,
        };
        Self { upstreams: Upstreams::new(parts), shelf, told, unusable: Mutex::default() }
    }

    /// From now on these are the servers: those that are configured as before go on, whatever else changed in the file.
    pub fn set(&self, file: &RunFile, folder: &Path) {
        let (mut usable, mut unusable) = (Vec::new(), BTreeMap::new());
        for (name, table) in &file.mcp {
            match settings(name, table, file, folder) {
                Ok(settings) => usable.push(settings),
                Err(why) => drop(unusable.insert(name.clone(), why)),
            }
        }
        *self.unusable.lock().unwrap_or_else(PoisonError::into_inner) = unusable;
        self.upstreams.set(usable);
    }

    /// Waits until the start of each has come to an end.
    ///
    /// # Errors
    ///
    /// One without which nothing is to start could not be started.
    pub async fn settled(&self, file: &RunFile) -> Result<(), AssemblyError> {
        self.upstreams.settled().await;
        self.are_those_required_there(file)
    }

    /// Waits as [`Servers::settled`] does, but no longer than `patience` for those that are not required: their tools are there once
    /// they are.
    ///
    /// # Errors
    ///
    /// As [`Servers::settled`].
    pub async fn settled_within(&self, file: &RunFile, patience: Duration) -> Result<(), AssemblyError> {
        // Which of them are not there by then, their states say.
        let _ = tokio::time::timeout(patience, self.upstreams.settled()).await;
        for server in self.upstreams.all() {
            if file.mcp.get(&server.settings().name).is_some_and(|table| table.required) {
                server.settled().await;
            }
        }
        self.are_those_required_there(file)
    }

    fn are_those_required_there(&self, file: &RunFile) -> Result<(), AssemblyError> {
        let statuses = self.statuses();
        for (name, _) in file.mcp.iter().filter(|(_, table)| table.required) {
            if let Some(status) = statuses.get(name).filter(|status| status.state != Condition::Ready) {
                let why = status.reason.clone().unwrap_or_else(|| status.state.word().to_owned());
                return Err(AssemblyError::Server { name: name.clone(), why });
            }
        }
        Ok(())
    }

    /// How each stands.
    pub fn statuses(&self) -> BTreeMap<String, Status> {
        let mut statuses = self.upstreams.statuses();
        for (name, why) in &*self.unusable.lock().unwrap_or_else(PoisonError::into_inner) {
            statuses.insert(name.clone(), Status::unusable(why.clone()));
        }
        statuses
    }

    /// The servers themselves.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// Stops all of them, and waits until their connections are closed.
    pub async fn stop(&self) {
        self.upstreams.stop().await;
    }

    /// The tokens that were got for them, now and later.
    pub(super) fn learned(&self) -> &LearnedSecrets {
        self.told.learned()
    }

    /// The tools that they offer now, by server.
    pub(super) fn tools(&self) -> Vec<(String, Vec<ToolSpec>)> {
        self.upstreams.all().iter().map(|server| (server.settings().name.clone(), server.tools())).collect()
    }

    /// One of a server's tools could not be taken in.
    pub(super) fn left_out(&self, server: &str, tool: &str, why: String) {
        if let Some(server) = self.upstreams.get(server) {
            server.left_out(tool, why);
        }
    }

    /// From now on what the servers say changes this registry; and what they said since its tools were asked for does so now.
    pub(super) fn go_live(&self, live: Live) {
        self.shelf.go_live(live, || self.tools());
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("statuses", &self.statuses()).finish_non_exhaustive()
    }
}
