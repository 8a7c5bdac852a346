//! A request that the service is answering: its future, and whoever waits for it.
//!
//! A call is handed from one to the other, and never lost: whoever drops it before its end leaves it to a task that polls it to
//! its end. In the modern era over HTTP that is what a closed connection does, and it means cancel.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};

use lockgate_contract::document::Document;
use lockgate_contract::ports::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::admission::Permit;
use super::desk::Desk;
use super::peer::{Asker, Said, Wants};
use super::question::{Answers, Question};
use super::result::Answer;
use super::seal::{Bound, digest};
use super::session::UnderWay;
use super::{Asked, Peer as _};
use crate::wire::{Edit, Era, RequestId, RpcError, code, follows_tasks, key};

type Outcome = Result<Document, RpcError>;

/// A request under way.
pub(super) struct Call {
    desk: Arc<Desk>,
    peer: Arc<Asker>,
    id: RequestId,
    method: String,
    params: Document,
    future: Option<BoxFuture<'static, Outcome>>,
    outcome: Option<Outcome>,
    permit: Option<Permit>,
    /// Its place in a session.
    session: Option<UnderWay>,
}

/// What a call leads to.
pub(super) enum Next {
    /// A message to the client, and more to come.
    Tell {
        /// The message.
        text: String,
        /// Whether it may be forgotten where nobody reads.
        report: bool,
        /// The call, that goes on.
        call: Call,
    },
    /// The answer.
    Answer(Answer),
}

enum Step {
    Said(Said),
    Done(Outcome),
}

impl Call {
    /// Hands a request to the service.
    pub(super) fn begin(
        desk: Arc<Desk>,
        peer: Arc<Asker>,
        id: RequestId,
        method: String,
        params: Document,
        permit: Permit,
    ) -> Self {
        let asked = Asked { method: method.clone(), params: params.clone(), peer: Arc::clone(&peer) as _ };
        let service = Arc::clone(&desk.service);
        let future: BoxFuture<'static, Outcome> = Box::pin(async move { service.answer(asked).await });
        Self::of(desk, peer, id, method, params, permit, future)
    }

    /// A request whose answer is this future's.
    pub(super) fn of(
        desk: Arc<Desk>,
        peer: Arc<Asker>,
        id: RequestId,
        method: String,
        params: Document,
        permit: Permit,
        future: BoxFuture<'static, Outcome>,
    ) -> Self {
        Self {
            desk,
            peer,
            id,
            method,
            params,
            future: Some(future),
            outcome: None,
            permit: Some(permit),
            session: None,
        }
    }

    /// It belongs to a session.
    pub(super) fn within(mut self, session: UnderWay) -> Self {
        self.session = Some(session);
        self
    }

    /// Where it is answered.
    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Who waits for it.
    pub(super) fn peer(&self) -> &Arc<Asker> {
        &self.peer
    }

    /// Fires when whoever sent it may have nothing more of it.
    pub(super) fn revoked(&self) -> CancellationToken {
        self.permit.as_ref().map(|permit| permit.revoked().clone()).unwrap_or_default()
    }

    /// Waits for what it leads to.
    pub(super) async fn next(mut self) -> Next {
        match poll_fn(|context| self.poll_step(context)).await {
            Step::Said(Said::Tell { text, report }) => Next::Tell { text, report, call: self },
            Step::Said(Said::Ask(question)) => Next::Answer(self.park(question)),
            Step::Done(outcome) => Next::Answer(self.answer(outcome)),
        }
    }

    /// Goes on for another request, which brought answers to these questions.
    pub(super) fn resume(
        mut self,
        mut question: Question,
        id: RequestId,
        capabilities: Document,
        wants: Wants,
        mut given: Answers,
        permit: Permit,
    ) -> Result<Self, Answer> {
        self.id = id;
        self.peer.goes_on(capabilities, wants);
        question.take(&mut given);
        if question.is_answered() {
            self.permit = Some(permit);
            question.settle();
            return Ok(self);
        }
        drop(permit);
        Err(self.park(question))
    }

