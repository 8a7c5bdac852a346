//! The model's wires: a scripted model, and the protocols of the providers.
//!
//! An adapter turns the neutral history into one vendor's request and that vendor's response into text and proposed calls
//! (R-191). It owns wire formats, wire names and wire ids. It does not own runs, retries, tools or permissions: it cannot
//! reach the gate, and what it returns is untrusted until the gate has read it.
//!
//! ```text
//! RemoteModel ─► chat │ responses │ anthropic │ gemini │ ollama (wire.rs: pure) ─► transport, framing, turn ─► ModelResponse
//! ```
//!
//! Another provider (R-194) is a module here with its `Wire`, a variant of [`Provider`], and one of `ModelTable` in the run file
//! (`lockgate-config`). Nothing else changes: not the contract, the registry, the executor, the harness, the journal, the policy or
//! any tool.

mod anthropic;
mod chat;
mod described;
mod error;
mod failure;
mod framing;
mod gemini;
mod names;
mod ollama;
mod options;
mod pairing;
mod prices;
mod remote;
mod responses;
mod said;
mod scripted;
mod secret;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod testing;
mod told;
mod transport;
mod turn;
mod usage;
mod wire;

pub use error::{OptionsError, ScriptError};
pub use names::WireNames;
pub use options::{Provider, RemoteOptions, ToolCalls};
pub use prices::Prices;
pub use remote::RemoteModel;
pub use scripted::{MAX_SCRIPT_BYTES, ScriptedModel};
