//! The model's wires: a scripted model, and OpenAI-compatible Chat Completions.
//!
//! An adapter turns the neutral history into one vendor's request and that vendor's response into text and proposed calls
//! . It owns wire formats, wire names and wire ids. It does not own runs, retries, tools or permissions: it cannot
//! reach the gate, and what it returns is untrusted until the gate has read it.
//!
//! Another provider is a module here with its `ModelAdapter`, a variant of `ModelTable` in the run file
//! (`lockgate-config`), and its arm in the façade's assembly. Nothing else changes: not the contract, the registry, the
//! executor, the harness, the journal, the policy or any tool.

mod error;
mod names;
mod openai;
mod scripted;

pub use error::{OptionsError, ScriptError};
pub use names::WireNames;
pub use openai::{API_KEY_VARIABLE, BASE_URL_VARIABLE, ChatCompletions, ChatCompletionsOptions, DEFAULT_BASE_URL};
pub use scripted::{MAX_SCRIPT_BYTES, ScriptedModel};
