//! Trees, as a machine sees them. The program that dies in the middle is this test binary, started again.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests stand outside: real files, real processes, real time; and they say what they skip"
)]

mod trees;
