//! Trouble with pages: lists that never end, and one that ends where an empty cursor is taken for none.

use serde_json::{Value, json};

use super::Mode;
use super::polite::{cached, tool};
use super::wire::{Message, Wire};
use crate::error::PeerError;

pub(super) fn answer(mode: Mode, message: &Message, wire: &mut Wire) -> Result<bool, PeerError> {
    if message.method() != "tools/list" || !message.is_request() {
        return Ok(false);
    }
    let cursor = message.params()["cursor"].as_str();
    let (name, next) = match mode {
        Mode::SameCursor => ("act".to_owned(), Some("again".to_owned())),
        Mode::NewCursors => {
            let page = cursor.and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or(0);
            (format!("act_{page}"), Some((page + 1).to_string()))
        }
        Mode::EmptyCursor => match cursor {
            None => ("act".to_owned(), Some(String::new())),
            Some(_) => ("act_more".to_owned(), None),
        },
        _ => return Ok(false),
    };
    let mut page = json!({ "tools": [tool(&name, "Acts.")] });
    if let Some(next) = next {
        page["nextCursor"] = Value::String(next);
    }
    wire.result(message.id(), &cached(message, page))?;
    Ok(true)
}
