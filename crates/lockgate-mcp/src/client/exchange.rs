//! One request, and its one answer.

use std::pin::pin;
use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::ports::Caller;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::envelope::{Envelope, headers};
use super::flights::{Life, lost};
use super::{ClientError, Patience};
use crate::wire::{Edit, Era, Message, Mirrors, Notification, Request, RequestId};

/// A request for the other side, whole but for what is put around it.
pub(super) struct Exchange<'a> {
    pub(super) method: &'a str,
    pub(super) params: &'a Document,
    pub(super) envelope: Envelope<'a>,
    pub(super) caller: Option<Arc<dyn Caller>>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) patience: Patience,
    pub(super) mirror: Option<&'a Mirrors>,
    /// Hears what the server honours of a subscription.
    pub(super) acknowledged: Option<oneshot::Sender<Document>>,
}

impl<'a> Exchange<'a> {
    /// One of our own: nobody sent the call that it belongs to, and nothing is passed on.
    pub(super) fn of_ours(
        method: &'a str,
        params: &'a Document,
        patience: Patience,
        cancel: &'a CancellationToken,
    ) -> Self {
        let envelope = Envelope::default();
        Self { method, params, envelope, caller: None, cancel, patience, mirror: None, acknowledged: None }
    }
}

/// A request whose answer nobody has yet. Where nobody waits for it any more, the server is told, in the way of its era.
struct UnderWay<'a> {
    core: &'a Arc<Core>,
    id: i64,
    method: &'a str,
    life: Arc<Life>,
    is_over: bool,
}

impl Core {
    /// Sends it and waits for the answer, as long as the patience and the connection last.
    pub(super) async fn exchange(self: &Arc<Self>, asked: Exchange<'_>) -> Result<Document, ClientError> {
        let id = self.next_id();
        let meta = asked.envelope.meta(self, id);
        let params = Edit::of(asked.params.root()).with("_meta", meta).document();
        let headers = headers(self, asked.method, &params, asked.mirror);
        let request = Request { id: RequestId::Number(id), method: asked.method.to_owned(), params: Some(params) };
        let message = Message::Request(request).text();

        let (answer, life) = self.flights.open(id, asked.caller, asked.acknowledged);
        let mut under_way = UnderWay { core: self, id, method: asked.method, life: life.clone(), is_over: false };
        if let Some(why) = self.loss() {
            under_way.is_over = true;
            return Err(lost(&life, why));
        }
        let mut answer = pin!(answer);
        let mut sending = pin!(self.wire.request(self, id, message, headers, &life));
        let mut is_sent = false;
        let began = Instant::now();
        let mut last = began;
        let outcome = loop {
            let end = last.checked_add(asked.patience.idle).into_iter();
            let end = end.chain(began.checked_add(asked.patience.absolute)).min();
            let time_is_up = async {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut answer => break outcome.unwrap_or_else(|_| Err(lost(&life, "its connection is gone"))),
                () = asked.cancel.cancelled() => return Err(ClientError::Cancelled),
                sent = &mut sending, if !is_sent => match sent {
                    Ok(()) => is_sent = true,
                    Err(error) => break Err(error),
                },
                () = life.pulse.notified() => last = Instant::now(),
                () = time_is_up => {
                    let (waited, total) = (last.elapsed(), began.elapsed());
                    let Patience { idle, absolute } = asked.patience;
                    if life.is_asking() && total < absolute {
                        last = Instant::now();
                    } else if life.gives_up() {
                        under_way.is_over = true;
                        return Err(ClientError::NotSent(format!("the server took nothing for {total:?}")));
                    } else {
                        return Err(ClientError::TimedOut { waited, total, idle, absolute });
                    }
                },
            }
        };
        // Whoever ended it from this side is the one case in which the server does not know.
        under_way.is_over = !matches!(outcome, Err(ClientError::Cancelled));
        outcome
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.core.flights.take(self.id);
        // What was not sent yet is not sent any more, and nobody has to be told.
        if self.life.gives_up() {
            return;
        }
        // A handshake cannot be cancelled; and a modern server over HTTP knows by the end of the connection.
        let says_it = self.core.era() == Era::Legacy || !self.core.wire.ends_with_its_stream();
        if self.is_over || !says_it || self.method == "initialize" || self.core.loss().is_some() {
            return;
        }
        let params = serde_json::json!({ "requestId": self.id, "reason": "nobody waits for it any more" });
        let params = Document::from_json_value(&params);
        let params = Some(match self.core.era() {
            Era::Modern if self.core.version.get().is_some() => Envelope::around_notification(self.core, &params),
            _ => params,
        });
        self.core
            .tell_later(Message::Notification(Notification { method: "notifications/cancelled".to_owned(), params }));
    }
}
