//! MCP over standard input and output: one message a line, both eras.
//!
//! Each message says which era it is of: a modern request names its version in `_meta`; everything else belongs to the session that
//! `initialize` began. The end of the input ends everything.

mod lines;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_contract::document::{Document, Limits as TextLimits};
use lockgate_contract::ports::BoxFuture;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::lines::{Line, Lines};
use super::admission::Stay;
use super::call::{Call, Next};
use super::desk::{DEEPEST_MESSAGE, Desk};
use super::listen::Listening;
use super::result::{Answer, one_line};
use super::session::Session;
use super::turn::{self, Envelope, Turn, named_version, names_no_version};
use super::{Limits, Peer as _, Principal, Service};
use crate::wire::{Message, Notification, Request, RequestId, Response, RpcError, code};

/// How many messages wait to be written. Whoever has one more waits.
const MOST_UNWRITTEN: usize = 64;
/// How long what is under way may take once the input ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers the one client at the other end until its input ends; then everything under way is cancelled.
///
/// # Errors
///
/// The input cannot be read or the output cannot be written any more.
pub async fn serve<R, W>(service: Arc<dyn Service>, principal: Principal, input: R, output: W) -> std::io::Result<()>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let desk = Desk::new(service, Limits::default())?;
    let (lines, unwritten) = mpsc::channel(MOST_UNWRITTEN);
    let writer = tokio::spawn(write(output, unwritten));
    let client = Arc::new(Client {
        desk: Arc::clone(&desk),
        principal,
        lines,
        session: Mutex::new(None),
        under_way: Mutex::default(),
    });
    let read = Client::read(&client, Lines::new(input, desk.limits.message_bytes), &writer).await;
    client.cancel_all();
    let session = client.session();
    if let Some(session) = session {
        session.end();
    }
    desk.close(PATIENCE).await;
    // With the last sender the writer ends, and everything is written. What ran out of time does not keep it.
    drop(client);
    let written = match tokio::time::timeout(PATIENCE, writer).await {
        Ok(Ok(written)) => written,
        Ok(Err(_)) | Err(_) => Ok(()),
    };
    read.and(written)
}

/// The client at the other end.
struct Client {
    desk: Arc<Desk>,
    principal: Principal,
    lines: mpsc::Sender<String>,
    session: Mutex<Option<Arc<Session>>>,
    /// Modern requests; legacy ones are known to their session.
    under_way: Mutex<HashMap<RequestId, CancellationToken>>,
}

