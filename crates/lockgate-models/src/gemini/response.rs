//! A turn of Gemini, whole or in pieces: both are read here, since a piece has the form of a whole answer.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Delta, Heard, ModelError, ModelResponse, ProposedCall, ProviderItem, Usage};
use serde::Serialize;

use super::NAME;
use super::partial::Partial;
use crate::chat::response::{Finish, check_finish, plain_text, present};
use crate::failure::{cut, from_error_member};
use crate::names::WireNames;
use crate::wire::invalid;

/// What came of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    parts: Vec<Part>,
    /// The call whose arguments are still coming.
    open: Option<usize>,
    /// Why it ended, by the newest piece of the turn.
    finish: Option<String>,
    /// What the provider says about it.
    finish_message: String,
    usage: Usage,
}

/// A part of the turn, in its order.
#[derive(Debug)]
enum Part {
    Text {
        text: String,
        signature: Option<Document>,
    },
    Thought(String),
    Call(Call),
    /// What nobody but the provider reads.
    Kept(Document),
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: Arguments,
    signature: Option<Document>,
}

#[derive(Debug)]
enum Arguments {
    /// As they were written.
    Whole(String),
    /// In pieces.
    Pieces { partial: Partial, has_ended: bool },
}

/// Part of a turn that the provider wants back, and how it is kept. Its place among the calls is the item's own.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Kept<'a> {
    /// A part as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a Document>,
    /// So many bytes of the turn's text stand here.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<usize>,
    /// The signature of that text, or else of the call that stands here.
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a Document>,
}

impl crate::wire::Answer for Answer {
    fn piece(&mut self, root: Node<'_>, heard: &Heard) -> Result<(), ModelError> {
        if let Some(error) = present(root, "error") {
            return Err(from_error_member(error));
        }
        count(&mut self.usage, root);
        let blocked = present(root, "promptFeedback").and_then(|feedback| present(feedback, "blockReason"));
        if let Some(reason) = blocked {
            let detail = format!("the provider does not answer this prompt ({})", cut(&plain_text(reason)));
            return Err(ModelError::Refused { detail });
        }
        let candidates = present(root, "candidates");
        let is_first = |candidate: &Node<'_>| present(*candidate, "index").is_none_or(|index| index.raw() == "0");
        let Some(candidate) = candidates.and_then(|candidates| candidates.elements().find(is_first)) else {
            return Ok(());
        };
        self.finish = present(candidate, "finishReason").map(plain_text);
        if let Some(message) = present(candidate, "finishMessage") {
            self.finish_message = cut(&plain_text(message));
        }
        let parts = present(candidate, "content").and_then(|content| present(content, "parts"));
        for part in parts.iter().flat_map(Node::elements) {
            self.part(part, heard)?;
        }
        Ok(())
    }

    fn finish(self, names: &WireNames) -> Result<Option<ModelResponse>, ModelError> {
        let Some(word) = self.finish.as_deref() else { return Ok(None) };
        let finish = match word {
            "STOP" => Finish::Whole,
            "MAX_TOKENS" => Finish::Cut,
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "LANGUAGE"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => {
                let detail = format!("the provider held the answer back ({word})");
                return Err(ModelError::Refused { detail: with_message(detail, &self.finish_message) });
            }
            word => {
                return Err(invalid(with_message(format!("it ended with {}", cut(word)), &self.finish_message)));
            }
        };
        let items = self.items();
        let mut text = String::new();
        let mut calls = Vec::new();
        for part in self.parts {
            match part {
                Part::Text { text: piece, .. } => text.push_str(&piece),
                Part::Call(call) => calls.push(ProposedCall {
                    provider_call_id: call.id,
                    name: names.original(&call.name).to_owned(),
                    arguments_text: call.arguments.text(),
                    language: ActionLanguage::Call,
                }),
                Part::Thought(_) | Part::Kept(_) => {}
            }
        }
        let text = (!text.is_empty()).then_some(text);
        check_finish(Some(finish), text.as_deref(), &calls)?;
        Ok(Some(ModelResponse { text, calls, items, usage: self.usage }))
    }
}

impl Answer {
    fn part(&mut self, part: Node<'_>, heard: &Heard) -> Result<(), ModelError> {
        let signature = present(part, "thoughtSignature").filter(|signature| signature.raw() != "\"\"");
        if let Some(call) = present(part, "functionCall") {
            return self.call(call, signature.map(|signature| signature.to_document()));
        }
        let is_thought = present(part, "thought").and_then(|thought| thought.as_bool()).unwrap_or(false);
        let Some(text) = part.get("text").and_then(|text| text.as_str()) else {
            if !part.is_empty() {
                self.parts.push(Part::Kept(part.to_document()));
            }
            return Ok(());
        };
        if !text.is_empty() {
            heard(if is_thought { Delta::Reasoning(&text) } else { Delta::Text(&text) });
        }
        match (is_thought, signature, self.parts.last_mut()) {
            (true, Some(_), _) => self.parts.push(Part::Kept(part.to_document())),
            (false, Some(signature), _) => {
                let signature = Some(signature.to_document());
                self.parts.push(Part::Text { text: text.into_owned(), signature });
            }
            (_, None, _) if text.is_empty() => {}
            // What has a signature is never made one with what has none.
            (true, None, Some(Part::Thought(before)))
            | (false, None, Some(Part::Text { text: before, signature: None })) => before.push_str(&text),
            (true, None, _) => self.parts.push(Part::Thought(text.into_owned())),
            (false, None, _) => self.parts.push(Part::Text { text: text.into_owned(), signature: None }),
        }
        Ok(())
    }

