//! What a decision point answers. Whatever is not plainly an answer is none.

use std::time::Duration;

use lockgate_contract::document::{Document, Kind, Limits, Node};
use lockgate_contract::ports::{Approvers, PolicyDecision};
use lockgate_contract::time::read_span;

use crate::approvers::approvers;

/// One answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) decision: PolicyDecision,
    pub(super) policies: Vec<String>,
    pub(super) reason: Option<String>,
    pub(super) approvers: Option<Approvers>,
    pub(super) expires_in: Option<Duration>,
}

/// An answer nests no deeper.
const DEEPEST: usize = 32;
/// The most policies, and the most characters of the name of one.
const MOST_POLICIES: usize = 64;
const LONGEST_NAME: usize = 200;

impl Answer {
    fn plain(decision: PolicyDecision) -> Self {
        Self { decision, policies: Vec::new(), reason: None, approvers: None, expires_in: None }
    }
}

/// Reads the body of an answer. Beside `result` it may say what it likes, as OPA's `decision_id` and `metrics`: that is about the
/// answering. In a `result` every member counts, and one that is not known might have changed what the others mean.
///
/// # Errors
///
/// Why it is no answer, to stand behind "the answer".
pub(super) fn read(body: Vec<u8>) -> Result<Answer, String> {
    let text = String::from_utf8(body).map_err(|_| "is not UTF-8".to_owned())?;
    let limits = Limits { max_bytes: text.len(), max_depth: DEEPEST };
    let document = Document::parse(text, limits).map_err(|error| format!("is not JSON that can be read: {error}"))?;
    let root = document.root();
    if root.kind() != Kind::Object {
        return Err("is no object with a `result`".to_owned());
    }
    let result = root.get("result").ok_or("has no `result`: nothing was decided")?;
    match (result.as_bool(), result.kind()) {
        (Some(true), _) => Ok(Answer::plain(PolicyDecision::Allow)),
        (Some(false), _) => Ok(Answer::plain(PolicyDecision::Deny)),
        (None, Kind::Object) => decision(result),
        (None, _) => Err("has a `result` that is neither true or false nor an object".to_owned()),
    }
}

fn decision(result: Node<'_>) -> Result<Answer, String> {
    let (mut said, mut answer) = (None, Answer::plain(PolicyDecision::Deny));
    for (key, value) in result.members() {
        let wrong = || Err(format!("has a `result.{key}` that says nothing"));
        match &*key {
            "decision" | "allow" if said.is_some() => return Err("says `allow` and `decision` at once".to_owned()),
            "decision" => match value.as_str().as_deref() {
                Some("allow") => said = Some(PolicyDecision::Allow),
                Some("ask") => said = Some(PolicyDecision::Ask),
                Some("deny") => said = Some(PolicyDecision::Deny),
                _ => return wrong(),
            },
            "allow" => match value.as_bool() {
                Some(true) => said = Some(PolicyDecision::Allow),
                Some(false) => said = Some(PolicyDecision::Deny),
                None => return wrong(),
            },
            "policies" => match policies(value) {
                Some(policies) => answer.policies = policies,
                None => return wrong(),
            },
            "reason" => match value.as_str() {
                Some(reason) => answer.reason = Some(reason.into_owned()).filter(|reason| !reason.trim().is_empty()),
                None => return wrong(),
            },
            "approvers" => match value.as_str().and_then(|text| approvers(&text)) {
                Some(approvers) => answer.approvers = Some(approvers),
                None => return wrong(),
            },
            "expires" => match value.as_str().and_then(|text| read_span(&text)).filter(|span| !span.is_zero()) {
                Some(span) => answer.expires_in = Some(span),
                None => return wrong(),
            },
            _ => {
                let key: String = key.chars().take(LONGEST_NAME).collect();
                return Err(format!("has a `result.{}`, which is no part of a decision", key.escape_debug()));
            }
        }
    }
    let Some(decision) = said else { return Err("says neither `decision` nor `allow`".to_owned()) };
    if decision != PolicyDecision::Ask && (answer.approvers.is_some() || answer.expires_in.is_some()) {
        return Err(format!("says `{}`, and demands something of a question that nobody is asked", decision.word()));
    }
    answer.decision = decision;
    Ok(answer)
}

/// Names of one word each.
fn policies(value: Node<'_>) -> Option<Vec<String>> {
    let plain = |character: char| !character.is_whitespace() && !character.is_control();
    let name = |node: Node<'_>| {
        let name = node.as_str()?;
        let fits = !name.is_empty() && name.chars().count() <= LONGEST_NAME && name.chars().all(plain);
        fits.then(|| name.into_owned())
    };
    (value.kind() == Kind::Array && value.len() <= MOST_POLICIES).then(|| value.elements().map(name).collect())?
}

#[cfg(test)]
mod tests;
