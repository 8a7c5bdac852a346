//! A model that says what it was told to say, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::ports::{
    BoxFuture, Message, ModelAdapter, ModelError, ModelRequest, ModelResponse, ProposedCall, Usage,
};
use tokio::sync::Notify;

/// One turn of a model.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    Says(ModelResponse),
    Fails(ModelError),
    /// No answer ever comes.
    Hangs,
}

/// Which turn is next follows from the step, as with the real scripted model; a script that ran out says goodbye.
pub(crate) struct Model {
    turns: Vec<Turn>,
    pub(crate) asked: Mutex<Vec<ModelRequest>>,
    /// Fires whenever a turn that hangs was reached.
    pub(crate) hanging: Notify,
}

impl Model {
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Arc<Self> {
        Arc::new(Self { turns: turns.into_iter().collect(), asked: Mutex::default(), hanging: Notify::new() })
    }

    /// The steps that it was asked for, in order.
    pub(crate) fn steps(&self) -> Vec<u32> {
        self.asked.lock().unwrap().iter().map(|request| request.step).collect()
    }

    /// The history that it was last shown.
    pub(crate) fn history(&self) -> Vec<Message> {
        self.asked.lock().unwrap().last().unwrap().messages.clone()
    }

    /// What it was last told about each call of its last turn, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let mut told: Vec<String> = self
            .history()
            .into_iter()
            .rev()
            .map_while(|message| match message {
                Message::Tool { content, .. } => Some(content.text().to_owned()),
                _ => None,
            })
            .collect();
        told.reverse();
        told
    }
}

impl ModelAdapter for Model {
    fn name(&self) -> &'static str {
        "told"
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        assert_paired(&request.messages);
        self.asked.lock().unwrap().push(request.clone());
        let turn = self.turns.get(request.step as usize).cloned().unwrap_or_else(|| says("Goodbye."));
        Box::pin(async move {
            match turn {
                Turn::Says(response) => Ok(response),
                Turn::Fails(error) => Err(error),
                Turn::Hangs => {
                    self.hanging.notify_one();
                    std::future::pending().await
                }
            }
        })
    }
}

/// Each call of the history is followed by its one result, in request order, before anything else is said.
pub(crate) fn assert_paired(messages: &[Message]) {
    let mut open = std::collections::VecDeque::new();
    for message in messages {
        match message {
            Message::Tool { call_id, .. } => assert_eq!(Some(call_id), open.pop_front(), "{messages:#?}"),
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "{messages:#?}");
                open.extend(calls.iter().map(|call| &call.call_id));
            }
            Message::System { .. } | Message::User { .. } => assert!(open.is_empty(), "{messages:#?}"),
        }
    }
    assert!(open.is_empty(), "{messages:#?}");
}

/// A turn of text alone.
pub(crate) fn says(text: &str) -> Turn {
    Turn::Says(ModelResponse {
        text: Some(text.to_owned()),
        calls: Vec::new(),
        items: Vec::new(),
        usage: Usage::default(),
    })
}

/// A turn of calls: names and raw argument texts.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Turn {
    let calls = calls.iter().zip(0..).map(|((name, arguments), index)| ProposedCall {
        provider_call_id: format!("p{index}"),
        name: (*name).to_owned(),
        arguments_text: (*arguments).to_owned(),
        language: ActionLanguage::Call,
    });
    Turn::Says(ModelResponse { text: None, calls: calls.collect(), items: Vec::new(), usage: Usage::default() })
}
