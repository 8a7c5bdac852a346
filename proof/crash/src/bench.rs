//! One run, and the drivers that are started for it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use lockgate::contract::event::Event;
use lockgate::prelude::*;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tokio::runtime::Runtime;

use crate::case::Case;
use crate::database::Database;
use crate::drive::{self, run_id};
use crate::judge::End;
use crate::kill::Spot;
use crate::stage::Stage;
use crate::{CrashError, counter};

/// A run that drivers drive, from outside.
pub struct Bench<'s> {
    stage: &'s Stage,
    case: Case,
    scope: u64,
    journal: String,
    runtime: Runtime,
    /// Gone with this value, where the journal is a file of its own.
    _folder: Option<tempfile::TempDir>,
}

/// How one driver is started.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// Where it dies.
    pub dies_at: Option<Spot>,
    /// Where it stands still.
    pub freezes_at: Option<Spot>,
    /// It settles what nobody knows, as a person would.
    pub person: bool,
    /// How long it waits for a run that another one has; as long as any lease lasts otherwise.
    pub patience: Option<Duration>,
    /// Another way to the journal.
    pub journal: Option<String>,
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

/// A driver on its way.
pub struct Underway(Child);

impl<'s> Bench<'s> {
    pub(crate) fn new(
        stage: &'s Stage,
        case: Case,
        journal: String,
        folder: Option<tempfile::TempDir>,
    ) -> Result<Self, CrashError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CrashError::new("the runtime", error))?;
        Ok(Self { stage, case, scope: stage.next_scope(), journal, runtime, _folder: folder })
    }

    /// What kind of call the run makes.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Where its journal is.
    pub fn journal(&self) -> &str {
        &self.journal
    }

    /// Starts a driver.
    pub fn start(&self, orders: &Orders) -> Result<Underway, CrashError> {
        let mut command = Command::new(&self.stage.program);
        let journal = orders.journal.as_deref().unwrap_or(&self.journal);
        command.args(["drive", "--case", &self.case.option(), "--journal", journal]);
        command.args(["--server", &self.stage.server.address.to_string(), "--scope", &self.scope.to_string()]);
        for (at, stopping) in [(&orders.dies_at, "kill"), (&orders.freezes_at, "freeze")] {
            if let Some(at) = at {
                command.args(["--at", &at.to_string(), "--stopping", stopping]);
            }
        }
        if let Some(patience) = orders.patience {
            command.args(["--patience", &patience.as_millis().to_string()]);
        }
        if orders.person {
            command.arg("--person");
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        child.map(Underway).map_err(|error| CrashError::new("a driver", error))
    }

    /// Starts a driver, and waits until it has ended.
    pub fn drive(&self, orders: &Orders) -> Result<Driven, CrashError> {
        self.start(orders)?.end()
    }

    /// A person says yes to what is asked.
    pub fn grant(&self) -> Result<(), CrashError> {
        let failed = |error: &dyn std::fmt::Display| CrashError::new("an approval", error);
        let journal = self.open()?;
        self.runtime.block_on(async {
            let pending = ApprovalFilter { run_id: Some(run_id(self.scope)), state: Some(ApprovalState::Pending) };
            for approval in journal.approvals(pending).await.map_err(|error| failed(&error))? {
                let decision = Decision {
                    digest: Some(approval.digest),
                    ..Decision::new(approval.approval_id, ApprovalState::Granted, "somebody")
                };
                journal.decide(decision).await.map_err(|error| failed(&error))?;
            }
            Ok(())
        })
    }

    /// How the run and the world stand.
    pub fn look(&self) -> Result<(End, Vec<Event>), CrashError> {
        let journal = self.open()?;
        let events = self.runtime.block_on(async { journal.events(&run_id(self.scope), 0).await });
        let events = events.map_err(|error| CrashError::new("the journal", error))?;
        let log = counter::log(self.stage.server.address, &self.scope.to_string());
        Ok((End::of(&events, &log.map_err(|error| CrashError::new("the server", error))?), events))
    }

    fn open(&self) -> Result<Arc<dyn Journal>, CrashError> {
        let shared = self.stage.database.as_ref().filter(|database| database.url() == self.journal);
        match shared.and_then(Database::journal) {
            Some(journal) => Ok(Arc::clone(journal)),
            None => drive::journal(&self.journal),
        }
    }
}

impl Underway {
    /// Waits until it stands still, or has ended.
    pub fn until_frozen(&self) -> Result<(), CrashError> {
        let stopped = waitpid(Some(self.pid()?), WaitOptions::UNTRACED);
        let stopped = stopped.map_err(|error| CrashError::new("a driver", error))?;
        match stopped {
            Some((_, status)) if status.stopped() => Ok(()),
            _ => Err(CrashError::new("a driver", "it ended, and should have stood still")),
        }
    }

    /// Lets it go on.
    pub fn thaw(&self) -> Result<(), CrashError> {
        kill_process(self.pid()?, Signal::CONT).map_err(|error| CrashError::new("a driver", error))
    }

    /// Kills it, wherever it is; or does nothing, where it has ended.
    pub fn kill(&mut self) -> Result<(), CrashError> {
        self.0.kill().map_err(|error| CrashError::new("a driver", error))
    }

    /// Waits until it has ended, and reads what it said.
    pub fn end(self) -> Result<Driven, CrashError> {
        let output = self.0.wait_with_output().map_err(|error| CrashError::new("a driver", error))?;
        Ok(Driven::of(&output))
    }

    fn pid(&self) -> Result<Pid, CrashError> {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| CrashError::new("a driver", "its process has no number"))
    }
}

impl Driven {
    fn of(output: &Output) -> Self {
        let mut driven = Self { died: output.status.signal() == Some(9), ..Self::default() };
        // The last line of one that was killed may be half of one.
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            driven.take(line);
        }
        if !driven.died && !output.status.success() && driven.error.is_none() {
            driven.error = Some(format!("it ended with {}", output.status));
        }
        driven
    }

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
