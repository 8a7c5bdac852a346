//! The promises of the scrubber as a whole: the canary and the properties.
#![expect(clippy::unwrap_used, reason = "tests")]

mod canary;
mod false_positives;
mod properties;
