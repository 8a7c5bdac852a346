//! Runs the child under the recorder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::{Failure, Recording};

/// The recorder, compiled.
pub struct Recorder {
    folder: TempDir,
    library: PathBuf,
}

/// What is wrong with the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// There is room for so many bytes.
    Capacity(u64),
    /// The sync of this number fails, and loses what it should have written.
    Sync(u32),
    /// The write of this number stops halfway.
    Write(u32),
}

impl Recorder {
    /// Compiles the recorder; nothing where there is no C compiler, or no Linux.
    pub fn compile() -> Result<Option<Self>, Failure> {
        if !cfg!(target_os = "linux") || Command::new("cc").arg("--version").output().is_err() {
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let library = folder.path().join("recorder.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorder.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
        let output = compiler.arg(&library).arg(source).args(["-lpthread", "-ldl"]).output()?;
        succeeded(&output)?;
        Ok(Some(Self { folder, library }))
    }

    /// Lets `program` write a journal for so many rounds, on a disk with this fault.
    pub fn record(&self, program: &Path, rounds: u32, fault: Fault) -> Result<Recording, Failure> {
        let place = tempfile::tempdir_in(self.folder.path())?;
        // As the kernel names it, which is what the recorder compares.
        let place = place.path().canonicalize()?;
        let (folder, log) = (place.join("journal"), place.join("log"));
        std::fs::create_dir_all(&folder)?;
        let mut child = Command::new(program);
        child.arg("child").arg(folder.join("journal.db")).arg(rounds.to_string());
        child.env("LD_PRELOAD", &self.library).env("POWER_CUT_FOLDER", &folder).env("POWER_CUT_LOG", &log);
        match fault {
            Fault::None => {}
            Fault::Capacity(bytes) => drop(child.env("POWER_CUT_CAPACITY", bytes.to_string())),
            Fault::Sync(number) => drop(child.env("POWER_CUT_FAIL_SYNC", number.to_string())),
            Fault::Write(number) => drop(child.env("POWER_CUT_FAIL_WRITE", number.to_string())),
        }
        succeeded(&child.output()?)?;
        let recording = Recording::read(&log);
        std::fs::remove_dir_all(place)?;
        recording
    }
}

fn succeeded(output: &Output) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()).into())
}