    fn call(&mut self, call: Node<'_>, signature: Option<Document>) -> Result<(), ModelError> {
        let name = present(call, "name").and_then(|name| name.as_str()).unwrap_or_default();
        let id = present(call, "id").map(plain_text).unwrap_or_default();
        let goes_on = present(call, "willContinue").and_then(|more| more.as_bool()).unwrap_or(false);
        let partial = present(call, "partialArgs");
        let args = present(call, "args");
        let open = self.open.and_then(|open| match &self.parts[open] {
            Part::Call(before) if name.is_empty() || (partial.is_some() && before.name == name) => Some(open),
            _ => None,
        });
        let at = match open {
            Some(open) => open,
            // The end of a call that has ended already.
            None if name.is_empty() && id.is_empty() && args.is_none() && partial.is_none() => return Ok(()),
            None if name.is_empty() => {
                let index = self.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
                return Err(invalid(format!("call {index} of its message has no name")));
            }
            None => {
                let arguments = if goes_on || partial.is_some() {
                    Arguments::Pieces { partial: Partial::default(), has_ended: false }
                } else {
                    Arguments::Whole(String::new())
                };
                self.parts.push(Part::Call(Call {
                    id: String::new(),
                    name: name.into_owned(),
                    arguments,
                    signature: None,
                }));
                self.parts.len() - 1
            }
        };
        self.open = goes_on.then_some(at);
        let Part::Call(call) = &mut self.parts[at] else { return Ok(()) };
        if call.id.is_empty() {
            call.id = id;
        }
        if signature.is_some() {
            call.signature = signature;
        }
        call.arguments.take(args, partial, goes_on);
        Ok(())
    }

    /// What has to come back: nothing for a plain turn, which is a text and then calls; else the place of each part.
    fn items(&self) -> Vec<ProviderItem> {
        let is_plain = self.parts.iter().enumerate().all(|(index, part)| match part {
            Part::Text { signature, .. } => index == 0 && signature.is_none(),
            Part::Call(call) => call.signature.is_none(),
            Part::Thought(_) | Part::Kept(_) => false,
        });
        let mut items = Vec::new();
        if is_plain {
            return items;
        }
        let mut before = 0;
        for part in &self.parts {
            let thought;
            let kept = match part {
                Part::Text { text, signature } => {
                    Kept { text: Some(text.len()), thought_signature: signature.as_ref(), ..Kept::default() }
                }
                Part::Call(call) => Kept { thought_signature: call.signature.as_ref(), ..Kept::default() },
                Part::Thought(text) => {
                    #[derive(Serialize)]
                    struct Thought<'a> {
                        text: &'a str,
                        thought: bool,
                    }
                    thought = Document::from_serialize(&Thought { text, thought: true }).ok();
                    Kept { part: thought.as_ref(), ..Kept::default() }
                }
                Part::Kept(part) => Kept { part: Some(part), ..Kept::default() },
            };
            let says_something = kept.part.is_some() || kept.text.is_some() || kept.thought_signature.is_some();
            if says_something && let Ok(item) = Document::from_serialize(&kept) {
                items.push(ProviderItem { adapter: NAME.to_owned(), before, item });
            }
            before += u32::from(matches!(part, Part::Call(_)));
        }
        items
    }
}

impl Arguments {
    fn take(&mut self, args: Option<Node<'_>>, pieces: Option<Node<'_>>, goes_on: bool) {
        match self {
            Self::Whole(text) => args.map(|args| args.raw()).unwrap_or_default().clone_into(text),
            Self::Pieces { partial, has_ended } => {
                for piece in pieces.iter().flat_map(Node::elements) {
                    partial.add(piece);
                }
                *has_ended = !goes_on;
                let Some(args) = args.filter(|args| !args.is_empty()) else { return };
                // All at once in the end is fine, some of each is not.
                if *has_ended && partial.is_empty() {
                    *self = Self::Whole(args.raw().to_owned());
                } else {
                    partial.spoil();
                }
            }
        }
    }

    fn text(self) -> String {
        match self {
            Self::Whole(text) => text,
            Self::Pieces { partial, has_ended } => partial.text(has_ended),
        }
    }
}

fn with_message(detail: String, message: &str) -> String {
    if message.is_empty() { detail } else { format!("{detail}: {message}") }
}

/// Counts grow from piece to piece, and not every piece has all of them.
fn count(usage: &mut Usage, root: Node<'_>) {
    let Some(counts) = present(root, "usageMetadata") else { return };
    let count = |key| counts.get(key)?.raw().parse::<u64>().ok();
    let sum = |first: Option<u64>, second: Option<u64>| match (first, second) {
        (None, None) => None,
        (first, second) => Some(first.unwrap_or(0).saturating_add(second.unwrap_or(0))),
    };
    let reasoning = count("thoughtsTokenCount");
    let input = sum(count("promptTokenCount"), count("toolUsePromptTokenCount"));
    // Here those of reasoning stand beside the others.
    let output = sum(count("candidatesTokenCount"), reasoning);
    usage.input_tokens = input.or(usage.input_tokens);
    usage.output_tokens = output.or(usage.output_tokens);
    usage.cached_input_tokens = count("cachedContentTokenCount").or(usage.cached_input_tokens);
    usage.reasoning_tokens = reasoning.or(usage.reasoning_tokens);
}

#[cfg(test)]
mod tests;
