//! What is got for servers while they run, and is kept out of every text.

use lockgate_contract::ports::Redactor as _;
use lockgate_mcp::oauth::{Confidant, Hushed, Secret};
use lockgate_redact::{LearnedSecrets, RedactError, Scrubber, ScrubberBuilder, SecretValue};

/// Hears of tokens, and tells every redactor that was built with what it has learned.
pub(in crate::assembly) struct Told {
    learned: LearnedSecrets,
    /// For what is shown beside the gate, such as how a server stands. Nothing where it could not be built.
    scrubber: Option<Scrubber>,
}

impl Default for Told {
    fn default() -> Self {
        let learned = LearnedSecrets::default();
        let scrubber = ScrubberBuilder::new().learned(&learned).build().ok();
        Self { learned, scrubber }
    }
}

impl Told {
    /// What it has been told.
    pub(in crate::assembly) fn learned(&self) -> &LearnedSecrets {
        &self.learned
    }
}

impl Confidant for Told {
    fn told(&self, secret: &Secret) -> Result<Hushed, String> {
        let said = |error: RedactError| error.to_string();
        let held = self.learned.learn(&SecretValue::new(secret.expose())).map_err(said)?;
        Ok(Box::new(held))
    }

    fn without(&self, text: String) -> String {
        match &self.scrubber {
            Some(scrubber) => scrubber.scrub(&text).into_owned(),
            // What cannot be scrubbed is not shown.
            None => String::new(),
        }
    }
}
