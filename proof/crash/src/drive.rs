//! One driver's process: it starts the run, or takes it up again, and says on stdout what it has been told.
//!
//! ```text
//! pass POINT          it came to a point
//! event SEQ KIND      the journal acknowledged an event
//! stop STATUS         the run has stopped, or waits
//! error WORDS         it gave up
//! ```

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lockgate::contract::event::Finding;
use lockgate::contract::ids::RunId;
use lockgate::harness::{Reconciliation, RunError, RunState, Stop};
use lockgate::journal::{PostgresDurability, PostgresJournal, PostgresOptions, SqliteJournal};
use lockgate::prelude::*;

use crate::case::Case;
use crate::kill::{self, Spot, Stopping, say};
use crate::{CrashError, counter, tool};

/// How long a driver's right to its run outlives it in PostgreSQL.
pub const LEASE: Duration = Duration::from_millis(300);

/// How long a driver waits for a run that another one has.
const PATIENCE: &str = "10000";

/// How often it asks.
const PAUSE: Duration = Duration::from_millis(10);

/// After so long a driver is stuck, and says so.
const STUCK: Duration = Duration::from_secs(30);

/// What a driver is told.
#[derive(Debug, Clone, clap::Args)]
pub struct Drive {
    /// What kind of call its run makes.
    #[arg(long)]
    pub case: Case,
    /// The journal: a file, or a `postgres:` URL.
    #[arg(long)]
    pub journal: String,
    /// The address of the counting server.
    #[arg(long)]
    pub server: SocketAddr,
    /// Whose effects they are, for the server; and the number that its run is named by.
    #[arg(long)]
    pub scope: u64,
    /// Where it dies: `POINT:N`, or `any:N`.
    #[arg(long)]
    pub at: Option<Spot>,
    /// What happens there.
    #[arg(long, default_value = "kill")]
    pub stopping: Stopping,
    /// How many milliseconds it waits for a run that another one has.
    #[arg(long, default_value = PATIENCE)]
    pub patience: u64,
    /// Settles what nobody knows as a person would who looks at the server.
    #[arg(long)]
    pub person: bool,
}

impl Drive {
    /// The run that it is about.
    pub fn run_id(&self) -> RunId {
        run_id(self.scope)
    }

    /// Does what a driver's process does.
    pub fn main(&self) -> Result<(), CrashError> {
        std::thread::spawn(|| {
            std::thread::sleep(STUCK);
            say("error stuck");
            std::process::exit(3);
        });
        kill::arm(self.at.as_ref(), self.stopping)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let stopped = runtime.map_err(|error| CrashError::new("the runtime", error))?.block_on(self.drive());
        match &stopped {
            Ok(stop) => say(&format!("stop {stop}")),
            Err(error) => say(&format!("error {error}")),
        }
        stopped.map(drop)
    }

    async fn drive(&self) -> Result<String, CrashError> {
        let runner = self.runner()?;
        let run = self.run_id();
        let there = runner.gate().journal().run(&run).await.map_err(|error| CrashError::new("the journal", error))?;
        if there.is_none() && self.case == Case::Direct {
            let subject = Subject::default();
            let binding = runner.gate().registry().discover(&subject).bind();
            let mut call = DirectCall::new(subject, binding, tool::NAME, tool::ARGUMENTS);
            call.idempotency_key = Some(format!("order-{}", self.scope));
            runner.call(call).await.map_err(|error| CrashError::new("the call", error))?;
        } else if there.is_none() {
            let subject = Subject::default();
            let binding = runner.gate().registry().discover(&subject).bind();
            let started = runner.start(AgentRun::new("Order it.", subject, binding)).await;
            started.map_err(|error| CrashError::new("the run", error))?;
        } else {
            if self.person {
                self.settle_as_a_person(&runner).await?;
            }
            self.unless_busy(async || runner.resume(&run, Resume::default()).await).await?;
        }
        let state = runner.state(&run).await.map_err(|error| CrashError::new("the run's events", error))?;
        Ok(state.stop().map_or("nowhere", |stop| stop.status().word()).to_owned())
    }

