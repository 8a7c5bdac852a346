//! A model that says what a test says.

use std::collections::VecDeque;
use std::sync::Mutex;

use lockgate::contract::document::Limits;
use lockgate::contract::ports::{BoxFuture, Message, ModelError, ModelRequest, ModelResponse, ProposedCall};
use lockgate::prelude::*;

/// One turn of the model.
pub(crate) enum Turn {
    /// It asks for these calls.
    Calls(Vec<ProposedCall>),
    /// It says this, and no more.
    Says(String),
    /// It fails.
    Fails(ModelError),
    /// It never answers.
    Hangs,
}

/// A model that says its turns by the step, then `done`.
pub(super) struct Script {
    pub(super) turns: Vec<Turn>,
    pub(super) requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ModelAdapter for Script {
    fn name(&self) -> &'static str {
        "script-of-a-test"
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        check_history(request);
        self.requests.lock().unwrap().push(request.clone());
        Box::pin(async {
            match self.turns.get(usize::try_from(request.step).unwrap()) {
                None => Ok(ModelResponse { text: Some("done".to_owned()), ..ModelResponse::default() }),
                Some(Turn::Calls(calls)) => Ok(ModelResponse { calls: calls.clone(), ..ModelResponse::default() }),
                Some(Turn::Says(text)) => Ok(ModelResponse { text: Some(text.clone()), ..ModelResponse::default() }),
                Some(Turn::Fails(error)) => Err(error.clone()),
                Some(Turn::Hangs) => std::future::pending().await,
            }
        })
    }
}

/// Every call of the history has exactly one result, right behind its message and in request order (R-092, R-196, S-16),
/// and what it holds is JSON.
pub(crate) fn check_history(request: &ModelRequest) {
    let mut due = VecDeque::new();
    for message in &request.messages {
        match message {
            Message::Tool { call_id, content, .. } => {
                assert_eq!(due.pop_front().as_ref(), Some(call_id), "results stand in request order");
                Document::parse(content.text(), Limits::OWN).unwrap();
            }
            Message::Assistant { calls, .. } => {
                assert!(due.is_empty(), "a call without a result");
                due.extend(calls.iter().map(|call| call.call_id.clone()));
            }
            Message::System { .. } | Message::User { .. } => assert!(due.is_empty(), "a call without a result"),
        }
    }
    assert!(due.is_empty(), "a call without a result");
}
