//! The way back to whoever sent a call: what a handler says on it leaves, and is scrubbed.

use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::ports::{BoxFuture, Caller, Redactor, Report, Unanswered};

/// A caller as a handler sees it.
pub(crate) struct ScrubbedCaller {
    caller: Arc<dyn Caller>,
    redactor: Arc<dyn Redactor>,
}

impl ScrubbedCaller {
    pub(crate) fn new(caller: Arc<dyn Caller>, redactor: Arc<dyn Redactor>) -> Self {
        Self { caller, redactor }
    }

    fn scrub(&self, document: Document) -> Document {
        self.redactor.scrub_document(&document).unwrap_or(document)
    }
}

impl Caller for ScrubbedCaller {
    fn beside(&self) -> Option<Document> {
        self.caller.beside()
    }

    fn can_be_asked(&self) -> Document {
        self.caller.can_be_asked()
    }

    fn report(&self, report: Report) {
        self.caller.report(match report {
            Report::Progress { progress, total, message } => {
                let message = message.map(|words| self.redactor.scrub(&words).into_owned());
                Report::Progress { progress, total, message }
            }
            Report::Log(log) => Report::Log(self.scrub(log)),
        });
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        self.caller.ask(self.scrub(questions))
    }
}
