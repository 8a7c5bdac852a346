//! Paths as texts, taken apart into steps before anything is looked at.

use std::ffi::OsString;
use std::path::{Component, Path};

use crate::core::error::ReadFailure;

/// The longest path that is looked at, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// One step of a path.
#[derive(Debug)]
pub(super) enum Step {
    /// To the parent directory.
    Up,
    /// To an entry of the directory.
    Down(OsString),
}

/// The steps of a path that the model gave. The same text means the same on every platform: names parted by `/`.
pub(super) fn steps_of_given(given: &str) -> Result<Vec<Step>, ReadFailure> {
    if given.len() > MAX_PATH_BYTES {
        return Err(ReadFailure::invalid_path(given, "is too long"));
    }
    if given.contains('\0') {
        return Err(ReadFailure::invalid_path(given, "holds a NUL character"));
    }
    if given.starts_with('/') || names_a_drive(given) || given.starts_with("\\\\") {
        return Err(ReadFailure::outside(given));
    }
    if given.contains('\\') {
        return Err(ReadFailure::invalid_path(given, "holds a backslash; names are parted by `/`"));
    }
    if cfg!(windows) && given.contains(':') {
        return Err(ReadFailure::invalid_path(given, "holds a colon"));
    }
    let step = |name: &str| match name {
        "" | "." => None,
        ".." => Some(Step::Up),
        name => Some(Step::Down(name.into())),
    };
    Ok(given.split('/').filter_map(step).collect())
}

/// The steps of a link's relative target; nothing when it is not relative after all.
pub(super) fn steps_of_target(target: &Path) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => steps.push(Step::Up),
            Component::Normal(name) => steps.push(Step::Down(name.to_owned())),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(steps)
}

fn names_a_drive(given: &str) -> bool {
    matches!(given.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
