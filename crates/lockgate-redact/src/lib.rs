//! Finds secrets and takes them out of every text that leaves (R-083, R-178, Z-02, Z-03).
//!
//! This crate owns what a secret looks like and what stands in its place. It implements the port
//! [`Redactor`](lockgate_contract::ports::Redactor); *where* texts leave, and that none leaves unscrubbed, is the
//! executor's business, and where known secrets come from is the host's.
//!
//! ```text
//! text ──► known values ───────────────────────────┐
//!     └──► prefilter ──► places ──► token rules    ├──► findings ──► merged ──► markers
//!                              └──► keys, headers, ┘
//!                                   URLs, PEM
//! ```
//!
//! - [`ScrubberBuilder`] takes the known values and makes a [`Scrubber`].
//! - [`LearnedSecrets`] are values that become known later, such as tokens that are got while texts are scrubbed.
//! - [`Scrubber::stream`] scrubs a text that comes in pieces.
//! - The prefilter is one packed search for short literals; rules then look at the places of their literals only, so a
//!   clean text costs one pass (two with known values) and no allocation.
//! - Token rules are data: `rules.toml`, with examples that tests run; [`ScrubberBuilder::rules`] adds a file like it.
//! - Placeholders (`<token>`, `${TOKEN}`, `changeme`) and the keys that vendors print in their manuals stay.
//!
//! Not found: a value that is cut into pieces, compressed, encrypted, or encoded in a way that is not listed at
//! [`ScrubberBuilder::secret`]; a word of letters only after an unquoted `password: `, since prose looks the same.

mod boundary;
mod builder;
mod document;
mod effort;
mod encodings;
mod error;
mod finding;
mod key_names;
mod known;
mod learned;
mod marker;
mod placeholder;
mod prefilter;
mod rules;
mod scrubber;
mod secret;
mod stream;
mod structural;
mod unescaped;

pub use builder::{DEFAULT_KEY, MINIMUM_LENGTH, ScrubberBuilder};
pub use error::RedactError;
pub use key_names::is_secret_name;
pub use learned::{Learned, LearnedSecrets};
pub use scrubber::Scrubber;
pub use secret::SecretValue;
pub use stream::Stream;
