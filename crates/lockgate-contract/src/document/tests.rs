mod canonical;
mod decoding;
mod digests;
mod embedding;
mod numbers;
mod parsing;
mod properties;
mod reading;
mod writing;

use super::{Document, Fault, Limits};

fn parse(text: &str) -> Document {
    Document::parse(text, Limits::ARGUMENTS).unwrap()
}

fn fault(text: &str) -> Fault {
    Document::parse(text, Limits::ARGUMENTS).unwrap_err().fault()
}