    /// Polls it while nobody waits for the outcome, which is kept. It never ends.
    pub(super) async fn keep_going(&mut self) {
        poll_fn(|context| -> Poll<()> {
            self.poll_future(context);
            Poll::Pending
        })
        .await;
    }

    /// Nobody waits any more.
    pub(super) fn abandon(self) {
        self.peer.cancel().cancel();
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        self.poll_future(context);
        // What was said comes before the answer.
        if let Poll::Ready(said) = self.peer.poll_said(context) {
            return Poll::Ready(Step::Said(said));
        }
        match self.outcome.take() {
            Some(outcome) => Poll::Ready(Step::Done(outcome)),
            None => Poll::Pending,
        }
    }

    fn poll_future(&mut self, context: &mut Context<'_>) {
        let Some(future) = &mut self.future else { return };
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let outcome = match polled {
            Ok(Poll::Pending) => return,
            Ok(Poll::Ready(outcome)) => outcome,
            Err(_) => {
                tracing::error!(method = self.method, "the service panicked");
                Err(RpcError::internal())
            }
        };
        self.outcome = Some(outcome);
        self.future = None;
    }

    /// Waits for a client that comes back with the answers, and tells it so.
    fn park(mut self, question: Question) -> Answer {
        self.permit = None;
        let id = self.id.clone();
        let (peer, method, params) = (Arc::clone(&self.peer), self.method.clone(), self.params.clone());
        let desk = Arc::clone(&self.desk);
        let bound = Bound { credential: &peer.principal().credential, method: &method, digest: digest(&params) };
        let open = question.open();
        match desk.parking.park(self, question, &bound) {
            Ok(state) => {
                let result = Edit::new()
                    .with("resultType", Document::string("input_required"))
                    .with("inputRequests", open)
                    .with("requestState", Document::string(&state));
                // The method's own result may be cached, and this is none of those.
                Answer::modern(&id, "", &result.document(), desk.info(peer.principal()).text())
            }
            Err(error) => {
                tracing::error!(%error, "a question cannot be sealed");
                Answer::error(Some(id), RpcError::internal())
            }
        }
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let result = match outcome {
            Ok(result) => result,
            Err(error) => return Answer::error(Some(self.id.clone()), error),
        };
        let version = self.peer.version();
        let kind = result.root().get("resultType").and_then(|kind| kind.as_str());
        if kind.as_deref() == Some("task") && !follows_tasks(self.peer.capabilities().root()) {
            tracing::error!(method = self.method, "the service answered with a task that nobody can follow");
            return Answer::error(Some(self.id.clone()), needs_tasks());
        }
        match version.era() {
            Era::Modern => {
                Answer::modern(&self.id, &self.method, &result, self.desk.info(self.peer.principal()).text())
            }
            Era::Legacy => Answer::legacy(&self.id, &self.method, &result),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(future) = self.future.take() else { return };
        if self.peer.version().era() == Era::Modern {
            self.peer.cancel().cancel();
        }
        let permit = self.permit.take();
        let mut rest = Rest { future, _permit: permit, _session: self.session.take() };
        // Outside a runtime there is nobody to poll it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.desk.tasks.spawn_on(poll_fn(move |context| rest.poll(context)), &runtime);
        }
    }
}

/// What is left of a call that nobody waits for. It counts as under way until its end.
struct Rest {
    future: BoxFuture<'static, Outcome>,
    _permit: Option<Permit>,
    _session: Option<UnderWay>,
}

impl Rest {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.future.as_mut().poll(context).map(drop)
    }
}

/// What a client is told that has to follow tasks and cannot.
pub(super) fn needs_tasks() -> RpcError {
    let tasks = Edit::new().with(key::TASKS, Document::empty_object()).document();
    let extensions = Edit::new().with("extensions", tasks).document();
    let data = Edit::new().with("requiredCapabilities", extensions).document();
    RpcError::new(code::MISSING_CAPABILITY, "this needs a client that declares the extension for tasks").with_data(data)
}
