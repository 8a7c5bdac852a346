//! Trouble with ends: in the middle of a call, at once, or not at all.

use std::time::Duration;

use super::Mode;
use super::polite::Polite;
use super::wire::Message;
use crate::error::PeerError;

pub(super) fn answer(mode: Mode, message: &Message, server: &Polite) -> Result<bool, PeerError> {
    match mode {
        Mode::DiesMidCall if message.is_call() => {
            server.effect()?;
            std::process::exit(1);
        }
        Mode::DiesOnList if message.method() == "tools/list" => std::process::exit(1),
        _ => Ok(false),
    }
}

/// Takes no signal to end, where it is to stay.
pub(super) fn begin(mode: Mode) -> Result<(), PeerError> {
    if mode != Mode::Stays {
        return Ok(());
    }
    let runtime = tokio::runtime::Handle::try_current().map_err(PeerError::at("the signal"))?;
    let _inside = runtime.enter();
    let terminate = tokio::signal::unix::SignalKind::terminate();
    let mut asked = tokio::signal::unix::signal(terminate).map_err(PeerError::at("the signal"))?;
    runtime.spawn(async move { while asked.recv().await.is_some() {} });
    Ok(())
}

/// Stays for an hour, which is longer than any test, and shorter than a machine's life.
pub(super) fn end(mode: Mode) {
    if mode == Mode::Stays {
        std::thread::sleep(Duration::from_hours(1));
    }
}
