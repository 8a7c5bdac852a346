//! The crash matrix (`docs/crash-matrix.md`): drivers of runs are killed with SIGKILL at named points, and what became of
//! their calls is judged from outside.
//!
//! ```text
//!  orchestrator ──► crash serve    the outside world: performs effects, and counts them by their keys
//!       │                ▲
//!       │                │ loopback
//!       ├──► crash drive ┘         starts the run, or takes it up again; dies at the point that it is told
//!       ├──► crash drive           … until the run stops
//!       └──► judge                 the server's log, the journal, what drivers had said before they died
//! ```
//!
//! Nothing here knows how the product works inside: it has the façade, a journal's events, and processes that end.
#![expect(clippy::disallowed_methods, reason = "it starts and kills processes, and measures how long that takes")]

pub mod bench;
pub mod case;
pub mod counter;
pub mod database;
pub mod drive;
mod error;
pub mod judge;
pub mod kill;
pub mod matrix;
pub mod path;
pub mod report;
pub mod scenario;
pub mod stage;
mod tool;

pub use error::CrashError;
