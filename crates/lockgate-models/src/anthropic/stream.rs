//! A turn that comes in pieces.

use lockgate_contract::ports::{Heard, ModelError, ModelResponse};

use super::blocks::Blocks;
use super::response::{Finish, Used, failed};
use crate::chat::present;
use crate::wire::{Sent, TurnReader, ended_early, invalid, parsed};

/// Reads the pieces.
pub(super) struct Reader {
    sent: Sent,
    blocks: Blocks,
    used: Used,
    finish: Option<Finish>,
    is_done: bool,
}

impl Reader {
    pub(super) fn new(sent: Sent) -> Self {
        Self { sent, blocks: Blocks::default(), used: Used::default(), finish: None, is_done: false }
    }
}

impl TurnReader for Reader {
    fn event(&mut self, kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError> {
        let document = parsed(data)?;
        let root = document.root();
        let named = present(root, "type").and_then(|kind| kind.as_str());
        let index = root.get("index").and_then(|index| index.decode().ok());
        let member = |key| present(root, key).ok_or_else(|| invalid(format!("an event has no `{key}`")));
        match named.as_deref().unwrap_or(kind) {
            "message_start" => self.used.absorb(member("message")?),
            "content_block_start" => {
                self.blocks.begin(index, member("content_block")?);
                self.blocks.hear(heard);
            }
            "content_block_delta" => self.blocks.more(index, member("delta")?, heard)?,
            "message_delta" => {
                self.used.absorb(root);
                let delta = member("delta")?;
                if present(delta, "stop_reason").is_some() {
                    self.finish = Some(Finish::of(delta));
                }
            }
            "message_stop" => self.is_done = true,
            "error" => return Err(failed(member("error")?)),
            // The end of a block says nothing new; pings, and what is not known yet.
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError> {
        let Self { sent, blocks, used, finish, is_done } = *self;
        if !is_done {
            return Err(ended_early());
        }
        blocks.turn(finish.unwrap_or(Finish::Whole), &sent.names, used.usage())
    }
}

#[cfg(test)]
mod tests;
