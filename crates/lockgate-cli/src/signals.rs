//! Ctrl-C, the terminate signal and a terminal that is closed: the first ends what runs, the second the process.

use std::io;
use std::sync::Arc;

use crate::exit::Exit;
use crate::output::Output;

/// Listens from now on. `words` say what the first signal does. Must be called inside the runtime.
pub(crate) fn on_signal(output: &Arc<Output>, words: &'static str, end: impl Fn() + Send + 'static) {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            tracing::warn!(%error, "signals cannot be listened to: Ctrl-C ends the process at once");
            return;
        }
    };
    let output = Arc::clone(output);
    tokio::spawn(async move {
        signals.next().await;
        output.note(&format!("{words}; once more ends the program at once\n"));
        end();
        signals.next().await;
        // A call in flight is left as the journal has it: started, its outcome unknown.
        std::process::exit(i32::from(Exit::Cancelled as u8));
    });
}

#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Nothing where whoever started the program wants it to outlive the terminal, as `nohup` does.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = if hangup_is_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hangup })
    }

    pub(crate) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hangup => {}
        }
    }
}

/// Whether the program was started with the hang-up signal ignored. Only Linux says so to a program without unsafe code;
/// elsewhere a hang-up cancels.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = lockgate::host::files::read_to_string(std::path::Path::new("/proc/self/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "as on the systems that can fail here")]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        // Without signals there is nothing to wait for, and nothing comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
