//! A program and whatever it started.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Child;

use crate::fence::Fence;

/// How long a program is given to end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// After its standard input was closed.
    pub after_close: Duration,
    /// After it was asked to end (SIGTERM).
    pub after_request: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { after_close: Duration::from_millis(500), after_request: Duration::from_millis(500) }
    }
}

/// A program and whatever it started. All of it is killed with this value.
#[derive(Debug)]
pub struct Tree {
    child: Child,
    /// The child's process number, which is its group's. As long as the child was not waited for, no other process has it.
    leader: Option<u32>,
    fence: Fence,
    patience: Patience,
}

/// How often a child is looked at whose end is waited for.
const GLANCE: Duration = Duration::from_millis(5);

impl Tree {
    pub(crate) fn new(child: Child, fence: Fence, patience: Patience) -> Self {
        Self { leader: child.id(), child, fence, patience }
    }

    /// What holds it together.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// The number of the process that leads the tree: the program's own, or the helper's; none once it has ended.
    pub fn id(&self) -> Option<u32> {
        self.leader
    }

    /// Ends it: waits for it to end by itself, asks it to, and kills all that is left. Whoever holds its standard input closes it
    /// before. Takes no longer than the patience that it was started with.
    ///
    /// # Errors
    ///
    /// The system does not say how it ended.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        if !self.ended_within(self.patience.after_close).await {
            self.signal(Strength::Ask);
            self.ended_within(self.patience.after_request).await;
        }
        self.end().await
    }

    /// Kills all of it, and waits for that.
    ///
    /// # Errors
    ///
    /// The system does not say how it ended.
    pub async fn end(&mut self) -> io::Result<ExitStatus> {
        // Also where the leader ended by itself: what it left in its group is its own still.
        self.signal(Strength::Kill);
        self.leader = None;
        #[cfg(not(unix))]
        self.child.start_kill()?;
        self.child.wait().await
    }

    /// Whether the leader ends in this time. It is not waited for, in the system's sense: its number stays its own.
    async fn ended_within(&self, time: Duration) -> bool {
        let look = async {
            while !self.has_ended() {
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::time::timeout(time, look).await.is_ok()
    }
}

#[derive(Clone, Copy)]
enum Strength {
    Ask,
    Kill,
}

#[cfg(unix)]
impl Tree {
    fn signal(&self, strength: Strength) {
        use rustix::process::{Signal, kill_process_group};
        let signal = match strength {
            Strength::Ask => Signal::TERM,
            Strength::Kill => Signal::KILL,
        };
        if let Some(group) = self.group() {
            // It fails only where nothing of the group is left, or what is left is another user's.
            let _ = kill_process_group(group, signal);
        }
    }

    fn has_ended(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(leader) = self.group() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(leader), options), Ok(None))
    }

    fn group(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.leader?).ok()?)
    }
}

/// Elsewhere the child is killed alone.
#[cfg(not(unix))]
impl Tree {
    #[expect(clippy::unused_self, reason = "it has the signature that it has on Unix")]
    fn signal(&self, _: Strength) {}

    #[expect(clippy::unused_self, reason = "it has the signature that it has on Unix")]
    fn has_ended(&self) -> bool {
        false
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Before the child is dropped, which kills it alone and lets others have its number.
        self.signal(Strength::Kill);
    }
}
