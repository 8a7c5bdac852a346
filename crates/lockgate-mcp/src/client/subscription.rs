//! Hearing of changes: `subscriptions/listen` in the modern era, the server's own stream in the legacy one.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::{Document, Node};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::exchange::Exchange;
use super::transport::FOR_EVER;
use super::{ClientError, Event, List, Patience};
use crate::wire::{RequestId, key};

/// How long after an end it is tried again: at first, and at most.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(500);
pub(super) const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// What can be listened to: the capability, the word of the subscription, and the lists that then are read again.
const KINDS: [(&str, &str, &[List]); 3] = [
    ("tools", "toolsListChanged", &[List::Tools]),
    ("prompts", "promptsListChanged", &[List::Prompts]),
    ("resources", "resourcesListChanged", &[List::Resources, List::ResourceTemplates]),
];

/// Whether the server says that it tells of a change of these.
fn tells(capabilities: Node<'_>, name: &str) -> bool {
    let said = capabilities.get(name).and_then(|capability| capability.get("listChanged"));
    said.and_then(|said| said.as_bool()) == Some(true)
}

/// Whether a legacy server says by itself anything worth a stream of its own.
pub(super) fn says_anything(capabilities: Node<'_>) -> bool {
    let subscribes = capabilities.get("resources").and_then(|resources| resources.get("subscribe"));
    KINDS.iter().any(|(name, ..)| tells(capabilities, name))
        || subscribes.and_then(|subscribes| subscribes.as_bool()) == Some(true)
        || capabilities.get("logging").is_some()
}

impl Core {
    /// Each list that the server tells changes of may have changed.
    pub(super) fn everything_may_have_changed(&self, capabilities: Node<'_>) {
        for (_, _, lists) in KINDS.iter().filter(|(name, ..)| tells(capabilities, name)) {
            lists.iter().for_each(|list| self.listener.heard(Event::ListChanged(*list)));
        }
    }

    /// Listens to a modern server for as long as the connection lasts and there is something to hear.
    pub(super) fn subscribe(self: &Arc<Self>, capabilities: &Document) {
        let root = capabilities.root();
        let words: serde_json::Map<_, _> = KINDS
            .iter()
            .filter(|(name, ..)| tells(root, name))
            .map(|(_, word, _)| ((*word).to_owned(), serde_json::Value::Bool(true)))
            .collect();
        if words.is_empty() {
            return;
        }
        let params = Document::from_json_value(&serde_json::json!({ "notifications": words }));
        let (weak, capabilities) = (Arc::downgrade(self), capabilities.clone());
        self.spawn(async move {
            let mut wait = FIRST_WAIT;
            let mut is_first = true;
            loop {
                let Some(core) = weak.upgrade() else { return };
                if !is_first {
                    // Nothing is told twice: what changed meanwhile was said to nobody.
                    core.everything_may_have_changed(capabilities.root());
                }
                let began = tokio::time::Instant::now();
                match core.listen(&params).await {
                    Listened::Nothing => return,
                    Listened::Ended if core.loss().is_some() => return,
                    Listened::Ended => {}
                }
                drop(core);
                is_first = false;
                // One that lasted was well.
                wait = if began.elapsed() > LONGEST_WAIT { FIRST_WAIT } else { wait };
                sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        });
    }

    async fn listen(self: &Arc<Self>, params: &Document) -> Listened {
        let cancel = CancellationToken::new();
        let patience = Patience { idle: FOR_EVER, absolute: FOR_EVER };
        let asked = Exchange::of_ours("subscriptions/listen", params, patience, &cancel);
        match self.exchange(asked).await {
            // It does not offer it, whatever its capabilities say; or it honours nothing of it.
            Err(
                ClientError::Server(_)
                | ClientError::Refused(_)
                | ClientError::Invalid(_)
                | ClientError::Unauthorized { .. }
                | ClientError::AuthorizationNeeded { .. }
                | ClientError::Cancelled,
            ) => Listened::Nothing,
            Ok(_) | Err(ClientError::Lost(_) | ClientError::NotSent(_) | ClientError::TimedOut { .. }) => {
                Listened::Ended
            }
        }
    }

    /// The server says what of a subscription it honours. One of which nothing is honoured is not held open.
    pub(super) fn acknowledged(&self, params: &Document, via: Option<i64>) {
        let id = params.root().get("_meta").and_then(|meta| meta.get(key::SUBSCRIPTION_ID)).and_then(RequestId::of);
        let id = match id {
            Some(RequestId::Number(id)) => Some(id),
            _ => via,
        };
        let honoured = params.root().get("notifications");
        let is_any = honoured.is_some_and(|honoured| {
            honoured.members().any(|(_, value)| value.as_bool() == Some(true) || !value.is_empty())
        });
        let Some(id) = id else { return };
        if is_any {
            self.flights.acknowledge(id, params);
        } else if let Some(flight) = self.flights.take(id) {
            // Whoever listens ends its request, which tells the server.
            flight.land(Err(ClientError::Cancelled));
        }
    }
}

enum Listened {
    /// There is nothing to hear.
    Nothing,
    /// It is over, and can be tried again.
    Ended,
}
