//! The script's JSON (interfaces.md, The scripted model), read strictly: a typing error is reported, not skipped over.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Elements, Kind, Limits, Node};
use lockgate_contract::nearest::nearest;
use lockgate_contract::ports::{ModelError, ProposedCall};

use super::template::Template;
use crate::error::ScriptError;

/// The most bytes of a script.
pub const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;
/// The deepest nesting of a script: that of arguments, and four levels around them.
const MAX_DEPTH: usize = 132;

const SCRIPT_KEYS: &[&str] = &["turns"];
const TURN_KEYS: &[&str] = &["text", "calls", "error"];
const CALL_KEYS: &[&str] = &["id", "name", "arguments", "arguments_text", "code"];

/// One turn of the script.
#[derive(Debug, Clone)]
pub(super) enum Turn {
    /// The model says something: text, calls, both or nothing.
    Says {
        /// Its text.
        text: Option<Template>,
        /// Its calls.
        calls: Vec<ProposedCall>,
    },
    /// The provider fails.
    Fails(ModelError),
}

/// Reads a script.
pub(super) fn parse(text: &str) -> Result<Vec<Turn>, ScriptError> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(ScriptError::TooLarge { limit: MAX_SCRIPT_BYTES });
    }
    let document = Document::parse(text, Limits { max_bytes: MAX_SCRIPT_BYTES, max_depth: MAX_DEPTH })
        .map_err(|error| ScriptError::NotJson { detail: error.to_string() })?;
    let script = document.root();
    check_keys(script, "the script", SCRIPT_KEYS)?;
    let turns =
        script.get("turns").ok_or_else(|| ScriptError::MissingKey { place: "the script".to_owned(), key: "turns" })?;
    let turns = list(turns, || "`turns`".to_owned())?;
    turns.enumerate().map(|(index, turn)| read_turn(turn, &format!("turn {index}"))).collect()
}

fn read_turn(turn: Node<'_>, place: &str) -> Result<Turn, ScriptError> {
    check_keys(turn, place, TURN_KEYS)?;
    if let Some(error) = turn.get("error") {
        for second in ["text", "calls"] {
            if turn.get(second).is_some() {
                return Err(ScriptError::Conflict { place: place.to_owned(), first: "error", second });
            }
        }
        return Ok(Turn::Fails(failure(&string(error, || format!("`error` of {place}"))?)));
    }
    let text = match turn.get("text") {
        Some(text) => {
            let place = || format!("`text` of {place}");
            let text = string(text, place)?;
            Some(Template::parse(&text).map_err(|detail| ScriptError::Placeholder { place: place(), detail })?)
        }
        None => None,
    };
    let calls = match turn.get("calls") {
        Some(calls) => list(calls, || format!("`calls` of {place}"))?
            .enumerate()
            .map(|(index, call)| read_call(call, &format!("{place}, call {index}")))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(Turn::Says { text, calls })
}

fn read_call(call: Node<'_>, place: &str) -> Result<ProposedCall, ScriptError> {
    check_keys(call, place, CALL_KEYS)?;
    let provider_call_id = match call.get("id") {
        Some(id) => string(id, || format!("`id` of {place}"))?,
        None => String::new(),
    };
    let name = call.get("name").ok_or_else(|| ScriptError::MissingKey { place: place.to_owned(), key: "name" })?;
    let name = string(name, || format!("`name` of {place}"))?;
    let (arguments_text, language) = match one_of(call, place, ["arguments", "arguments_text", "code"])? {
        // The text as it stands in the script: 30 digits stay 30 digits.
        Some(("arguments", arguments)) => (arguments.raw().to_owned(), ActionLanguage::Call),
        Some((key, text)) => {
            let language = if key == "code" { ActionLanguage::Code } else { ActionLanguage::Call };
            (string(text, || format!("`{key}` of {place}"))?, language)
        }
        None => (String::new(), ActionLanguage::Call),
    };
    Ok(ProposedCall { provider_call_id, name, arguments_text, language })
}

/// The one of these keys that an object has, if any. They exclude each other.
fn one_of<'a>(
    object: Node<'a>,
    place: &str,
    keys: [&'static str; 3],
) -> Result<Option<(&'static str, Node<'a>)>, ScriptError> {
    let mut present = keys.into_iter().filter_map(|key| Some((key, object.get(key)?)));
    match (present.next(), present.next()) {
        (Some((first, _)), Some((second, _))) => Err(ScriptError::Conflict { place: place.to_owned(), first, second }),
        (one, _) => Ok(one),
    }
}

/// The provider failure that a word stands for; a word that is none of them is a failure in transit.
fn failure(word: &str) -> ModelError {
    let detail = "the script says so".to_owned();
    match word {
        "overloaded" => ModelError::Overloaded { detail, retry_after: None },
        "rate_limited" => ModelError::RateLimited { detail, retry_after: None },
        "refused" => ModelError::Refused { detail },
        "unauthorized" => ModelError::Unauthorized { detail },
        "invalid_request" => ModelError::InvalidRequest { detail },
        "invalid_response" => ModelError::InvalidResponse { detail },
        "unreachable" => ModelError::Unreachable { detail },
        "timed_out" => ModelError::TimedOut,
        "not_configured" => ModelError::Configuration { detail },
        "script_exhausted" => ModelError::ScriptExhausted,
        other => ModelError::Unreachable { detail: other.to_owned() },
    }
}

fn check_keys(object: Node<'_>, place: &str, known: &[&'static str]) -> Result<(), ScriptError> {
    if object.kind() != Kind::Object {
        return Err(ScriptError::WrongType { place: place.to_owned(), expected: "an object" });
    }
    for (key, _) in object.members() {
        if !known.contains(&key.as_ref()) {
            let nearest = nearest(&key, known.iter().copied());
            return Err(ScriptError::UnknownKey { place: place.to_owned(), key: key.into_owned(), nearest });
        }
    }
    Ok(())
}

fn string(node: Node<'_>, place: impl Fn() -> String) -> Result<String, ScriptError> {
    let text = node.as_str().ok_or_else(|| ScriptError::WrongType { place: place(), expected: "a string" })?;
    Ok(text.into_owned())
}

fn list(node: Node<'_>, place: impl Fn() -> String) -> Result<Elements<'_>, ScriptError> {
    if node.kind() == Kind::Array {
        Ok(node.elements())
    } else {
        Err(ScriptError::WrongType { place: place(), expected: "a list" })
    }
}
