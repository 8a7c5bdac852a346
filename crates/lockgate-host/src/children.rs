//! Child processes: started without a shell, with the environment that was declared, killed when their time is up.

use std::io;
use std::process::Stdio;
use std::time::Duration;

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
    /// Its time was up, and it was killed.
    TimedOut,
}

impl Child<'_> {
    /// Runs it to its end. Nobody sees what it prints.
    ///
    /// # Errors
    ///
    /// It cannot be started, or there is no program in the command.
    pub async fn run(&self, timeout: Duration) -> io::Result<Ended> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let own = self.environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(own)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
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
            child.kill().await?;
            return Ok(Ended::TimedOut);
        };
        let status = status?;
        Ok(if status.success() { Ended::Well } else { Ended::Badly(status.to_string()) })
    }
}

#[cfg(test)]
mod tests;