impl Client {
    async fn read<R: AsyncBufRead + Unpin>(
        this: &Arc<Self>,
        mut lines: Lines<R>,
        writer: &tokio::task::JoinHandle<std::io::Result<()>>,
    ) -> std::io::Result<()> {
        let most = this.desk.limits.message_bytes;
        let limits = TextLimits { max_bytes: most, max_depth: DEEPEST_MESSAGE };
        loop {
            if writer.is_finished() {
                return Ok(());
            }
            let message = match lines.next().await? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let why = format!("the message is larger than {most} bytes");
                    this.say(Answer::refused(None, RpcError::new(code::INVALID_REQUEST, why)).text).await;
                    continue;
                }
                Line::NotText => {
                    let error = RpcError::new(code::PARSE_ERROR, "this is no JSON text: it is no UTF-8");
                    this.say(Answer::refused(None, error).text).await;
                    continue;
                }
                Line::Text(text) => match Message::read(text, limits) {
                    Ok(message) => message,
                    Err(error) => {
                        this.say(Message::Response(error.answer()).text()).await;
                        continue;
                    }
                },
            };
            match message {
                Message::Request(request) => Self::request(this, request).await,
                Message::Notification(notification) => this.notified(&notification),
                Message::Response(response) => this.answered(response),
            }
        }
    }

    async fn request(this: &Arc<Self>, request: Request) {
        let version = named_version(request.params.as_ref());
        let session = this.session();
        if version.is_none() && request.method == "initialize" && session.is_none() {
            return this.initialize(request).await;
        }
        let permit = match this.desk.admit(&this.principal, Stay::UntilAnswered) {
            Ok(permit) => permit,
            Err(error) => return this.say(Answer::refused(Some(request.id), error).text).await,
        };
        match (version, session) {
            (Some(version), _) => {
                let empty = Document::empty_object();
                let params = request.params.as_ref().unwrap_or(&empty);
                match Envelope::read(&version, params, true) {
                    Ok(envelope) => {
                        // Now, so that it can be cancelled by the next line.
                        let listed = Listed::new(this, request.id.clone());
                        this.desk.tasks.spawn(async move {
                            let client = &listed.client;
                            // A retry has to wait for its call to be handed over.
                            let turn =
                                turn::take(&client.desk, client.principal.clone(), request, envelope, permit).await;
                            client.take(turn, &listed.cancel).await;
                        });
                    }
                    Err(error) => this.say(Answer::refused(Some(request.id), error).text).await,
                }
            }
            (None, Some(session)) => {
                match session.request(&this.desk, this.principal.clone(), request, permit, true) {
                    Turn::Ready(answer) => this.say(answer.text).await,
                    turn @ (Turn::Call(_) | Turn::Listen(_)) => {
                        let client = Arc::clone(this);
                        // The session knows it by its id.
                        let never = CancellationToken::new();
                        this.desk.tasks.spawn(async move { client.take(turn, &never).await });
                    }
                }
            }
            // Clients of that era may ask before anything else.
            (None, None) if request.method == "ping" => {
                this.say(Answer::as_it_is(&request.id, Document::empty_object()).text).await;
            }
            (None, None) => this.say(Answer::refused(Some(request.id), names_no_version()).text).await,
        }
    }

    async fn initialize(self: &Arc<Self>, request: Request) {
        let (session, answer) = match Session::begin(&self.desk, self.principal.clone(), request) {
            Ok(begun) => begun,
            Err(answer) => return self.say(answer.text).await,
        };
        let mut changes = self.desk.service.changes(&self.principal);
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&session));
        self.say(answer.text).await;
        let client = Arc::clone(self);
        self.desk.tasks.spawn(async move {
            use tokio::sync::broadcast::error::RecvError;
            loop {
                let change = tokio::select! {
                    () = session.ended.cancelled() => return,
                    change = changes.recv() => change,
                };
                let texts = match change {
                    Ok(change) => session.tells(&change).into_iter().collect(),
                    Err(RecvError::Lagged(_)) => session.tells_of_missed(),
                    Err(RecvError::Closed) => return,
                };
                for text in texts {
                    client.say(text).await;
                }
            }
        });
    }

    /// Sees a request to its end.
    async fn take(&self, turn: Turn, stop: &CancellationToken) {
        let (cancel, end): (CancellationToken, BoxFuture<'_, ()>) = match turn {
            Turn::Ready(answer) => return self.say(answer.text).await,
            Turn::Call(call) => (call.peer().cancel().clone(), Box::pin(self.call(call))),
            Turn::Listen(listening) => (listening.cancel().clone(), Box::pin(self.listen(*listening))),
        };
        let mut end = end;
        tokio::select! {
            () = &mut end => return,
            () = stop.cancelled() => cancel.cancel(),
        }
        end.await;
    }

    async fn call(&self, call: Call) {
        let cancel = call.peer().cancel().clone();
        let mut next = call.next().await;
        loop {
            let (text, rest) = match next {
                Next::Tell { text, call, .. } => (text, Some(call)),
                Next::Answer(answer) => (answer.text, None),
            };
            // Whoever cancelled waits for nothing.
            if !cancel.is_cancelled() {
                self.say(text).await;
            }
            match rest {
                Some(call) => next = call.next().await,
                None => return,
            }
        }
    }

    async fn listen(&self, mut listening: Listening) {
        while let Some(text) = listening.next().await {
            self.say(text).await;
        }
    }

    fn notified(&self, notification: &Notification) {
        if let Some(session) = self.session() {
            session.notified(notification);
        }
        if notification.method == "notifications/cancelled" {
            let id = notification.params.as_ref().and_then(|params| params.root().get("requestId"));
            let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(cancel) = id.and_then(RequestId::of).and_then(|id| under_way.get(&id)) {
                cancel.cancel();
            }
        }
    }

    fn answered(&self, response: Response) {
        if let Some(session) = self.session() {
            session.answered(response);
        }
    }

    fn cancel_all(&self) {
        for cancel in self.under_way.lock().unwrap_or_else(PoisonError::into_inner).values() {
            cancel.cancel();
        }
    }

    /// Writes a message; waits where the client does not read.
    async fn say(&self, text: String) {
        // Where nothing can be written any more, reading ends soon.
        let _closed = self.lines.send(one_line(text)).await;
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A modern request that can be cancelled by its id.
struct Listed {
    client: Arc<Client>,
    id: RequestId,
    cancel: CancellationToken,
}

impl Listed {
    fn new(client: &Arc<Client>, id: RequestId) -> Self {
        let cancel = CancellationToken::new();
        client.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), cancel.clone());
        Self { client: Arc::clone(client), id, cancel }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.client.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// The one place that writes.
async fn write<W: AsyncWrite + Unpin>(mut output: W, mut unwritten: mpsc::Receiver<String>) -> std::io::Result<()> {
    while let Some(mut line) = unwritten.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        if unwritten.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}
