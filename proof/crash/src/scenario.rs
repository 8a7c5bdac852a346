//! One scenario: drivers are started one after the other, some of them die, and the run comes to its end.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lockgate::contract::event::Event;
use lockgate::prelude::*;

use crate::case::Case;
use crate::database::Database;
use crate::drive::{self, run_id};
use crate::judge::End;
use crate::kill::Spot;
use crate::{CrashError, counter};

/// More drivers than any scenario needs: one that needs more does not end.
const MOST_DRIVERS: usize = 12;

/// Where journals are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Store {
    /// A file, which every driver opens.
    Sqlite,
    /// A database of a server that goes on.
    Postgres,
}

/// What is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// What kind of call.
    pub case: Case,
    /// In which store.
    pub store: Store,
    /// Who dies where; at most one each driver.
    pub crashes: Vec<Crash>,
}

/// One death.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// Which driver: 0 is the one that starts the run.
    pub driver: usize,
    /// Where.
    pub at: Spot,
}

/// What one driver said and did.
#[derive(Debug, Clone, Default)]
pub struct Driven {
    /// The points that it came to.
    pub passes: Vec<String>,
    /// The events that the journal acknowledged to it: number and type.
    pub acknowledged: Vec<(u64, String)>,
    /// It was killed.
    pub died: bool,
    /// The run's stop state, where it saw one.
    pub stop: Option<String>,
    /// Why it gave up.
    pub error: Option<String>,
}

/// What happened.
#[derive(Debug)]
pub struct Played {
    /// What was to happen.
    pub scenario: Scenario,
    /// The drivers, in order.
    pub drivers: Vec<Driven>,
    /// How it stood when recovery was done, before any person looked.
    pub recovered: Option<End>,
    /// How it stood at the end.
    pub end: End,
    /// The journal at the end.
    pub events: Vec<Event>,
}

impl Played {
    /// Whether everybody died who was to die.
    pub fn all_died(&self) -> bool {
        self.scenario.crashes.iter().all(|crash| self.drivers.get(crash.driver).is_some_and(|driver| driver.died))
    }
}

/// Where scenarios are played: the program, the outside world, and a database.
pub struct Stage {
    program: PathBuf,
    server: Server,
    database: Option<Database>,
    scopes: AtomicU64,
}

impl Stage {
    /// Starts the counting server. With a `postgres` server, scenarios can be played in a database there.
    pub fn set(program: &Path, postgres: Option<&str>) -> Result<Self, CrashError> {
        Ok(Self {
            program: program.to_owned(),
            server: Server::start(program)?,
            database: postgres.map(Database::create).transpose()?,
            scopes: AtomicU64::new(1),
        })
    }

    /// The stores in which scenarios can be played.
    pub fn stores(&self) -> Vec<Store> {
        let postgres = self.database.is_some().then_some(Store::Postgres);
        [Some(Store::Sqlite), postgres].into_iter().flatten().collect()
    }

    /// Plays a scenario to its end.
    pub fn play(&self, scenario: Scenario) -> Result<Played, CrashError> {
        let scope = self.scopes.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().map_err(|error| CrashError::new("a folder", error))?;
        let journal = match (scenario.store, &self.database) {
            (Store::Sqlite, _) => folder.path().join("journal.db").display().to_string(),
            (Store::Postgres, Some(database)) => database.url().to_owned(),
            (Store::Postgres, None) => return Err(CrashError::new("postgres", "there is no server")),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CrashError::new("the runtime", error))?;
        let play = Play { stage: self, scope, journal, case: scenario.case };
        runtime.block_on(play.to_the_end(scenario))
    }
}

struct Play<'s> {
    stage: &'s Stage,
    scope: u64,
    journal: String,
    case: Case,
}

