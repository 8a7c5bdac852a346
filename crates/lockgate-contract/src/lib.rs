//! The words that everyone speaks, and the ports.
//!
//! Data and traits: what a tool, a call, a result and an event are, the closed table of outcomes, and the interfaces
//! through which the gate reaches everything that can be replaced. It owns no behaviour of a run, no I/O and no runtime.

pub mod allowed;
pub mod approval;
pub mod arguments;
pub mod call;
pub mod digest;
pub mod document;
pub mod effect;
pub mod event;
pub mod export;
pub mod failpoint;
pub mod hexadecimal;
pub mod ids;
pub mod nearest;
pub mod observation;
pub mod outcome;
pub mod ports;
pub mod result;
pub mod run;
pub mod subject;
pub mod time;
pub mod tool;
