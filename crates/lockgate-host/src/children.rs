//! Child processes: started without a shell, with the environment that was declared, killed when their time is up, with what
//! they started.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// The variable that tells a program, which was started for a hook, how many hooks stand above it.
pub const NESTING: &str = "LOCKGATE_HOOK_DEPTH";

/// How many hooks stand above this process. A value that is no number counts as one: somebody said that there is a hook.
pub fn nesting() -> u32 {
    std::env::var_os(NESTING).map_or(0, |depth| depth.to_str().and_then(|depth| depth.parse().ok()).unwrap_or(1))
}

/// A program to start.
#[derive(Debug, Clone, Copy)]
pub struct Child<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// The variables of this process that it is given, by name. It has no others but `variables`.
    pub environment: &'a [String],
    /// Variables with values of their own.
    pub variables: &'a [(&'a str, String)],
    /// The folder that it works in, an absolute path: a program that is named by a path is looked up there too. Without: that of
    /// this process.
    pub folder: Option<&'a Path>,
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

/// How a program ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// How it ended.
    pub ended: Ended,
    /// What it printed: its standard output, then its standard error. Absent where that is more than was to be read: half of a
    /// text may hold half of a secret.
    pub printed: Option<String>,
}

/// How long what a program printed is read after its end: what it started may hold on to its outputs.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Child<'_> {
    /// Runs it to its end. Nobody sees what it prints. It is killed where its time is up or nobody waits for it any more:
    /// on Unix with all that it started and that did not leave its process group. What it leaves behind when it ends by
    /// itself stays.
    ///
    /// # Errors
    ///
    /// It cannot be started, or there is no program in the command.
    pub async fn run(&self, timeout: Duration) -> io::Result<Ended> {
        Ok(self.start(timeout, None).await?.ended)
    }

    /// The same, and reads what it prints: `most` bytes of each of its outputs.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn run_and_read(&self, timeout: Duration, most: usize) -> io::Result<Answer> {
        self.start(timeout, Some(most)).await
    }

    async fn start(&self, timeout: Duration, most: Option<usize>) -> io::Result<Answer> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let own = self.environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let output = || if most.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut command = match self.folder {
            None => Command::new(program),
            Some(folder) => {
                let mut command = Command::new(within(folder, program));
                command.current_dir(folder);
                command
            }
        };
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .args(arguments)
            .env_clear()
            .envs(own)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(output())
            .stderr(output())
            .kill_on_drop(true)
            .spawn()?;
        // Declared behind the child, and so dropped before it: as long as the child was not waited for, no other process
        // has its number.
        let group = Group { leader: child.id() };
        let mut stdin = child.stdin.take();
        let (mut said, mut complained) = (Kept::new(most), Kept::new(most));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut reading = Box::pin(async { tokio::join!(said.read(stdout), complained.read(stderr)) });
        let mut is_read = false;
        let ended = {
            let to_its_end = async {
                if let Some(stdin) = &mut stdin {
                    // A program that does not want to read may still do its work.
                    let _ = stdin.write_all(self.input).await;
                }
                drop(stdin.take());
                child.wait().await
            };
            tokio::pin!(to_its_end);
            let read_along = async {
                loop {
                    tokio::select! {
                        status = &mut to_its_end => return status,
                        _ = &mut reading, if !is_read => is_read = true,
                    }
                }
            };
            tokio::time::timeout(timeout, read_along).await
        };
        let Ok(status) = ended else {
            drop(group);
            child.kill().await?;
            return Ok(Answer { ended: Ended::TimedOut, printed: None });
        };
        let status = status?;
        group.ended();
        if !is_read {
            let _ = tokio::time::timeout(LAST_WORDS, &mut reading).await;
        }
        drop(reading);
        let ended = if status.success() { Ended::Well } else { Ended::Badly(status.to_string()) };
        Ok(Answer { ended, printed: said.text().zip(complained.text()).map(|(said, complained)| said + &complained) })
    }
}

/// A program as it is started from a folder: a bare name is looked up among the folders of `PATH`, and a path from the folder.
/// Which folder the system itself begins a relative path at is not said everywhere.
fn within(folder: &Path, program: &str) -> PathBuf {
    let is_bare = Path::new(program).components().count() <= 1;
    if is_bare { PathBuf::from(program) } else { folder.join(program) }
}

/// What is kept of an output.
struct Kept {
    bytes: Vec<u8>,
    most: usize,
}

impl Kept {
    fn new(most: Option<usize>) -> Self {
        Self { bytes: Vec::new(), most: most.unwrap_or(0) }
    }

    /// Reads to the end: a program whose output nobody reads would stand still.
    async fn read(&mut self, output: Option<impl AsyncRead + Unpin>) {
        let Some(mut output) = output else { return };
        let mut chunk = vec![0; 4096];
        while let Ok(count @ 1..) = output.read(&mut chunk).await {
            // One byte more than is to be read says that there is more.
            let room = (self.most + 1).saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(&chunk[..count.min(room)]);
        }
    }

    fn text(&self) -> Option<String> {
        (self.bytes.len() <= self.most).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

/// Where a program of this name stands, among the folders of `PATH`.
pub fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A program for somebody who speaks with it: not started yet, with these variables of this process and no others. It is
/// killed when nobody holds it any more.
pub fn partner(program: &Path, arguments: &[&str], environment: &[&str]) -> Command {
    let own = environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(own).kill_on_drop(true);
    command
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
