//! Arguments that come value by value: each with the path where it belongs (RFC 9535), a long text in several pieces.
//!
//! What cannot be placed for certain leaves a text that is no JSON: the gate refuses it, and nothing runs with other arguments than the
//! model's.

use lockgate_contract::document::{Kind, Node};

use crate::chat::response::present;

/// The most steps of a path.
const MAX_STEPS: usize = 64;

/// What came of a call's arguments so far.
#[derive(Debug, Default)]
pub(super) struct Partial {
    root: Members,
    /// Something did not fit.
    is_broken: bool,
}

type Members = Vec<(String, Value)>;

#[derive(Debug)]
enum Value {
    /// Not known yet: what is placed in it says what it is.
    Open,
    Object(Members),
    List(Vec<Value>),
    Text {
        text: String,
        /// More of it is to come.
        goes_on: bool,
    },
    /// A number, a truth value or null, as it was written.
    Plain(String),
}

/// A step of a path.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
}

impl Partial {
    /// Places one more value.
    pub(super) fn add(&mut self, argument: Node<'_>) {
        self.is_broken |= self.place(argument).is_none();
    }

    /// They can not be known any more.
    pub(super) fn spoil(&mut self) {
        self.is_broken = true;
    }

    /// Whether nothing came yet.
    pub(super) fn is_empty(&self) -> bool {
        self.root.is_empty() && !self.is_broken
    }

    /// The text. It is JSON only if the call has ended and everything in it has.
    pub(super) fn text(&self, has_ended: bool) -> String {
        let mut text = String::new();
        let is_whole = write_object(&mut text, &self.root);
        if !(is_whole && has_ended && !self.is_broken) {
            text.pop();
        }
        text
    }

    fn place(&mut self, argument: Node<'_>) -> Option<()> {
        let path = steps(&argument.get("jsonPath")?.as_str()?)?;
        let (first, rest) = path.split_first()?;
        let Step::Member(name) = first else { return None };
        let place = descend(member(&mut self.root, name), rest)?;
        let goes_on = argument.get("willContinue").and_then(|goes_on| goes_on.as_bool()).unwrap_or(false);
        if let Some(piece) = present(argument, "stringValue") {
            let piece = piece.as_str()?;
            if let Value::Open = place {
                *place = Value::Text { text: String::new(), goes_on: true };
            }
            let Value::Text { text, goes_on: more @ true } = place else { return None };
            text.push_str(&piece);
            *more = goes_on;
            return Some(());
        }
        let plain = match (argument.get("numberValue"), argument.get("boolValue"), argument.get("nullValue")) {
            (Some(number), None, None) if number.kind() == Kind::Number => number.raw(),
            (None, Some(truth), None) if truth.as_bool().is_some() => truth.raw(),
            (None, None, Some(_)) => "null",
            _ => return None,
        };
        let Value::Open = place else { return None };
        *place = Value::Plain(plain.to_owned());
        Some(())
    }
}

fn descend<'a>(mut value: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    for step in path {
        if let Value::Open = value {
            *value = match step {
                Step::Member(_) => Value::Object(Vec::new()),
                Step::Element(_) => Value::List(Vec::new()),
            };
        }
        value = match (value, step) {
            (Value::Object(members), Step::Member(name)) => member(members, name),
            // Elements come in their order: a gap is something that was lost.
            (Value::List(list), Step::Element(index)) if *index <= list.len() => {
                if *index == list.len() {
                    list.push(Value::Open);
                }
                &mut list[*index]
            }
            _ => return None,
        };
    }
    Some(value)
}

fn member<'a>(members: &'a mut Members, name: &str) -> &'a mut Value {
    let known = members.iter().position(|(known, _)| known == name);
    let at = known.unwrap_or_else(|| {
        members.push((name.to_owned(), Value::Open));
        members.len() - 1
    });
    &mut members[at].1
}

/// The steps of a path such as `$.items[0]['first name']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return None;
        }
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Member(name[..end].to_owned()));
            rest = &name[end..];
            continue;
        }
        let inside = rest.strip_prefix('[')?;
        if let quote @ ('\'' | '"') = inside.chars().next()? {
            let (name, behind) = quoted(&inside[1..], quote)?;
            steps.push(Step::Member(name));
            rest = behind.strip_prefix(']')?;
        } else {
            let (index, behind) = inside.split_once(']')?;
            steps.push(Step::Element(index.parse().ok()?));
            rest = behind;
        }
    }
    Some(steps)
}

/// A quoted name, and what stands behind it.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut json = String::from('"');
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            end if end == quote => {
                json.push('"');
                return Some((serde_json::from_str(&json).ok()?, &text[at + 1..]));
            }
            // The one escape that JSON does not have.
            '\\' => match characters.next()?.1 {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            '"' => json.push_str("\\\""),
            other => json.push(other),
        }
    }
    None
}

/// Writes an object; says whether everything in it has ended.
fn write_object(text: &mut String, members: &Members) -> bool {
    let mut is_whole = true;
    text.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_string(text, name);
        text.push(':');
        is_whole &= write(text, value);
    }
    text.push('}');
    is_whole
}

fn write(text: &mut String, value: &Value) -> bool {
    match value {
        Value::Open => {
            text.push_str("null");
            false
        }
        Value::Object(members) => write_object(text, members),
        Value::List(list) => {
            let mut is_whole = true;
            text.push('[');
            for (index, element) in list.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                is_whole &= write(text, element);
            }
            text.push(']');
            is_whole
        }
        Value::Text { text: said, goes_on } => {
            push_string(text, said);
            !goes_on
        }
        Value::Plain(plain) => {
            text.push_str(plain);
            true
        }
    }
}

fn push_string(text: &mut String, value: &str) {
    text.push_str(lockgate_contract::document::Document::string(value).text());
}

#[cfg(test)]
mod tests;
