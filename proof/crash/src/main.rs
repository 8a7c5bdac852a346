//! `crash matrix` plays the crash matrix; `crash drive` and `crash serve` are the processes that it starts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test program talks to people and to its parent")]
#![expect(clippy::disallowed_methods, reason = "it measures how long it takes")]

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use crash::case::Case;
use crash::drive::Drive;
use crash::matrix::{Chance, Judged, places, play};
use crash::stage::{Stage, Store};
use crash::{CrashError, counter, database, report};

/// The crash matrix: drivers are killed at named points, and a counting server judges what became of it.
#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays every scenario, and prints what each came to.
    Matrix(Matrix),
    /// Is the outside world: counts effects on a port that it says.
    Serve,
    /// Is a driver.
    Drive(Drive),
}

#[derive(clap::Args)]
struct Matrix {
    /// One store only; both otherwise, where `LOCKGATE_TEST_POSTGRES` names a server.
    #[arg(long)]
    store: Option<Store>,
    /// These cases only.
    #[arg(long)]
    case: Vec<Case>,
    /// Chooses the second deaths.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many scenarios are played at a time.
    #[arg(long, default_value_t = 4)]
    workers: usize,
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Matrix(matrix) => matrix.main(),
        Command::Serve => serve(),
        // What is to be said of it was said on stdout.
        Command::Drive(drive) => return drive.main().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), CrashError> {
    let failed = |error: std::io::Error| CrashError::new("the port", error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    println!("{}", listener.local_addr().map_err(failed)?);
    std::io::stdout().flush().map_err(failed)?;
    // Whoever started it holds the other end of its stdin: it ends with him, however he ends.
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    counter::serve(&listener);
    Ok(())
}

impl Matrix {
    fn main(&self) -> Result<(), CrashError> {
        let begun = Instant::now();
        let program = std::env::current_exe().map_err(|error| CrashError::new("this program", error))?;
        let postgres = std::env::var(database::SERVER).ok();
        let stage = Stage::set(&program, postgres.as_deref())?;
        let cases = if self.case.is_empty() { Case::ALL.to_vec() } else { self.case.clone() };
        let stores = stage.stores().into_iter().filter(|store| self.store.is_none_or(|wanted| wanted == *store));
        let mut chance = Chance::new(self.seed);
        let mut judged: Vec<Judged> = Vec::new();
        for store in stores {
            let places = places(&stage, store, &cases, self.workers)?;
            let played = play(&stage, places, self.workers, true, &mut chance)?;
            println!("{store:?}: {} scenarios\n\n{}", played.len(), report::table(&played, store));
            judged.extend(played);
        }
        let faults = judged.iter().filter(|one| !one.faults.is_empty()).count();
        let twice = judged.iter().filter(|one| one.played.crashes.len() > 1).count();
        println!("{}", report::points(&judged));
        println!(
            "{} scenarios, {twice} of them with two deaths, {faults} violations, {} s (seed {})",
            judged.len(),
            begun.elapsed().as_secs(),
            self.seed
        );
        let missed = report::never_reached(&judged);
        if !missed.is_empty() && self.case.is_empty() {
            return Err(CrashError::new("nobody died at", format_args!("{missed:?}")));
        }
        if faults > 0 {
            return Err(CrashError::new("what does not hold", format_args!("\n{}", report::faults(&judged))));
        }
        Ok(())
    }
}
