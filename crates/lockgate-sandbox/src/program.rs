//! A program to start, and what one speaks with it through.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::helper;
use crate::tree::{Patience, Tree};

/// A program to start, without a shell.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The program and its arguments. A bare name is looked up in this process's `PATH`, a path from `folder`.
    pub command: &'a [String],
    /// The variables of this process that it is given, by name. It has no others but `variables`.
    pub environment: &'a [String],
    /// Variables with values of their own.
    pub variables: &'a [(String, String)],
    /// The folder that it works in; without, that of this process.
    pub folder: Option<&'a Path>,
}

/// What one speaks with a program through.
#[derive(Debug)]
pub struct Pipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
    /// What it says besides. Somebody has to read it: a program whose output nobody reads stands still.
    pub stderr: ChildStderr,
}

/// Starts a program in a tree of its own, fenced as well as this machine lets us.
///
/// # Errors
///
/// There is no program in the command, it is not found, or the system cannot start it.
pub fn spawn(program: &Program<'_>, patience: Patience) -> io::Result<(Tree, Pipes)> {
    let Some((name, arguments)) = program.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no program in the command"));
    };
    let path = find(name, program.folder)?;
    let (fence, helper) = helper::best();
    let mut command = match helper {
        Some(helper) => {
            let mut command = Command::new(helper.program);
            command.args(helper.arguments).arg(path);
            command
        }
        None => Command::new(path),
    };
    if let Some(folder) = program.folder {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command
        .args(arguments)
        .env_clear()
        .envs(program.environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(program.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let tree = Tree::new(child, fence, patience);
    match pipes {
        Some(((stdin, stdout), stderr)) => Ok((tree, Pipes { stdin, stdout, stderr })),
        None => Err(io::Error::other("the program has no pipes")),
    }
}

/// Where the program stands. Found here and not by whoever starts it, so that a missing program is told from one that failed.
fn find(name: &str, folder: Option<&Path>) -> io::Result<PathBuf> {
    let path = Path::new(name);
    let candidates: Vec<PathBuf> = if path.components().count() > 1 {
        vec![folder.map_or_else(|| path.to_owned(), |folder| folder.join(path))]
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
        std::env::split_paths(&folders).map(|folder| folder.join(path)).collect()
    };
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    let found =
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("the program `{name}` is not found")))?;
    // The child begins in its own folder, where a relative path would mean another file.
    std::path::absolute(found)
}