impl Play<'_> {
    async fn to_the_end(&self, scenario: Scenario) -> Result<Played, CrashError> {
        let (mut drivers, mut recovered) = (Vec::new(), None);
        for number in 0..MOST_DRIVERS {
            let crash = scenario.crashes.iter().find(|crash| crash.driver == number);
            let driven = self.drive(crash, recovered.is_some())?;
            let stop = driven.stop.clone();
            drivers.push(driven);
            match stop.as_deref() {
                Some("waiting_for_approval") => self.grant().await?,
                Some("needs_reconciliation") => {
                    if recovered.is_none() {
                        recovered = Some(self.look().await?.0);
                    }
                }
                // It died, or gave up: the next one goes on.
                None | Some("nowhere") => {}
                Some(_) => break,
            }
        }
        let (end, events) = self.look().await?;
        Ok(Played { scenario, drivers, recovered, end, events })
    }

    /// One process, until it ends.
    fn drive(&self, crash: Option<&Crash>, person: bool) -> Result<Driven, CrashError> {
        let mut command = Command::new(&self.stage.program);
        command.args(["drive", "--case", &self.case.option(), "--journal", &self.journal]);
        command.args(["--server", &self.stage.server.address.to_string(), "--scope", &self.scope.to_string()]);
        if let Some(crash) = crash {
            command.args(["--at", &crash.at.to_string()]);
        }
        if person {
            command.arg("--person");
        }
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| CrashError::new("a driver", error))?;
        let mut driven = Driven { died: output.status.signal() == Some(9), ..Driven::default() };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            driven.take(line);
        }
        if !driven.died && !output.status.success() && driven.error.is_none() {
            driven.error = Some(format!("it ended with {}", output.status));
        }
        Ok(driven)
    }

    /// A person says yes to what is asked.
    async fn grant(&self) -> Result<(), CrashError> {
        let failed = |error: &dyn std::fmt::Display| CrashError::new("an approval", error);
        let journal = self.open()?;
        let pending = ApprovalFilter { run_id: Some(run_id(self.scope)), state: Some(ApprovalState::Pending) };
        for approval in journal.approvals(pending).await.map_err(|error| failed(&error))? {
            let decision = Decision {
                approval_id: approval.approval_id,
                answer: ApprovalState::Granted,
                by: "somebody".to_owned(),
                reason: None,
                digest: Some(approval.digest),
            };
            journal.decide(decision).await.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// How the run and the world stand.
    async fn look(&self) -> Result<(End, Vec<Event>), CrashError> {
        let failed = |error: &dyn std::fmt::Display| CrashError::new("the journal", error);
        let events = self.open()?.events(&run_id(self.scope), 0).await.map_err(|error| failed(&error))?;
        let log = counter::log(self.stage.server.address, &self.scope.to_string());
        let log = log.map_err(|error| CrashError::new("the server", error))?;
        Ok((End::of(&events, log), events))
    }

    fn open(&self) -> Result<Arc<dyn Journal>, CrashError> {
        let shared = self.stage.database.as_ref().filter(|database| database.url() == self.journal);
        match shared.and_then(Database::journal) {
            Some(journal) => Ok(Arc::clone(journal)),
            None => drive::journal(&self.journal),
        }
    }
}

impl Driven {
    fn take(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("pass", point)) => self.passes.push(point.to_owned()),
            Some(("event", event)) => {
                if let Some((seq, kind)) = event.split_once(' ') {
                    self.acknowledged.push((seq.parse().unwrap_or_default(), kind.to_owned()));
                }
            }
            Some(("stop", stop)) => self.stop = Some(stop.to_owned()),
            Some(("error", words)) => self.error = Some(words.to_owned()),
            _ => self.error = Some(format!("it said `{line}`")),
        }
    }
}

/// The counting server's process. It ends with this value.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(program: &Path) -> Result<Self, CrashError> {
        let failed = |error: &dyn std::fmt::Display| CrashError::new("the counting server", error);
        let child = Command::new(program).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout.take(64)).read_line(&mut line).map_err(|error| failed(&error))?;
        }
        let address = line.trim_end().parse().map_err(|error| failed(&error))?;
        Ok(Self { child, address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
