//! Trouble with lines: noise between them, huge ones, endless ones, slow ones, too many.

use serde_json::json;

use super::Mode;
use super::polite::{Polite, acted};
use super::wire::{Message, Wire};
use crate::error::PeerError;

/// What stands on stdout besides messages.
const NOISE: [&[u8]; 6] = [
    b"Starting server...\n",
    b"\n",
    b"{\"jsonrpc\":\"2.0\",\n",
    b"\xff\xfe\xfd\n",
    b"[1, 2, 3]\n",
    b"\x1b[31mwarning:\x1b[0m null\n",
];

const HUGE: usize = 10 * 1024 * 1024;
const BLOCK: usize = 64 * 1024;
const FLOOD: usize = 1000;

pub(super) fn begin(mode: Mode, wire: &mut Wire) -> Result<(), PeerError> {
    if mode == Mode::Noise { noise(wire) } else { Ok(()) }
}

pub(super) fn answer(mode: Mode, message: &Message, server: &mut Polite, wire: &mut Wire) -> Result<bool, PeerError> {
    match mode {
        Mode::Noise if message.is_request() => {
            noise(wire)?;
            server.answer(message, wire)?;
            noise(wire)?;
        }
        Mode::HugeLine if message.is_call() => wire.result(message.id(), &acted(message, &"x".repeat(HUGE)))?,
        Mode::EndlessLine if message.is_call() => {
            wire.raw(b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"")?;
            // It ends by a broken pipe.
            let block = vec![b'x'; BLOCK];
            loop {
                wire.raw(&block)?;
            }
        }
        Mode::Flood if message.is_request() => {
            for _ in 0..FLOOD {
                wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }))?;
            }
            server.answer(message, wire)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn noise(wire: &mut Wire) -> Result<(), PeerError> {
    NOISE.into_iter().try_for_each(|line| wire.raw(line))
}
