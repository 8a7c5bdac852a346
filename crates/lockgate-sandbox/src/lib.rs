//! How a child process is started, fenced and ended.
//!
//! ```text
//! spawn ─► Tree: the program and whatever it starts          Pipes: its standard input, output and error
//!           │
//!           ├─ pid_namespace   ours ─► helper ─► pid 1 ─► program ─► …    all of it ends with pid 1
//!           ├─ process_group   ours ─► (helper ─►) program ─► …           what leaves the group escapes
//!           └─ child_only      ours ─► program                            where there are no process groups
//! ```
//!
//! The helper is this very program, or another one, started again: see [`take_over`]. It owns process trees: whatever a program
//! starts ends with it. It knows no tool, no protocol and no policy.

#![expect(clippy::disallowed_methods, reason = "child processes are started here")]

mod fence;
mod helper;
#[cfg(target_os = "linux")]
mod namespace;
mod program;
mod tree;

pub use self::fence::{Fence, Level};
pub use self::helper::{register, take_over};
pub use self::program::{Pipes, Program, spawn};
pub use self::tree::{Patience, Tree};
