//! What a server says: answers, progress, log messages, changes, and questions of its own.

use std::sync::Arc;

use lockgate_contract::document::{Document, DocumentError, Fault};
use lockgate_contract::ports::Report;

use super::core::Core;
use super::salvage::Outline;
use super::{ClientError, Event, List};
use crate::wire::{Era, Message, Notification, RequestId, Response, WireError, key};

impl Core {
    /// A text that should be a message. `via` is the request whose stream it came on; none where there is one stream for all.
    pub(super) fn heard_text(self: &Arc<Self>, text: String, via: Option<i64>) {
        let kept = text.clone();
        match Message::read(text, self.limits()) {
            Ok(message) => self.heard(message, via),
            Err(WireError::NotJson(error)) => self.heard_in_part(&kept, &error, via),
            Err(error @ WireError::NotMessage { .. }) => self.heard_nonsense(&error),
        }
    }

    /// Something that cannot be read as a whole. One entry of a list costs no other, and whoever waits for what cannot be read at all
    /// waits for nothing else.
    fn heard_in_part(self: &Arc<Self>, text: &str, error: &DocumentError, via: Option<i64>) {
        let outline = Outline::of(text);
        if let Some((rest, whys)) = outline.without_unreadable(text, self.limits())
            && let Ok(message @ Message::Response(_)) = Message::read(rest, self.limits())
        {
            for why in whys {
                self.noise(&why);
            }
            return self.heard(message, via);
        }
        // What is no JSON at all is nobody's answer, whatever it looks like.
        let id = via.or(outline.id).filter(|_| error.fault() != Fault::NotJson);
        match id.and_then(|id| self.flights.take(id)) {
            Some(flight) => flight.land(Err(ClientError::Invalid(format!("this is no message: {error}")))),
            None => self.noise(&format!("this is no message: {error}")),
        }
    }

    /// Something with an id that is no message: whoever waits under that id waits for nothing else.
    fn heard_nonsense(&self, error: &WireError) {
        if let WireError::NotMessage { id: Some(RequestId::Number(id)), .. } = error
            && let Some(flight) = self.flights.take(*id)
        {
            return flight.land(Err(ClientError::Invalid(error.to_string())));
        }
        self.noise(&error.to_string());
    }

    pub(super) fn heard(self: &Arc<Self>, message: Message, via: Option<i64>) {
        match message {
            Message::Response(response) => self.heard_response(response, via),
            Message::Notification(notification) => self.heard_notification(notification, via),
            Message::Request(request) if self.era() == Era::Legacy => self.answer(request, via),
            Message::Request(request) => {
                self.noise(&format!(
                    "the server sends a request, `{}`, which it must not in this version",
                    request.method
                ));
            }
        }
    }

    fn heard_response(&self, response: Response, via: Option<i64>) {
        let id = match &response.id {
            Some(RequestId::Number(id)) => Some(*id),
            Some(RequestId::Text(_)) => None,
            // What it could not read was what came on this stream.
            None => via,
        };
        if let Some(flight) = id.and_then(|id| self.flights.take(id)) {
            return flight.land(response.outcome.map_err(ClientError::answered));
        }
        let id = response.id.map_or_else(|| "null".to_owned(), |id| id.to_string());
        self.noise(&format!("this is an answer to no request that is under way: `{id}`"));
    }

    fn heard_notification(&self, notification: Notification, via: Option<i64>) {
        let params = notification.params.unwrap_or_else(Document::empty_object);
        match notification.method.as_str() {
            "notifications/progress" => self.heard_progress(&params),
            "notifications/message" => {
                let caller = match via {
                    Some(id) => self.flights.caller(Some(id)).map(|(_, caller)| caller),
                    None => self.flights.only_caller(),
                };
                match caller {
                    Some(caller) => caller.report(Report::Log(without_meta(&params))),
                    None => self.listener.heard(Event::Log(params)),
                }
            }
            "notifications/tools/list_changed" => self.listener.heard(Event::ListChanged(List::Tools)),
            "notifications/prompts/list_changed" => self.listener.heard(Event::ListChanged(List::Prompts)),
            "notifications/resources/list_changed" => {
                self.listener.heard(Event::ListChanged(List::Resources));
                self.listener.heard(Event::ListChanged(List::ResourceTemplates));
            }
            "notifications/resources/updated" => self.listener.heard(Event::ResourceUpdated(params)),
            "notifications/cancelled" => self.heard_cancelled(&params),
            "notifications/subscriptions/acknowledged" => self.acknowledged(&params, via),
            // Of elicitations by URL, whose end says nothing that the answer does not, and of what is newer than this.
            _ => {}
        }
    }

    fn heard_progress(&self, params: &Document) {
        let root = params.root();
        let token = root.get(key::PROGRESS_TOKEN).and_then(RequestId::of);
        let Some(RequestId::Number(id)) = token else { return };
        let Some(life) = self.flights.life(id) else { return };
        life.pulse.notify_one();
        let caller = self.flights.caller(Some(id));
        if let (Some((_, caller)), Some(progress)) = (caller, root.get("progress")) {
            let message = root.get("message").and_then(|message| message.as_str()).map(std::borrow::Cow::into_owned);
            let total = root.get("total").map(|total| total.to_document());
            caller.report(Report::Progress { progress: progress.to_document(), total, message });
        }
    }
}

/// `_meta` belongs to this hop.
fn without_meta(params: &Document) -> Document {
    if params.root().get("_meta").is_none() {
        return params.clone();
    }
    crate::wire::Edit::of(params.root()).without("_meta").document()
}
