//! The server side, through its doors.

mod fixture;
mod http;
mod legacy;
mod listen;
mod loopback;
mod modern;
mod questions;
mod reports;
mod stdio;
