//! Going through a directory and everything below it, in one order, without ever following a link.
//!
//! The matching of ignore rules is the `ignore` crate's; the walk is our own, because every directory and every
//! `.gitignore` has to pass the root's guards (a `.gitignore` may be a pipe, or a link to a file outside).
//!
//! Files come in the order of their path's bytes. A directory stands in its parent as if its name ended with `/`, which
//! is what makes that so: `a-b` comes before `a/x`.

use std::io::Read as _;
use std::vec;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::ReadFailure;
use super::root::{Entry, EntryKind, Resolved, Root};

#[cfg(test)]
mod tests;

/// How many entries one walk looks at before it gives up.
const MAX_ENTRIES: u64 = 1_000_000;
/// How much of one `.gitignore` is read, in bytes.
const MAX_GITIGNORE_BYTES: u64 = 1024 * 1024;

/// What a walk is for, which says what it passes over.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Everything down to a depth (one is the directory's own entries), with the sizes of files.
    Listing {
        /// Whether names that begin with a dot are shown.
        hidden: bool,
        depth: u32,
    },
    /// Everything below that a search is about. The inside of `.git` never is, unless the walk begins in it.
    Search {
        /// Whether names that begin with a dot, and what a `.gitignore` names, are shown.
        include_ignored: bool,
    },
}

impl Purpose {
    fn passes_over_name(self, name: &str) -> bool {
        match self {
            Self::Listing { hidden, .. } => !hidden && name.starts_with('.'),
            Self::Search { include_ignored } => name == ".git" || (!include_ignored && name.starts_with('.')),
        }
    }

    fn follows_gitignore(self) -> bool {
        matches!(self, Self::Search { include_ignored: false })
    }

    fn wants_sizes(self) -> bool {
        matches!(self, Self::Listing { .. })
    }

    /// Whether a directory is gone into that stands in the innermost of so many levels.
    fn goes_below(self, levels: usize) -> bool {
        match self {
            Self::Listing { depth, .. } => u32::try_from(levels).is_ok_and(|levels| levels < depth),
            Self::Search { .. } => true,
        }
    }
}

/// An entry that the walk shows.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path relative to the root.
    pub(super) path: String,
    /// How much of `path` belongs to the directory where the walk began, in bytes.
    base_bytes: usize,
    pub(super) kind: EntryKind,
    pub(super) size_bytes: Option<u64>,
    pub(super) resolved: Resolved,
}

impl Found {
    /// Its path relative to the directory where the walk began.
    pub(super) fn below_base(&self) -> &str {
        self.path.get(self.base_bytes..).unwrap_or(&self.path)
    }
}

/// Shows `visit` each entry below `base`, parents before what they hold. Answers how many directories could not be read.
///
/// `base` itself is gone into even when it is hidden or ignored: somebody named it.
pub(super) fn walk(
    root: &Root,
    base: &Resolved,
    purpose: Purpose,
    visit: impl FnMut(Found) -> Result<(), ReadFailure>,
) -> Result<u64, ReadFailure> {
    Walk { root, purpose, left: MAX_ENTRIES, above: Vec::new(), levels: Vec::new(), skipped: 0 }.run(base, visit)
}

struct Walk<'root> {
    root: &'root Root,
    purpose: Purpose,
    /// How many entries may still be looked at.
    left: u64,
    /// The rules of the directories above the base, the root's first.
    above: Vec<Gitignore>,
    /// The directories that are being gone through, the base first.
    levels: Vec<Level>,
    skipped: u64,
}

/// A directory on the way, with what is still to be shown of it.
struct Level {
    directory: Resolved,
    /// The directory's path relative to the root, with a `/` at its end unless it is the root.
    prefix: String,
    rules: Option<Gitignore>,
    entries: vec::IntoIter<Entry>,
}

