//! What the headers of a request say.

use http::header;
use http::request::Parts;

use super::VERSION;

/// What kinds of answers a client reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepts {
    /// Streams of events, beside single answers.
    pub(super) events: bool,
    /// Whether it would rather have a stream, or reads nothing else: by weight, and where both weigh the same, by what it named first.
    pub(super) events_first: bool,
}

impl Accepts {
    /// What is named; JSON alone where nothing is. Nothing where neither is.
    pub(super) fn of(parts: &Parts) -> Option<Self> {
        let mut values = parts.headers.get_all(header::ACCEPT).iter().peekable();
        if values.peek().is_none() {
            return Some(Self { events: false, events_first: false });
        }
        // The weight of each, and its place among the kinds that are named.
        let (mut json, mut events) = (None::<(f32, usize)>, None::<(f32, usize)>);
        let kinds = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        for (place, kind) in kinds.enumerate() {
            let mut parts = kind.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            let weight = weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0));
            if weight <= 0.0 {
                continue;
            }
            if matches!(kind.as_str(), "application/json" | "application/*" | "*/*") {
                json.get_or_insert((weight, place));
            }
            if matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*") {
                events.get_or_insert((weight, place));
            }
        }
        let events_first = match (json, events) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some((json, json_at)), Some((events, events_at))) => {
                events > json || (events >= json && events_at < json_at)
            }
        };
        (json.is_some() || events.is_some()).then_some(Self { events: events.is_some(), events_first })
    }
}

/// Whether the body is said to be JSON.
pub(super) fn is_json(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split_once(';').map_or(kind, |(kind, _)| kind).trim());
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

/// The version that is named; nothing where none is, or more than one.
pub(super) fn version(parts: &Parts) -> Option<&str> {
    let mut values = parts.headers.get_all(VERSION).iter();
    let version = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(version.trim())
}
