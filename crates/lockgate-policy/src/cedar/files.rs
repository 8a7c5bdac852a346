//! The files that rules stand in.

use std::path::{Path, PathBuf};

use lockgate_host::files::{names_in, read_to_string};

use super::error::{Defect, RulesRefused};

/// A file with rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// What it is called in errors and in the set's digest.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Rule sets that ship with Lockgate, by the names that stand for them where files are listed.
pub const SHIPPED: [(&str, &str); 2] = [
    ("lockgate:native", include_str!("../../policies/native.cedar")),
    ("lockgate:ask-always", include_str!("../../policies/ask-always.cedar")),
];

/// Where rules come from: files of a folder, and sets that ship with Lockgate. Read anew whenever it is asked.
#[derive(Debug, Clone)]
pub struct RuleFiles {
    folder: PathBuf,
    patterns: Vec<String>,
}

impl RuleFiles {
    /// Files relative to this folder: paths, one `*` in a file's name for any characters, or a name of [`SHIPPED`]. Nothing
    /// stands for `lockgate:native`.
    pub fn new(folder: impl Into<PathBuf>, patterns: impl IntoIterator<Item = String>) -> Self {
        let mut patterns: Vec<String> = patterns.into_iter().collect();
        if patterns.is_empty() {
            patterns.push("lockgate:native".to_owned());
        }
        Self { folder: folder.into(), patterns }
    }

    /// The files as they are now: in the order that they are listed in, the files of one pattern by name.
    ///
    /// # Errors
    ///
    /// What cannot be read, and what names no file: rules that are not there forbid nothing. So do those of a file whose name
    /// is not UTF-8, wherever a `*` looks.
    pub fn read(&self) -> Result<Vec<RuleFile>, RulesRefused> {
        let (mut files, mut defects) = (Vec::<RuleFile>::new(), Vec::new());
        for pattern in &self.patterns {
            match self.matching(pattern) {
                // A file that two patterns name is read once.
                Ok(found) => {
                    for file in found {
                        if !files.iter().any(|other| other.name == file.name) {
                            files.push(file);
                        }
                    }
                }
                Err(defect) => defects.push(defect),
            }
        }
        if defects.is_empty() { Ok(files) } else { Err(RulesRefused::new(defects)) }
    }

    fn matching(&self, pattern: &str) -> Result<Vec<RuleFile>, Defect> {
        if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == pattern) {
            return Ok(vec![RuleFile { name: (*name).to_owned(), text: (*text).to_owned() }]);
        }
        if pattern.starts_with("lockgate:") {
            let names: Vec<_> = SHIPPED.iter().map(|(name, _)| *name).collect();
            return Err(Defect::new(pattern, None, "no such set ships with Lockgate")
                .hint(format!("the sets that ship are {}", names.join(", "))));
        }
        let (folder, name) = pattern.rsplit_once('/').map_or(("", pattern), |(folder, name)| (folder, name));
        if folder.contains('*') || name.matches('*').count() > 1 {
            return Err(Defect::new(pattern, None, "a pattern has one `*`, in the name of the file")
                .hint("list every folder, and every beginning and end of names, by itself"));
        }
        let Some((start, end)) = name.split_once('*') else {
            return Ok(vec![self.file(pattern)?]);
        };
        let unreadable =
            |error: std::io::Error| Defect::new(pattern, None, format!("the folder cannot be read: {error}"));
        let names = names_in(&self.folder.join(Path::new(folder))).map_err(unreadable)?;
        let fits =
            |name: &String| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
        let place = |name: &String| if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let found: Vec<_> =
            names.iter().filter(|name| fits(name)).map(|name| self.file(&place(name))).collect::<Result<_, _>>()?;
        if found.is_empty() {
            return Err(
                Defect::new(pattern, None, "no file is called so").hint("without rules nothing would be forbidden")
            );
        }
        Ok(found)
    }

    fn file(&self, name: &str) -> Result<RuleFile, Defect> {
        let text = read_to_string(&self.folder.join(name))
            .map_err(|error| Defect::new(name, None, format!("it cannot be read: {error}")))?;
        Ok(RuleFile { name: name.to_owned(), text })
    }
}

#[cfg(test)]
mod tests;
