//! Streams of events: the answer to a request, and what a legacy server says by itself.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::Document;
use reqwest::header::ACCEPT;
use reqwest::{Method, Response};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Http, kind, unreached};
use crate::client::ClientError;
use crate::client::core::Core;
use crate::client::transport::Wire;
use crate::client::transport::events::{EventReader, TooLong};
use crate::wire::Era;

/// How long after the end of a stream another one is begun, where the server does not say.
const USUAL_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How many streams in a row may bring nothing.
const FRUITLESS: u32 = 10;
/// What is read of a stream behind the answer, so that its connection can be used again.
const REST: usize = 64 << 10;
const FOR_REST: Duration = Duration::from_millis(250);

impl Http {
    /// Hears a stream until the answer is among what came. One that ends before can be gone on with in the legacy era, where its events
    /// have names.
    pub(super) async fn stream(&self, core: &Arc<Core>, id: i64, first: Response) -> Result<(), ClientError> {
        let mut events = EventReader::new(self.longest);
        let mut answer = first;
        let mut fruitless = 0;
        loop {
            let before = events.last_id.clone();
            let why = match self.hear(core, Some(id), &mut answer, &mut events).await? {
                Heard::Answer => {
                    finish(answer);
                    return Ok(());
                }
                Heard::End => "the stream ended before the answer".to_owned(),
                Heard::Broken(why) => why,
            };
            if core.era() == Era::Modern || events.last_id.is_none() {
                return Err(ClientError::Lost(why));
            }
            fruitless = if events.last_id == before { fruitless + 1 } else { 0 };
            if fruitless == FRUITLESS {
                return Err(ClientError::Lost(why));
            }
            sleep(events.retry.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT)).await;
            events.restart();
            answer = self.resume(core, events.last_id.as_deref()).await.map_err(|error| match error {
                // The request itself was sent long ago.
                ClientError::NotSent(why) => ClientError::Lost(why),
                error => error,
            })?;
        }
    }

    /// Hears what comes, until the answer to `via` is among it, or it ends.
    async fn hear(
        &self,
        core: &Arc<Core>,
        via: Option<i64>,
        answer: &mut Response,
        events: &mut EventReader,
    ) -> Result<Heard, ClientError> {
        loop {
            let piece = match answer.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(Heard::End),
                Err(error) => return Ok(Heard::Broken(lockgate_host::http::explain(error))),
            };
            let came = events.feed(&piece);
            let came = came.map_err(|TooLong| ClientError::Invalid("an event is longer than it may be".to_owned()))?;
            for event in came.into_iter().filter(|event| event.kind == "message") {
                core.heard_text(event.data, via);
            }
            if via.is_some_and(|id| !core.flights.has(id)) {
                return Ok(Heard::Answer);
            }
        }
    }

    /// A stream that goes on behind an event, or one of what the server says by itself.
    async fn resume(&self, core: &Arc<Core>, behind: Option<&str>) -> Result<Response, ClientError> {
        let mut headers = crate::client::envelope::headers(core, "", &Document::empty_object(), None);
        headers.extend(behind.map(|id| ("last-event-id".to_owned(), id.to_owned())));
        let session = self.sessions.current();
        let token = self.tokens.as_ref().and_then(|tokens| tokens.token());
        let request = self.begin(Method::GET, &headers, session.id.as_deref(), token.as_deref())?;
        let answer = request.header(ACCEPT, "text/event-stream").send().await.map_err(unreached)?;
        if answer.status().is_success() && kind(&answer) == "text/event-stream" {
            return Ok(answer);
        }
        Err(ClientError::NotSent(format!("it has no such stream (HTTP {})", answer.status().as_u16())))
    }

    /// Hears what the server says by itself for as long as the session lasts.
    /// What is returned fires when the first one is there, or there is none.
    pub(super) fn open_stream(&self, core: &Arc<Core>) -> CancellationToken {
        let settled = CancellationToken::new();
        let first = settled.clone().drop_guard();
        let number = self.sessions.current().number;
        let (weak, longest) = (Arc::downgrade(core), self.longest);
        core.spawn(async move {
            let mut first = Some(first);
            let mut events = EventReader::new(longest);
            let mut wait = USUAL_WAIT;
            loop {
                let Some(core) = weak.upgrade() else { return };
                let Wire::Http(http) = &core.wire else { return };
                if http.sessions.current().number != number {
                    return;
                }
                let resumed = http.resume(&core, events.last_id.as_deref()).await;
                drop(first.take());
                match resumed {
                    Ok(mut answer) => {
                        wait = USUAL_WAIT;
                        match http.hear(&core, None, &mut answer, &mut events).await {
                            Ok(_) => {}
                            Err(error) => return core.noise(&error.to_string()),
                        }
                    }
                    // It has none, or none any more: the next request learns of that.
                    Err(ClientError::NotSent(why)) if why.contains("HTTP 4") => return,
                    Err(_) => wait = (wait * 2).min(LONGEST_WAIT),
                }
                let pause = events.retry.unwrap_or(wait).min(LONGEST_WAIT);
                events.restart();
                drop(core);
                sleep(pause).await;
            }
        });
        settled
    }
}

enum Heard {
    /// The answer came.
    Answer,
    /// The stream ended.
    End,
    /// It broke.
    Broken(String),
}

/// Reads the little that may be left behind an answer: a connection with something left on it cannot be used again.
fn finish(mut answer: Response) {
    tokio::spawn(timeout(FOR_REST, async move {
        let mut left = REST;
        while let Ok(Some(piece)) = answer.chunk().await {
            match left.checked_sub(piece.len()) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    }));
}
