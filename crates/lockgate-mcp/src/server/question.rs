//! Questions to whoever called, and what counts as an answer to them.

use std::collections::BTreeMap;

use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::ports::Unanswered;
use tokio::sync::oneshot;

use crate::wire::Edit;

/// Answers that came, by the key of their question.
pub(super) type Answers = BTreeMap<String, Document>;

/// Questions that a call waits for: an object of `{"method", "params"}`, and where the answers go.
pub(super) struct Question {
    asked: Document,
    have: Answers,
    answer: oneshot::Sender<Result<Document, Unanswered>>,
}

impl Question {
    /// Questions, and the place where their answers will be.
    pub(super) fn new(asked: Document) -> (Self, oneshot::Receiver<Result<Document, Unanswered>>) {
        let (answer, answered) = oneshot::channel();
        (Self { asked, have: Answers::new(), answer }, answered)
    }

    /// Takes those of `given` that answer one of its open questions; the others stay where they are.
    pub(super) fn take(&mut self, given: &mut Answers) {
        for (key, question) in self.asked.root().members() {
            let key = key.as_ref();
            let fits = |answer: &Document| is_answer(question, answer.root());
            if !self.have.contains_key(key)
                && given.get(key).is_some_and(fits)
                && let Some(answer) = given.remove(key)
            {
                self.have.insert(key.to_owned(), answer);
            }
        }
    }

    /// The questions that have no answer yet.
    pub(super) fn open(&self) -> Document {
        let mut open = Edit::of(self.asked.root());
        open.retain(|key| !self.have.contains_key(key));
        open.document()
    }

    /// Whether each has its answer.
    pub(super) fn is_answered(&self) -> bool {
        self.have.len() == self.asked.root().len()
    }

    /// Hands the answers over.
    pub(super) fn settle(self) {
        let mut answers = Edit::new();
        for (key, answer) in &self.have {
            answers = answers.with(key, answer.clone());
        }
        // Whoever asked may have stopped waiting.
        let _nobody_waits = self.answer.send(Ok(answers.document()));
    }

    /// Nobody will answer.
    pub(super) fn give_up(self) {
        let _nobody_waits = self.answer.send(Err(Unanswered::Gone));
    }
}

/// What a question is asked by.
pub(super) fn method(question: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    question.get("method").and_then(|method| method.as_str())
}

/// What somebody with these capabilities lacks to be asked this, such as `elicitation.url`; nothing where nothing is lacking.
pub fn lacking(question: Node<'_>, capabilities: Node<'_>) -> Option<String> {
    let params = question.get("params");
    let declared = |name: &str| capabilities.get(name).filter(|value| value.kind() == Kind::Object);
    let Some(method) = method(question) else { return Some("a method".to_owned()) };
    match method.as_ref() {
        "elicitation/create" => {
            let by_url = mode(params).as_deref() == Some("url");
            match declared("elicitation") {
                None => Some(if by_url { "elicitation.url" } else { "elicitation" }.to_owned()),
                // `{}` is a form alone, as it was before there was anything else.
                Some(modes) if by_url => modes.get("url").is_none().then(|| "elicitation.url".to_owned()),
                Some(modes) => {
                    (modes.get("form").is_none() && !modes.is_empty()).then(|| "elicitation.form".to_owned())
                }
            }
        }
        "sampling/createMessage" => match declared("sampling") {
            None => Some("sampling".to_owned()),
            Some(parts) => (params.is_some_and(|params| params.get("tools").is_some()) && parts.get("tools").is_none())
                .then(|| "sampling.tools".to_owned()),
        },
        "roots/list" => declared("roots").is_none().then(|| "roots".to_owned()),
        other => Some(other.to_owned()),
    }
}

/// How an elicitation is put: `form` where it does not say.
pub(super) fn mode(params: Option<Node<'_>>) -> Option<std::borrow::Cow<'_, str>> {
    params.and_then(|params| params.get("mode")).and_then(|mode| mode.as_str())
}

/// Whether this can be the answer to that question.
pub(super) fn is_answer(question: Node<'_>, answer: Node<'_>) -> bool {
    if answer.kind() != Kind::Object {
        return false;
    }
    match method(question).as_deref() {
        Some("elicitation/create") => {
            let action = answer.get("action").and_then(|action| action.as_str());
            matches!(action.as_deref(), Some("accept" | "decline" | "cancel"))
                && answer.get("content").is_none_or(|content| content.kind() == Kind::Object)
        }
        Some("sampling/createMessage") => {
            answer.get("role").is_some_and(|role| role.kind() == Kind::String)
                && answer.get("content").is_some_and(|content| matches!(content.kind(), Kind::Object | Kind::Array))
        }
        Some("roots/list") => answer.get("roots").is_some_and(|roots| roots.kind() == Kind::Array),
        _ => false,
    }
}
