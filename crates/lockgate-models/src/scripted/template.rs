//! Texts with placeholders: `${step-0.call-1#/json/pointer}` stands for a part of an earlier result, `$${` for `${`.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{Message, MessageCall, ModelError};

/// The most bytes of a filled text.
const MAX_FILLED_BYTES: usize = 4 * 1024 * 1024;

/// A text that was read once; filling it cannot meet a syntax error any more.
#[derive(Debug, Clone)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Literal(String),
    Placeholder(Placeholder),
}

/// A part of an earlier result.
#[derive(Debug, Clone)]
struct Placeholder {
    /// As it is written, without `${` and `}`: for errors.
    source: String,
    /// Which turn of the model, counted from 0.
    step: usize,
    /// Which of its calls, counted from 0.
    call: usize,
    /// The JSON pointer (RFC 6901) into its result; empty means the whole result.
    pointer: String,
}

impl Template {
    /// Reads a text; an error says what is wrong with which placeholder.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, behind) = (&rest[..at], &rest[at + 2..]);
            if let Some(before) = before.strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = behind;
                continue;
            }
            literal.push_str(before);
            let end = behind.find('}').ok_or_else(|| {
                let start: String = behind.chars().take(40).collect();
                format!("the placeholder `${{{start}` is not closed; a literal `${{` is written `$${{`")
            })?;
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Placeholder(Placeholder::parse(&behind[..end])?));
            rest = &behind[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// The text with every placeholder replaced. One that stands for nothing is an error, never an empty text.
    pub(super) fn fill(&self, messages: &[Message]) -> Result<String, ModelError> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => filled.push_str(text),
                Part::Placeholder(placeholder) => placeholder.fill(messages, &mut filled)?,
            }
            if filled.len() > MAX_FILLED_BYTES {
                let detail = format!("a scripted text is longer than {MAX_FILLED_BYTES} bytes when it is filled");
                return Err(ModelError::InvalidResponse { detail });
            }
        }
        Ok(filled)
    }
}

impl Placeholder {
    fn parse(source: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "`${{{source}}}` {what}; a placeholder looks like `${{step-0.call-1#/json/pointer}}`, and a literal `${{` is \
                 written `$${{`"
            )
        };
        let (place, pointer) = source.split_once('#').ok_or_else(|| wrong("has no `#`"))?;
        let (step, call) = place.split_once('.').ok_or_else(|| wrong("names no call"))?;
        let step = number(step, "step-").ok_or_else(|| wrong("names no step"))?;
        let call = number(call, "call-").ok_or_else(|| wrong("names no call"))?;
        if !is_pointer(pointer) {
            return Err(wrong("has an invalid JSON pointer"));
        }
        Ok(Self { source: source.to_owned(), step, call, pointer: pointer.to_owned() })
    }

    fn fill(&self, messages: &[Message], filled: &mut String) -> Result<(), ModelError> {
        let unresolved = |what: &str| ModelError::InvalidResponse {
            detail: format!("the scripted placeholder `${{{}}}` cannot be filled: {what}", self.source),
        };
        let mut turns = messages.iter().enumerate().filter_map(|(at, message)| match message {
            Message::Assistant { calls, .. } => Some((at, calls)),
            _ => None,
        });
        let (at, calls) = turns.nth(self.step).ok_or_else(|| unresolved("there is no such step before this turn"))?;
        let call = calls.get(self.call).ok_or_else(|| unresolved("the step has no such call"))?;
        let content = result_of(&messages[at..], call).ok_or_else(|| unresolved("the call has no result"))?;
        let part = content.root().pointer(&self.pointer).ok_or_else(|| unresolved("the result has no such part"))?;
        match part.as_str() {
            Some(text) => filled.push_str(&text),
            None => filled.push_str(part.raw()),
        }
        Ok(())
    }
}

fn result_of<'a>(behind: &'a [Message], call: &MessageCall) -> Option<&'a Document> {
    behind.iter().find_map(|message| match message {
        Message::Tool { call_id, content, .. } if *call_id == call.call_id => Some(content),
        _ => None,
    })
}

/// The number behind a prefix, in digits only: no sign, no leading zero.
fn number(text: &str, prefix: &str) -> Option<usize> {
    let text = text.strip_prefix(prefix)?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (text == "0" || !text.starts_with('0'))).then(|| text.parse().ok()).flatten()
}

/// Whether a text is a JSON pointer (RFC 6901 section 3).
fn is_pointer(text: &str) -> bool {
    let escapes_are_whole = text.split('~').skip(1).all(|behind| behind.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes_are_whole
}