    /// What is unknown is looked up at the server, and written down.
    async fn settle_as_a_person(&self, runner: &Runner) -> Result<(), CrashError> {
        let run = self.run_id();
        let state = runner.state(&run).await.map_err(|error| CrashError::new("the run's events", error))?;
        let Some(Stop::NeedsReconciliation(calls)) = state.stop() else { return Ok(()) };
        if state.is_reconciled() {
            return Ok(());
        }
        let log = counter::log(self.server, &self.scope.to_string());
        let done = !log.map_err(|error| CrashError::new("the server", error))?.is_empty();
        for call_id in calls {
            let found = Reconciliation {
                call_id: call_id.clone(),
                finding: if done { Finding::Done } else { Finding::NotDone },
                by: "somebody".to_owned(),
                reason: None,
            };
            self.unless_busy(async || runner.reconcile(&run, found.clone()).await).await?;
        }
        Ok(())
    }

    /// Tries until nobody else drives the run: of a driver that died, the lease runs out.
    async fn unless_busy(
        &self,
        mut attempt: impl AsyncFnMut() -> Result<RunState, RunError>,
    ) -> Result<RunState, CrashError> {
        let clock = SystemClock;
        let until = clock.monotonic() + Duration::from_millis(self.patience);
        loop {
            match attempt().await {
                Err(RunError::Busy(_)) if clock.monotonic() < until => tokio::time::sleep(PAUSE).await,
                answer => return answer.map_err(|error| CrashError::new("the run", error)),
            }
        }
    }

    fn runner(&self) -> Result<Runner, CrashError> {
        let journal = journal(&self.journal)?;
        let registry = tool::registry(self.case, self.server, &self.scope.to_string())?;
        let scrubber = ScrubberBuilder::new().build().map_err(|error| CrashError::new("the scrubber", error))?;
        let options = GateOptions { max_output_bytes: tool::MAX_OUTPUT_BYTES, ..GateOptions::default() };
        let gate =
            Gate::builder(registry, Arc::new(NativePolicy::new()), journal, Arc::new(scrubber), Arc::new(SystemClock))
                .options(options)
                .build()
                .map_err(|error| CrashError::new("the gate", error))?;
        let script = format!(
            r#"{{"turns": [{{"calls": [{{"id": "p1", "name": "{}", "arguments": {}}}]}}, {{"text": "Done."}}]}}"#,
            tool::NAME,
            tool::ARGUMENTS
        );
        let model = ScriptedModel::parse(&script).map_err(|error| CrashError::new("the script", error))?;
        let options = RunnerOptions {
            observer: Some(Arc::new(|event| say(&format!("event {} {}", event.seq, event.kind.word())))),
            ..RunnerOptions::default()
        };
        Ok(Runner::new(Arc::new(gate), Arc::new(OneRun(self.scope)), options).with_model(Arc::new(model)))
    }
}

/// The run of a scope.
pub fn run_id(scope: u64) -> RunId {
    RunId::from_random(scope)
}

/// Opens a journal as a driver does.
pub fn journal(place: &str) -> Result<Arc<dyn Journal>, CrashError> {
    let failed = |error| CrashError::new("the journal", error);
    if place.starts_with("postgres:") {
        let options = PostgresOptions {
            connections: 2,
            lease: LEASE,
            // The server of the tests is one that is thrown away.
            durability: PostgresDurability::Ignored,
            ..PostgresOptions::default()
        };
        return Ok(Arc::new(PostgresJournal::open_with(place, options).map_err(failed)?));
    }
    Ok(Arc::new(SqliteJournal::open(&PathBuf::from(place), Arc::new(SystemClock)).map_err(failed)?))
}

/// The run's id is known before the run is.
struct OneRun(u64);

impl Ids for OneRun {
    fn random(&self) -> u64 {
        self.0
    }
}