impl Walk<'_> {
    fn run(
        mut self,
        base: &Resolved,
        mut visit: impl FnMut(Found) -> Result<(), ReadFailure>,
    ) -> Result<u64, ReadFailure> {
        if self.purpose.follows_gitignore() {
            self.above = rules_above(self.root, base);
        }
        let mut prefix = self.root.relative(base);
        if !prefix.is_empty() {
            prefix.push('/');
        }
        let base_bytes = prefix.len();
        self.enter(base.clone(), prefix)?;
        while let Some(level) = self.levels.last_mut() {
            let Some(entry) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            let name = entry.name.to_string_lossy();
            let path = format!("{}{name}", level.prefix);
            let resolved = level.directory.child(&entry.name, &path, entry.kind);
            if self.passes_over(&name, &resolved) {
                continue;
            }
            let below = (entry.kind == EntryKind::Dir && self.purpose.goes_below(self.levels.len()))
                .then(|| (resolved.clone(), format!("{path}/")));
            visit(Found { path, base_bytes, kind: entry.kind, size_bytes: entry.size_bytes, resolved })?;
            if let Some((directory, prefix)) = below {
                self.enter_below(directory, prefix)?;
            }
        }
        Ok(self.skipped)
    }

    /// Whether an entry of the innermost level is left out.
    fn passes_over(&self, name: &str, entry: &Resolved) -> bool {
        if self.purpose.passes_over_name(name) {
            return true;
        }
        let inner = self.levels.iter().rev().filter_map(|level| level.rules.as_ref());
        is_ignored(inner.chain(self.above.iter().rev()), entry)
    }

    /// Goes into a directory that the walk found. One that is gone, locked or swapped by now is only counted.
    fn enter_below(&mut self, directory: Resolved, prefix: String) -> Result<(), ReadFailure> {
        match self.enter(directory, prefix) {
            Err(failure @ (ReadFailure::Environment { .. } | ReadFailure::TooManyEntries { .. })) => Err(failure),
            Err(ReadFailure::NotFound { .. }) | Ok(()) => Ok(()),
            Err(_) => {
                self.skipped += 1;
                Ok(())
            }
        }
    }

    fn enter(&mut self, directory: Resolved, prefix: String) -> Result<(), ReadFailure> {
        let mut entries = self.root.entries(&directory, self.purpose.wants_sizes(), self.left)?;
        self.left = self.left.saturating_sub(entries.len() as u64);
        entries.sort_by_cached_key(sort_key);
        let has_rules = self.purpose.follows_gitignore() && entries.iter().any(|entry| entry.name == ".gitignore");
        let rules = if has_rules { rules_of(self.root, &directory) } else { None };
        self.levels.push(Level { directory, prefix, rules, entries: entries.into_iter() });
        Ok(())
    }
}

fn sort_key(entry: &Entry) -> String {
    let mut key = entry.name.to_string_lossy().into_owned();
    if entry.kind == EntryKind::Dir {
        key.push('/');
    }
    key
}

/// Whether the first of `rules`, the innermost first, that says anything says to ignore the entry.
fn is_ignored<'rules>(rules: impl Iterator<Item = &'rules Gitignore>, entry: &Resolved) -> bool {
    for rules in rules {
        match rules.matched(entry.path(), entry.kind() == EntryKind::Dir) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
    }
    false
}

/// The rules of the directories above `base`. When they say to ignore `base`, or something on the way to it, they do not
/// hold: the inside of an ignored directory that somebody named is not ignored as a whole.
fn rules_above(root: &Root, base: &Resolved) -> Vec<Gitignore> {
    let way = root.above(base);
    let mut above = Vec::new();
    for (index, directory) in way.iter().enumerate() {
        above.extend(rules_of(root, directory));
        if is_ignored(above.iter().rev(), way.get(index + 1).unwrap_or(base)) {
            above.clear();
        }
    }
    above
}

/// The rules that a directory's `.gitignore` sets; nothing when it has none that can be read. A line that is no pattern
/// is passed over, as git does.
fn rules_of(root: &Root, directory: &Resolved) -> Option<Gitignore> {
    let file = directory.child(".gitignore".as_ref(), ".gitignore", EntryKind::File);
    // A `.gitignore` that is a link does not count, as in git.
    let opened = root.open_file(&file).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(MAX_GITIGNORE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(directory.path());
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        let _not_a_pattern = builder.add_line(None, line);
    }
    builder.build().ok()
}
