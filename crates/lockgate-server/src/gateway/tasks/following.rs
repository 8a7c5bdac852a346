//! `tasks/get`, `tasks/update`, `tasks/cancel`: of this process's tasks, and of those that the journal knows.

use std::sync::Arc;

use lockgate::contract::document::Document;
use lockgate::contract::ids::RunId;
use lockgate::contract::outcome::Code;
use lockgate::contract::ports::Clock as _;
use lockgate::contract::run::RunKind;
use lockgate::harness::{DirectAnswer, RunState};
use lockgate::host::clock::SystemClock;
use lockgate_mcp::server::Asked;
use lockgate_mcp::wire::RpcError;
use serde_json::json;

use super::super::{State, result};
use super::{Task, empty};

impl State {
    pub(in crate::gateway) async fn get_task(&self, asked: &Asked) -> Result<Document, RpcError> {
        let id = id_of(asked)?;
        match self.task_of(asked, &id) {
            Some(task) => Ok(Document::from_json_value(&task.shown(&id, "complete"))),
            None => self.as_journaled(asked, &id).await,
        }
    }

    pub(in crate::gateway) fn update_task(&self, asked: &Asked) -> Result<Document, RpcError> {
        let task = self.task_of(asked, &id_of(asked)?).ok_or_else(no_such)?;
        let responses = asked.params.root().get("inputResponses");
        let is_news = {
            let mut inner = task.inner();
            let before = inner.questions.len();
            // Keys that nobody asked with, or that were answered, say nothing.
            for (key, answer) in responses.into_iter().flat_map(|responses| responses.members()) {
                if inner.questions.remove(key.as_ref()).is_some() {
                    inner.answers.insert(key.into_owned(), answer.to_json_value());
                }
            }
            let is_news = inner.questions.len() < before;
            if is_news {
                inner.updated = SystemClock.now();
            }
            is_news
        };
        if is_news {
            task.tell();
        }
        task.answered.notify_waiters();
        Ok(empty())
    }

    pub(in crate::gateway) async fn cancel_task(&self, asked: &Asked) -> Result<Document, RpcError> {
        let id = id_of(asked)?;
        match self.task_of(asked, &id) {
            Some(task) if task.has_ended() => Ok(empty()),
            Some(task) => {
                task.cancel.cancel();
                Ok(empty())
            }
            // Whatever is in the journal alone has ended.
            None => self.as_journaled(asked, &id).await.map(|_| empty()),
        }
    }

    /// A task of this process, where it is this client's.
    fn task_of(&self, asked: &Asked, id: &str) -> Option<Arc<Task>> {
        let principal = asked.peer.principal();
        let is_its = |task: &Arc<Task>| {
            task.principal.credential == principal.credential && task.principal.subject == principal.subject
        };
        self.tasks.get(id).filter(is_its)
    }

    /// What an earlier process made of it.
    async fn as_journaled(&self, asked: &Asked, id: &str) -> Result<Document, RpcError> {
        // A credential of one run reaches that run's tools, and no other run's results.
        if asked.peer.principal().run.is_some() {
            return Err(no_such());
        }
        let run = RunId::new(id);
        let events = self.assembly.journal.events(&run, 0).await.map_err(|_| no_such())?;
        let state = RunState::fold(&events).map_err(|_| no_such())?;
        let start = state.start();
        if start.kind != RunKind::Direct || start.subject != *asked.peer.principal().subject {
            return Err(no_such());
        }
        let call = state.calls().next();
        let may_have_changed =
            call.is_some_and(|call| call.changes_something && (call.underway || call.unknown_before));
        let settled = call.and_then(|call| Some((call.call_id.clone(), call.settled.clone()?)));
        let answer = settled.map(|(call_id, settled)| {
            let answer = DirectAnswer {
                run_id: run.clone(),
                result: settled.result(&call_id),
                status: Some(settled.status),
                effect_state: settled.effect_state,
                audit: settled.audit.clone(),
                times: None,
            };
            result::on_the_wire(self, answer, asked.peer.version().era())
        });
        let at = |event: Option<&lockgate::contract::event::Event>| event.map(|event| event.at.to_string());
        let mut shown = json!({
            "taskId": id,
            "createdAt": at(events.first()),
            "lastUpdatedAt": at(events.last()),
            "ttlMs": null,
        });
        match answer {
            Some(Ok(result)) => {
                shown["status"] = json!("completed");
                shown["result"] = result.to_json_value();
            }
            Some(Err(error)) => {
                shown["status"] = json!("failed");
                shown["error"] = serde_json::to_value(error).unwrap_or_default();
            }
            None => {
                shown["status"] = json!("failed");
                let (said, words) = if may_have_changed {
                    let words = "whoever ran the call is gone, and nobody knows what it changed: it is not to be sent again before that is found out";
                    (Code::OutcomeUnknown, words)
                } else {
                    (
                        Code::EnvironmentError,
                        "the server was started anew before the call changed anything: send it again",
                    )
                };
                let data = json!({ "code": said.word(), "run_id": id });
                shown["error"] = json!({ "code": RpcError::internal().code, "message": words, "data": data });
            }
        }
        Ok(Document::from_json_value(&shown))
    }
}

fn id_of(asked: &Asked) -> Result<String, RpcError> {
    let id = asked.params.root().get("taskId").and_then(|id| id.as_str());
    id.map(std::borrow::Cow::into_owned).ok_or_else(|| RpcError::invalid_params("`taskId` is missing"))
}

/// Another's, or none: nobody can tell.
fn no_such() -> RpcError {
    RpcError::invalid_params("there is no such task")
}
