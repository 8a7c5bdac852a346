//! Child processes: started without a shell, with the environment that was declared, killed when their time is up, with what
//! they started.

use std::io;
use std::process::Stdio;
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A program to start.
#[derive(Debug, Clone, Copy)]
pub struct Child<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// The variables of this process that it is given, by name. It has no others.
    pub environment: &'a [String],
    /// What it reads from its standard input.
    pub input: &'a [u8],
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// With success.
    Well,
    /// Without; the system's words for how.
    Badly(String),
    /// Its time was up, and it was killed, with what it started.
    TimedOut,
}

impl Child<'_> {
    /// Runs it to its end. Nobody sees what it prints. It is killed where its time is up or nobody waits for it any more:
    /// on Unix with all that it started and that did not leave its process group. What it leaves behind when it ends by
    /// itself stays.
    ///
    /// # Errors
    ///
    /// It cannot be started, or there is no program in the command.
    pub async fn run(&self, timeout: Duration) -> io::Result<Ended> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let own = self.environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new(program);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .args(arguments)
            .env_clear()
            .envs(own)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        // Declared behind the child, and so dropped before it: as long as the child was not waited for, no other process
        // has its number.
        let group = Group { leader: child.id() };
        let mut stdin = child.stdin.take();
        let to_its_end = async {
            if let Some(stdin) = &mut stdin {
                // A program that does not want to read may still do its work.
                let _ = stdin.write_all(self.input).await;
            }
            drop(stdin.take());
            child.wait().await
        };
        let Ok(status) = tokio::time::timeout(timeout, to_its_end).await else {
            drop(group);
            child.kill().await?;
            return Ok(Ended::TimedOut);
        };
        let status = status?;
        group.ended();
        Ok(if status.success() { Ended::Well } else { Ended::Badly(status.to_string()) })
    }
}

/// A child and what it started. All of it is killed with this value, unless the child ended before.
struct Group {
    /// The child's process number, which is its group's.
    leader: Option<u32>,
}

impl Group {
    /// The child was waited for: its number may be another's from here on.
    fn ended(mut self) {
        self.leader = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            kill_group(leader);
        }
    }
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // It fails only where nothing of the group is left, or what is left is another user's.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Elsewhere the child is killed alone.
#[cfg(not(unix))]
fn kill_group(_leader: u32) {}

#[cfg(test)]
mod tests;
