//! Globs that the model gives, compiled.

use globset::{GlobBuilder, GlobMatcher};

use super::error::ReadFailure;

#[cfg(test)]
mod tests;

/// The longest glob or regular expression that is compiled, in bytes.
pub(super) const MAX_PATTERN_BYTES: usize = 1024;

/// Where a glob without any `/` looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// In the base directory only: the glob is matched against the whole path below it.
    WholePath,
    /// At every depth: a glob without a `/` is matched against the file name.
    FileName,
}

/// Compiles a glob over paths relative to a base directory. `*` and `?` stop at `/`, `**` does not.
pub(super) fn compile_glob(pattern: &str, scope: Scope) -> Result<GlobMatcher, ReadFailure> {
    let refused = |reason: &str| Err(ReadFailure::invalid_pattern(pattern, reason));
    if pattern.len() > MAX_PATTERN_BYTES {
        return refused("it is too long");
    }
    let relative = pattern.strip_prefix("./").unwrap_or(pattern);
    if relative.is_empty() {
        return refused("it is empty");
    }
    if relative.starts_with('/') || relative.split('/').any(|name| name == "..") {
        return refused("it must be relative, without `..`");
    }
    let anywhere = scope == Scope::FileName && !relative.contains('/');
    let glob = if anywhere { format!("**/{relative}") } else { relative.to_owned() };
    GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ReadFailure::invalid_pattern(pattern, error.kind().to_string()))
}
