//! What a program did to its files, in order.

use std::path::Path;

use crate::Failure;

/// One thing that it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Bytes at a place.
    Write {
        /// The file's name.
        file: String,
        /// Where, in bytes.
        at: usize,
        /// What.
        bytes: Vec<u8>,
    },
    /// A new length.
    Truncate {
        /// The file's name.
        file: String,
        /// In bytes.
        size: usize,
    },
    /// A sync that succeeded; of the folder, without a name.
    Sync(String),
    /// A sync that failed.
    FailedSync(String),
    /// A file was removed.
    Remove(String),
    /// A line that the program wrote to its standard output.
    Said(String),
}

/// Everything that a program did.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// In order.
    pub steps: Vec<Step>,
}

impl Recording {
    /// Reads what the recorder wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path)?;
        let mut rest = bytes.as_slice();
        let mut recording = Self::default();
        let mut line = String::new();
        while !rest.is_empty() {
            let kind = char::from(u8::try_from(word(&mut rest)?)?);
            let name = usize::try_from(word(&mut rest)?)?;
            let at = usize::try_from(word(&mut rest)?)?;
            let count = usize::try_from(word(&mut rest)?)?;
            let file = String::from_utf8(part(&mut rest, name)?.to_vec())?;
            let bytes = part(&mut rest, count)?;
            recording.steps.push(match kind {
                'W' => Step::Write { file, at, bytes: bytes.to_vec() },
                'T' => Step::Truncate { file, size: at },
                'S' => Step::Sync(file),
                'F' => Step::FailedSync(file),
                'U' => Step::Remove(file),
                'A' => {
                    line.push_str(std::str::from_utf8(bytes)?);
                    while let Some((said, rest)) = line.split_once('\n') {
                        recording.steps.push(Step::Said(said.to_owned()));
                        line = rest.to_owned();
                    }
                    continue;
                }
                other => return Err(format!("the recording holds `{other}`, which the model of a disk does not know").into()),
            });
        }
        Ok(recording)
    }

    /// The lines that begin with this word, without it.
    pub fn said<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.steps.iter().filter_map(move |step| match step {
            Step::Said(line) => line.strip_prefix(word).and_then(|line| line.strip_prefix(' ')),
            _ => None,
        })
    }

    /// How many calls were started, and did not get their results into the journal.
    pub fn owed(&self) -> usize {
        let calls = |what| self.said("ack").filter(move |line| line.ends_with(what)).count();
        calls("-claim") - calls("-settle")
    }

    /// The largest that a file got, in bytes.
    pub fn largest(&self, name: &str) -> usize {
        let ends = self.steps.iter().filter_map(|step| match step {
            Step::Write { file, at, bytes } if file == name => Some(at + bytes.len()),
            _ => None,
        });
        ends.max().unwrap_or_default()
    }
}

fn word(rest: &mut &[u8]) -> Result<u64, Failure> {
    Ok(u64::from_ne_bytes(part(rest, 8)?.try_into()?))
}

fn part<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Failure> {
    let (part, after) = rest.split_at_checked(count).ok_or("the recording ends in the middle of a step")?;
    *rest = after;
    Ok(part)
}
