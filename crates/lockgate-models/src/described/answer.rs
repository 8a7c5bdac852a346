//! An answer in the schema: a text, or a call.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Kind;
use lockgate_contract::ports::{ModelError, ModelResponse, ProposedCall};

use crate::chat::response::present;
use crate::wire::{invalid, parsed};

/// The longest beginning of an answer before its text, white space included.
const MAX_BEGINNING: usize = 256;

/// The turn that an answer is. The arguments' text stays as it was written.
pub(super) fn turn_of(response: ModelResponse) -> Result<ModelResponse, ModelError> {
    let answer = response.text.as_deref().unwrap_or_default();
    let document = parsed(answer).map_err(|error| not_in_schema(&error.to_string()))?;
    let root = document.root();
    if root.kind() != Kind::Object {
        return Err(not_in_schema("it is no object"));
    }
    let text = match present(root, "say") {
        Some(said) => Some(said.as_str().ok_or_else(|| not_in_schema("its `say` is no text"))?.into_owned()),
        None => None,
    };
    let mut calls = response.calls;
    if let Some(call) = present(root, "call") {
        let name = present(call, "name").and_then(|name| name.as_str());
        calls.push(ProposedCall {
            provider_call_id: String::new(),
            name: name.ok_or_else(|| not_in_schema("its call has no name"))?.into_owned(),
            arguments_text: present(call, "arguments").map(|given| given.raw().to_owned()).unwrap_or_default(),
            language: ActionLanguage::Call,
        });
    } else if text.is_none() {
        return Err(not_in_schema("it has neither `say` nor `call`"));
    }
    let text = text.filter(|text| !text.is_empty());
    Ok(ModelResponse { text, calls, ..response })
}

fn not_in_schema(why: &str) -> ModelError {
    invalid(format!(
        "the server did not keep to the schema that the answer was asked for in ({why}); it may not know such answers"
    ))
}

/// Follows an answer as it comes, for the text in it.
#[derive(Debug, Default)]
pub(super) struct Said {
    json: String,
    /// How far it was read.
    at: usize,
    stage: Stage,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Before,
    Inside,
    /// It is over, or it is no text.
    Behind,
}

impl Said {
    /// More of the answer; returns more of the text.
    pub(super) fn more(&mut self, json: &str) -> String {
        if self.stage == Stage::Behind {
            return String::new();
        }
        self.json.push_str(json);
        if self.stage == Stage::Before {
            match beginning(&self.json) {
                Some(at) => (self.at, self.stage) = (at, Stage::Inside),
                None if self.json.len() > MAX_BEGINNING => self.stage = Stage::Behind,
                None => {}
            }
        }
        if self.stage == Stage::Inside { self.decoded() } else { String::new() }
    }

    /// The characters that are whole by now.
    fn decoded(&mut self) -> String {
        let bytes = self.json.as_bytes();
        let mut end = self.at;
        let mut is_over = false;
        while let Some(byte) = bytes.get(end) {
            let length = match byte {
                b'"' => {
                    is_over = true;
                    break;
                }
                b'\\' => escape_length(&bytes[end..]),
                _ => 1,
            };
            if end + length > bytes.len() {
                break;
            }
            end += length;
        }
        let decoded = serde_json::from_str(&format!("\"{}\"", &self.json[self.at..end]));
        self.at = end;
        if is_over || decoded.is_err() {
            self.stage = Stage::Behind;
        }
        decoded.unwrap_or_default()
    }
}

/// How long an escape is; a first half of a pair goes with the second.
fn escape_length(bytes: &[u8]) -> usize {
    let is_first_half = matches!(bytes, [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..]);
    match bytes.get(1) {
        Some(b'u') if is_first_half || bytes.len() < 4 => 12,
        Some(b'u') => 6,
        _ => 2,
    }
}

/// Where the text begins, if this is the beginning of a text.
fn beginning(json: &str) -> Option<usize> {
    let mut rest = json;
    for piece in ["{", "\"say\"", ":", "\""] {
        rest = rest.trim_start().strip_prefix(piece)?;
    }
    Some(json.len() - rest.len())
}
