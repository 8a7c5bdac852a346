//! Trouble with the question for versions: older servers answer it in every way but one.

use super::Mode;
use super::polite::handshake;
use super::wire::{Message, Wire};
use crate::error::PeerError;

pub(super) fn answer(mode: Mode, message: &Message, wire: &mut Wire) -> Result<bool, PeerError> {
    match (mode, message.method()) {
        (Mode::DiesOnProbe, "server/discover") => std::process::exit(1),
        (Mode::RefusesProbe, "server/discover") => wire.error(message.id(), -32602, "Invalid request parameters")?,
        (Mode::SilentOnProbe, "server/discover") => {}
        (Mode::OddVersion, "server/discover") => wire.error(message.id(), -32601, "Method not found")?,
        (Mode::OddVersion, "initialize") => wire.result(message.id(), &handshake("2026-07-28"))?,
        _ => return Ok(false),
    }
    Ok(true)
}
