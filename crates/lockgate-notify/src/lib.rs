//! Tells people that something waits for them, and programs what became of calls: over a webhook, or to a program.
//!
//! ```text
//!  observer of a run ─┐
//!  whoever decides ───┼──► Notifier ──► a queue for each target ──► webhook (signed) or program (JSON on its stdin)
//!  reminders ─────────┘     never waits
//! ```
//!
//! It owns what is told and how it is carried. It decides nothing: a message that does not arrive changes no call, and no
//! answer to one is ever an approval. What it tells was scrubbed, and holds no arguments: who wants to decide looks at the
//! question itself, and a hook behind a call reads its result.

mod after;
mod error;
mod news;
mod notifier;
mod program;
mod reminders;
mod webhook;

pub use after::AfterHook;
pub use error::TargetError;
pub use news::{Happening, News};
pub use notifier::{Notifier, Target};
pub use program::Program;
pub use reminders::Reminders;
pub use webhook::{SIGNATURE, TIMESTAMP, Webhook, signature};
