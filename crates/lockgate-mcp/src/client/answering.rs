//! Requests of a server's own, in the legacy era.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::document::Document;
use lockgate_contract::ports::Unanswered;
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::questions::{decline, is_declared};
use crate::wire::{Edit, Message, Request, RequestId, Response, RpcError};

/// Which requests of the server's are being answered.
#[derive(Default)]
pub(super) struct Answering(Mutex<HashMap<RequestId, CancellationToken>>);

/// How many of them at once.
const MOST: usize = 64;

impl Answering {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Answers a request that came on the stream of `via`, without keeping whoever reads the stream waiting.
    pub(super) fn answer(self: &Arc<Self>, request: Request, via: Option<i64>) {
        let stop = CancellationToken::new();
        let id = request.id.clone();
        let is_welcome = {
            let mut under_way = self.answering.lock();
            let is_welcome = under_way.len() < MOST && !under_way.contains_key(&id);
            if is_welcome {
                under_way.insert(id.clone(), stop.clone());
            }
            is_welcome
        };
        if !is_welcome {
            self.noise("the server asks too much at once, or one thing twice");
            let outcome = Err(RpcError::internal());
            return self.tell_later(Message::Response(Response { id: Some(id), outcome }));
        }
        let weak = Arc::downgrade(self);
        self.spawn(async move {
            let Some(core) = weak.upgrade() else { return };
            let outcome = tokio::select! {
                outcome = core.outcome(&request, via) => Some(outcome),
                () = stop.cancelled() => None,
            };
            core.answering.lock().remove(&request.id);
            if let Some(outcome) = outcome {
                let message = Message::Response(Response { id: Some(request.id), outcome });
                // It cannot be told that it cannot be told.
                let _ = core.wire.tell(&core, &message).await;
            }
        });
    }

    /// The server takes a request of its own back.
    pub(super) fn heard_cancelled(&self, params: &Document) {
        let id = params.root().get("requestId").and_then(RequestId::of);
        if let Some(stop) = id.and_then(|id| self.answering.lock().remove(&id)) {
            stop.cancel();
        }
    }

    async fn outcome(&self, request: &Request, via: Option<i64>) -> Result<Document, RpcError> {
        if request.method == "ping" {
            return Ok(Document::empty_object());
        }
        let params = request.params.as_ref().map(Document::root);
        if !is_declared(self.options.capabilities.root(), &request.method, params) {
            return Err(RpcError::method_not_found(&request.method));
        }
        let is_elicitation = request.method == "elicitation/create";
        let nobody = || if is_elicitation { Ok(decline()) } else { Err(RpcError::method_not_found(&request.method)) };
        let Some((life, caller)) = self.flights.caller(via) else { return nobody() };
        let _asking = life.asking();
        let question = Edit::new()
            .with("method", Document::string(&request.method))
            .with("params", request.params.clone().unwrap_or_else(Document::empty_object))
            .document();
        match caller.ask(Edit::new().with(QUESTION, question).document()).await {
            Ok(answers) => {
                answers.root().get(QUESTION).map(|answer| answer.to_document()).ok_or_else(RpcError::internal)
            }
            Err(Unanswered::Cannot(_)) => nobody(),
            Err(Unanswered::Gone) if is_elicitation => {
                Ok(Document::from_json_value(&serde_json::json!({ "action": "cancel" })))
            }
            Err(Unanswered::Gone) => Err(RpcError::internal()),
        }
    }
}

/// What a legacy question, which has no name, is called.
const QUESTION: &str = "question";
