//! What is done with bytes that nobody would write: each module hands them to the entry through which a user's bytes come in,
//! and asserts what must hold for whatever comes out.
//!
//! Two programs share these modules: the fuzzers (`fuzz_targets/`), and the test `fuzz_corpus` of the crate `lockgate`, which
//! replays the kept corpus (`corpus/`) and the seeds with every `cargo xtask test`.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod assembly;
pub mod catalog;
pub mod catalog_rows;
mod fields;
pub mod journal_export;
pub mod journal_rows;
pub mod redaction;
pub mod run_file;
pub mod schema;
pub mod script;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// One thing that is fuzzed.
pub struct Target {
    /// Its name: that of its program, its module and its folder of the corpus.
    pub name: &'static str,
    /// Takes one input. Whatever does not hold is a panic.
    pub run: fn(&[u8]),
    /// What it starts from, made of the real files below the checkout's root.
    pub seeds: fn(&Path) -> Vec<Vec<u8>>,
}

/// Everything that is fuzzed.
pub const TARGETS: &[Target] = &[
    Target { name: "arguments", run: arguments::run, seeds: arguments::seeds },
    Target { name: "assembly", run: assembly::run, seeds: run_file::seeds },
    Target { name: "catalog", run: catalog::run, seeds: catalog::seeds },
    Target { name: "catalog_rows", run: catalog_rows::run, seeds: catalog_rows::seeds },
    Target { name: "journal_export", run: journal_export::run, seeds: journal_export::seeds },
    Target { name: "journal_rows", run: journal_rows::run, seeds: journal_rows::seeds },
    Target { name: "redaction", run: redaction::run, seeds: redaction::seeds },
    Target { name: "run_file", run: run_file::run, seeds: run_file::seeds },
    Target { name: "schema", run: schema::run, seeds: schema::seeds },
    Target { name: "script", run: script::run, seeds: script::seeds },
];

/// What an input stands for: itself; or, with a last byte of `0xf8` to `0xff`, which no UTF-8 text has, what stands before it
/// many times over. What takes more time than its length explains does not show in a short text.
fn repeated(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes.split_last() {
        Some((last @ 0xf8.., piece)) => {
            let times = (4 << (2 * (last - 0xf8))).min(LONGEST_REPEATED / piece.len().max(1));
            Cow::Owned(piece.repeat(times))
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// In bytes. What takes a step for every pair of them takes longer than an input may.
const LONGEST_REPEATED: usize = 64 * 1024;

/// The text of a checked-in file.
#[expect(clippy::disallowed_methods, reason = "seeds are checked in")]
fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The checked-in files of a folder and of those below it whose names end so, sorted.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Writes a file for the product to read.
#[expect(clippy::disallowed_methods, reason = "the product reads it from a folder of its own")]
fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).unwrap();
}
