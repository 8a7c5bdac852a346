//! The machine: clock, randomness and seals made with it, files, child processes, HTTP. Nothing else in Lockgate touches them.
//!
//! Everybody else asks for time and ids through the ports of `lockgate-contract`, and reads and writes files through
//! [`files`], so that tests own them (architecture section 2). This crate owns how the machine is asked; it does not own
//! what the answers are for, and it knows no tool, run or journal. The journal's database file is the journal's own.

#![expect(clippy::disallowed_methods, reason = "this crate is the one place that they are disallowed in favour of")]

pub mod children;
pub mod clock;
pub mod files;
#[cfg(feature = "http")]
pub mod http;
pub mod locked_file;
pub mod private_files;
pub mod randomness;
pub mod seal;
pub mod users;
