//! A patch file: three lines about it, then a unified diff.

use std::fmt;
use std::path::PathBuf;

use crate::files::read;
use crate::requirements::Evidence;

/// One injection.
pub(super) struct Patch {
    /// The file's name without its ending, such as `R-062-validation-skipped`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    requirement: String,
    removes: String,
    pub(super) caught_by: Catcher,
    /// The crate that is changed.
    pub(super) krate: String,
    /// The files that are changed, from the root of the checkout.
    pub(super) files: Vec<String>,
}

/// What must notice.
pub(super) enum Catcher {
    Compiler,
    Test {
        krate: String,
        /// `module::test`, as the page of the requirements shows it.
        path: String,
    },
}

impl Patch {
    pub(super) fn read(path: PathBuf) -> Result<Self, String> {
        let text = read(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let field = |field: &str| {
            let line = text.lines().take(3).find_map(|line| line.strip_prefix(field));
            let value = line.map(str::trim).filter(|value| !value.is_empty());
            value.map(str::to_owned).ok_or_else(|| format!("{name}: one of the first three lines must be `{field} …`"))
        };
        let (requirement, removes, caught_by) = (field("Requirement:")?, field("Removes:")?, field("Caught by:")?);
        let files: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("+++ b/")).map(str::to_owned).collect();
        let krate = files.first().and_then(|file| file.strip_prefix("crates/")?.split('/').next()).map(str::to_owned);
        let krate = krate.ok_or_else(|| format!("{name}: it changes no crate"))?;
        let caught_by = match caught_by.as_str() {
            "the compiler" => Catcher::Compiler,
            named => {
                let (krate, path) =
                    named.split_once("::").ok_or_else(|| format!("{name}: `{named}` is not `crate::module::test`"))?;
                Catcher::Test { krate: krate.to_owned(), path: path.to_owned() }
            }
        };
        Ok(Self { name, path, requirement, removes, caught_by, krate, files })
    }

    /// The crate whose tests must notice; nothing where the compiler must.
    pub(super) fn tested(&self) -> Option<&str> {
        self.caught_by.test().map(|(krate, _)| krate)
    }

    /// What is wrong with it, apart from whether it applies.
    pub(super) fn faults(&self, evidence: &Evidence) -> Vec<String> {
        let mut faults = Vec::new();
        if !self.name.starts_with(&self.requirement) {
            faults.push(format!("{}: the file is not named after {}", self.name, self.requirement));
        }
        if self.files.iter().any(|file| file.contains("/tests")) {
            faults.push(format!("{}: it changes tests", self.name));
        }
        if self.removes.ends_with('.') {
            faults.push(format!("{}: `Removes:` is a fragment, without a full stop", self.name));
        }
        match &self.caught_by {
            Catcher::Compiler if evidence.is_carried(&self.requirement) => {}
            Catcher::Compiler => faults.push(format!("{}: no test carries {}", self.name, self.requirement)),
            Catcher::Test { krate, path } => {
                let test = format!("{krate}::{path}");
                if !evidence.carries(&test, &self.requirement) {
                    faults.push(format!("{}: no test `{test}` carries {}", self.name, self.requirement));
                }
            }
        }
        faults
    }
}

impl Catcher {
    /// Crate and path of the test, if it is one.
    pub(super) fn test(&self) -> Option<(&str, &str)> {
        match self {
            Self::Compiler => None,
            Self::Test { krate, path } => Some((krate, path)),
        }
    }
}

impl fmt::Display for Catcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiler => f.write_str("the compiler"),
            Self::Test { krate, path } => write!(f, "{krate}::{path}"),
        }
    }
}
