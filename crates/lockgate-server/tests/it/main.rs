//! The door from outside: real requests over loopback, real files, a real journal.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stand outside: real files, real sockets, real time"
)]

mod browser;
mod issuer;
mod jwt;
mod keys;
mod pages;
mod programs;
mod runs;
mod serve;
mod tokens;
mod web;
mod world;
