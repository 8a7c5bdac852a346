//! What goes wrong with a peer itself. What it was told to do wrong is not an error.

use std::fmt::Display;

/// What a peer was busy with, and what came of it.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PeerError {
    place: &'static str,
    problem: String,
}

impl PeerError {
    /// Says what was done, and what went wrong.
    pub fn new(place: &'static str, problem: impl Display) -> Self {
        Self { place, problem: problem.to_string() }
    }

    /// The same, to map an error with.
    pub fn at<E: Display>(place: &'static str) -> impl FnOnce(E) -> Self {
        move |problem| Self::new(place, problem)
    }
}
