//! The sentences that the library itself puts into a model's history (R-110…R-112).

use std::collections::HashMap;

use crate::outcome::Code;

/// One sentence a code, the same in every run with the same configuration.
#[derive(Debug, Clone, Default)]
pub struct SyntheticObservations {
    sentences: HashMap<Code, String>,
}

impl SyntheticObservations {
    /// The sentences of the outcome table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses another sentence for one code.
    #[must_use]
    pub fn with(mut self, code: Code, sentence: impl Into<String>) -> Self {
        self.sentences.insert(code, sentence.into());
        self
    }

    /// The sentence of a code.
    pub fn sentence(&self, code: Code) -> &str {
        self.sentences.get(&code).map_or(code.row().model_text, String::as_str)
    }
}

#[cfg(test)]
mod tests;
