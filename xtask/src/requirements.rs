//! The requirements and what shows that they hold: `proof/requirements.toml`, the tags in the tests, `docs/requirements.md`.
//!
//! A tag is a comment `// R-062` at an assertion that fails when the requirement is broken. Each requirement has a tag, or
//! waits for a capability that is named, or is shown by a check that no test can stand for. Anything else is a fault.

mod list;
mod page;
mod source;
mod tags;

use std::path::Path;

use crate::files::{read, write as write_file};
use list::List;
use tags::{Tag, Tags};

const LIST: &str = "proof/requirements.toml";
const PAGE: &str = "docs/requirements.md";

/// Writes the page anew.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    write_file(&root.join(PAGE), current(root)?)
}

/// Fails when a requirement is not accounted for, or when the page is not what the sources say.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    if read(&root.join(PAGE))? != current(root)? {
        return Err(format!("xtask: {PAGE} is not up to date: run `cargo xtask generate`"));
    }
    Ok(())
}

/// Which tests carry which requirements.
pub(crate) struct Evidence(Vec<Tag>);

impl Evidence {
    /// Reads the tags of the checkout.
    pub(crate) fn of(root: &Path) -> Result<Self, String> {
        Ok(Self(Tags::of(root)?.sound))
    }

    /// Whether any test carries the number.
    pub(crate) fn is_carried(&self, number: &str) -> bool {
        self.0.iter().any(|tag| tag.number == number)
    }

    /// Whether this test does, itself or by a function that it shares with others.
    pub(crate) fn carries(&self, test: &str, number: &str) -> bool {
        self.0.iter().any(|tag| tag.number == number && tag.tests.contains(test))
    }
}

fn current(root: &Path) -> Result<String, String> {
    let list = List::parse(&read(&root.join(LIST))?)?;
    let tags = Tags::of(root)?;
    let mut faults = faults(&list, &tags);
    for (number, check) in &list.checks {
        if !root.join(&check.file).exists() {
            faults.push(format!("{number} is said to be shown by `{}`, which does not exist", check.file));
        }
    }
    if faults.is_empty() {
        Ok(page::text(&list, &tags.sound))
    } else {
        Err(format!("xtask: requirements are not accounted for:\n  {}", faults.join("\n  ")))
    }
}

/// What is wrong between the list and the tags, a line each.
fn faults(list: &List, tags: &Tags) -> Vec<String> {
    let mut faults = list.faults();
    let known = |number: &str| list.texts().any(|(known, _)| known == number);
    for stray in &tags.stray {
        faults.push(format!("{}: the tag {} stands in no test that runs", stray.place, stray.number));
    }
    for named in tags.named.iter().filter(|named| !known(&named.number)) {
        faults.push(format!("{}: there is no requirement {}", named.place, named.number));
    }
    for (number, _) in list.texts() {
        let is_tagged = tags.sound.iter().any(|tag: &Tag| tag.number == number);
        match (is_tagged, list.waits.get(number), list.checks.contains_key(number)) {
            (false, None, false) => faults.push(format!("{number} has no test, waits for nothing and names no check")),
            (true, Some(capability), _) => {
                faults.push(format!("{number} is said to wait for {capability}, but a test carries it"));
            }
            _ => {}
        }
    }
    faults
}

#[cfg(test)]
mod tests;
