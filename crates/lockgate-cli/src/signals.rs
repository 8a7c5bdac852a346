//! Ctrl-C and the terminate signal: the first cancels what runs, the second ends the process.

use std::io;
use std::sync::Arc;

use crate::exit::Exit;
use crate::output::Output;

/// Listens from now on. Must be called inside the runtime.
pub(crate) fn cancel_on_signal(output: &Arc<Output>, cancel: impl Fn() + Send + 'static) {
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
        output.note("cancelling; once more ends the program at once\n");
        cancel();
        signals.next().await;
        // A call in flight is left as the journal has it: started, its outcome unknown.
        std::process::exit(i32::from(Exit::Cancelled as u8));
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "as on the systems that can fail here")]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without signals there is nothing to wait for, and nothing comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
