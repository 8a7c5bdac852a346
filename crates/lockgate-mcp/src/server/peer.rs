//! Whoever sent a request, as a service sees it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::{BoxFuture, Caller, Report, Unanswered};
use tokio_util::sync::CancellationToken;

use super::level::Level;
use super::question::{Answers, Question, lacking};
use super::session::Session;
use super::{Peer, Principal};
use crate::wire::{Edit, Message, Notification, Version, key, without_reserved};

/// How many messages may wait to be sent; beyond, the oldest report is forgotten for the newest.
const MOST_UNSENT: usize = 256;

/// Whoever sent one request.
pub(super) struct Asker {
    principal: Principal,
    version: Version,
    capabilities: Document,
    cancel: CancellationToken,
    beside: Option<Document>,
    /// The session, in the legacy era.
    session: Option<Arc<Session>>,
    patience: Duration,
    outbox: Mutex<Outbox>,
}

/// What the request that is being answered wants to hear of. In the modern era a retry has wants of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Wants {
    /// The token under which progress is reported.
    pub(super) progress: Option<Document>,
    /// From which level on there are log messages.
    pub(super) level: Option<Level>,
    /// Whether its sender can hear anything before the answer.
    pub(super) stream: bool,
}

/// Something that a call has to say before it is done.
pub(super) enum Said {
    /// A message for the client. It may be forgotten where it is a report.
    Tell { text: String, report: bool },
    /// Questions, in the modern era.
    Ask(Question),
}

#[derive(Default)]
struct Outbox {
    unsent: VecDeque<Said>,
    waker: Option<Waker>,
    wants: Wants,
    /// What this request's sender can do, where that is not what the first one's could.
    capabilities: Option<Document>,
    given: Answers,
}

impl Asker {
    /// Whoever sent a modern request; or a legacy one, in its session.
    pub(super) fn new(
        principal: Principal,
        version: Version,
        capabilities: Document,
        params: &Document,
        session: Option<Arc<Session>>,
        cancel: CancellationToken,
        patience: Duration,
    ) -> Self {
        let beside = params.root().get("_meta").and_then(without_reserved);
        Self { principal, version, capabilities, cancel, beside, session, patience, outbox: Mutex::default() }
    }

    /// What the request wants, and the answers that it brought for questions that it was asked before.
    pub(super) fn wants(&self, wants: Wants, given: Answers) {
        let mut outbox = self.outbox();
        outbox.wants = wants;
        outbox.given = given;
    }

    /// Another request goes on with the call: its sender's capabilities count from now on.
    pub(super) fn goes_on(&self, capabilities: Document, wants: Wants) {
        let mut outbox = self.outbox();
        outbox.wants = wants;
        outbox.capabilities = Some(capabilities);
    }

    /// What is to be said next; pending while there is nothing.
    pub(super) fn poll_said(&self, context: &Context<'_>) -> Poll<Said> {
        let mut outbox = self.outbox();
        if let Some(said) = outbox.unsent.pop_front() {
            return Poll::Ready(said);
        }
        if !outbox.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            outbox.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Says something that must not be forgotten.
    pub(super) fn tell(&self, text: String) {
        Self::put(&mut self.outbox(), Said::Tell { text, report: false });
    }

    /// How long its answers are waited for.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Whether the client can hear anything before the answer.
    pub(super) fn hears(&self) -> bool {
        self.outbox().wants.stream
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(outbox: &mut Outbox, said: Said) {
        if outbox.unsent.len() >= MOST_UNSENT {
            let report = |said: &Said| matches!(said, Said::Tell { report: true, .. });
            match outbox.unsent.iter().position(report) {
                Some(oldest) => drop(outbox.unsent.remove(oldest)),
                None if report(&said) => return,
                None => {}
            }
        }
        outbox.unsent.push_back(said);
        if let Some(waker) = outbox.waker.take() {
            waker.wake();
        }
    }

    /// What is told of a report, where anybody wants to hear of it.
    fn notification(&self, wants: &Wants, report: Report) -> Option<String> {
        let (method, params) = match report {
            Report::Progress { progress, total, message } => {
                let params = Edit::new()
                    .with(key::PROGRESS_TOKEN, wants.progress.clone()?)
                    .with("progress", progress)
                    .with_some("total", total)
                    // Unknown before 2025-03-26, and harmless there.
                    .with_some("message", message.as_deref().map(Document::string));
                ("notifications/progress", params.document())
            }
            Report::Log(params) => {
                let level = params.root().get("level").and_then(|level| level.as_str());
                let level = level.as_deref().and_then(Level::read)?;
                let least = match &self.session {
                    Some(session) => session.level(),
                    None => wants.level?,
                };
                if level < least {
                    return None;
                }
                ("notifications/message", params)
            }
        };
        Some(Message::Notification(Notification { method: method.to_owned(), params: Some(params) }).text())
    }
}

impl Caller for Asker {
    fn beside(&self) -> Option<Document> {
        self.beside.clone()
    }

    fn report(&self, report: Report) {
        let mut outbox = self.outbox();
        if !outbox.wants.stream {
            return;
        }
        if let Some(text) = self.notification(&outbox.wants, report) {
            Self::put(&mut outbox, Said::Tell { text, report: true });
        }
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        Box::pin(async move {
            if let Some(session) = &self.session {
                return session.ask(self, &questions).await;
            }
            let answered = {
                let mut outbox = self.outbox();
                let capabilities = outbox.capabilities.as_ref().unwrap_or(&self.capabilities);
                for (_, question) in questions.root().members() {
                    if let Some(lacking) = lacking(question, capabilities.root()) {
                        return Err(Unanswered::Cannot(lacking));
                    }
                }
                let (mut question, answered) = Question::new(questions);
                question.take(&mut outbox.given);
                if question.is_answered() {
                    question.settle();
                } else {
                    Self::put(&mut outbox, Said::Ask(question));
                }
                answered
            };
            answered.await.unwrap_or(Err(Unanswered::Gone))
        })
    }
}

impl Peer for Asker {
    fn principal(&self) -> &Principal {
        &self.principal
    }

    fn version(&self) -> Version {
        self.version
    }

    fn capabilities(&self) -> &Document {
        &self.capabilities
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
