//! Questions of a server's, and who answers them.

use std::sync::Arc;

use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Caller, Unanswered};

use super::ClientError;
use crate::wire::Edit;

/// A kind of question: its method, and what we say that we can where we answer it.
const KINDS: [(&str, &str); 3] =
    [("elicitation/create", "elicitation"), ("sampling/createMessage", "sampling"), ("roots/list", "roots")];

/// Whether we said that we answer such a question. `url` is apart: whoever can show a form may not be able to show a page.
pub(super) fn is_declared(capabilities: Node<'_>, method: &str, params: Option<Node<'_>>) -> bool {
    let Some((_, name)) = KINDS.iter().find(|(known, _)| *known == method) else { return false };
    let Some(capability) = capabilities.get(name) else { return false };
    if *name != "elicitation" {
        return true;
    }
    let mode = params.and_then(|params| params.get("mode")).and_then(|mode| mode.as_str());
    match mode.as_deref() {
        Some("url") => capability.get("url").is_some(),
        None | Some("form") => capability.is_empty() || capability.get("form").is_some(),
        Some(_) => false,
    }
}

/// Whether we said that we answer anything.
pub(super) fn can_be_asked(capabilities: Node<'_>) -> bool {
    KINDS.iter().any(|(_, name)| capabilities.get(name).is_some())
}

/// The answers to `questions`, an object of `{"method", "params"}`. Where nobody can be asked, forms and pages are declined, which is
/// an answer; for anything else there is none.
///
/// # Errors
///
/// Whoever asked is gone, a question is of a kind that we never said we answer, or nobody can be asked for what was not declined.
pub(super) async fn answers(
    questions: &Document,
    capabilities: Node<'_>,
    caller: Option<&Arc<dyn Caller>>,
) -> Result<Document, ClientError> {
    for (name, question) in questions.root().members() {
        let method = method_of(question);
        if !is_declared(capabilities, &method, question.get("params")) {
            let name = &name[..name.floor_char_boundary(64)];
            let what = format!("it asks `{name}` by `{method}`, which it was not told that anybody answers");
            return Err(ClientError::Invalid(what));
        }
    }
    let lacks = match caller {
        None => "anybody who listens".to_owned(),
        Some(caller) => match caller.ask(questions.clone()).await {
            Ok(answers) => return Ok(answers),
            Err(Unanswered::Gone) => return Err(ClientError::Cancelled),
            Err(Unanswered::Cannot(what)) => what,
        },
    };
    let mut declined = Edit::new();
    let names: Vec<_> = questions.root().members().collect();
    for (name, question) in &names {
        let method = method_of(*question);
        if method != "elicitation/create" {
            let what = format!("it asks by `{method}`, and whoever called cannot answer: it lacks {lacks}");
            return Err(ClientError::Invalid(what));
        }
        declined = declined.with(name, decline());
    }
    Ok(declined.document())
}

pub(super) fn decline() -> Document {
    Document::from_json_value(&serde_json::json!({ "action": "decline" }))
}

fn method_of(question: Node<'_>) -> String {
    let method = question.get("method").and_then(|method| method.as_str()).unwrap_or_default();
    method[..method.floor_char_boundary(64)].to_owned()
}
