//! Connections: accepted, bounded, and ended.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Body;
use super::places::{Busy, Place, Places};

/// How many connections there are, and how long they may do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenerLimits {
    /// How many connections there are at once. For the next one the connection gives way that has had no request under way for longest;
    /// where all have one, it waits until one ends.
    pub connections: usize,
    /// How large the headers of a request may be, in bytes.
    pub header_bytes: usize,
    /// How long the next request, with all its headers, may take to arrive.
    pub request_within: Duration,
    /// How long a client may read nothing of what is sent.
    pub read_within: Duration,
    /// How long requests under way go on once the server stops.
    pub grace: Duration,
    /// How long the headers of a request may take to arrive from their first byte on.
    pub headers_within: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            header_bytes: 64 << 10,
            request_within: Duration::from_secs(75),
            read_within: Duration::from_mins(1),
            grace: Duration::from_secs(10),
            headers_within: Duration::from_secs(15),
        }
    }
}

/// When the system had no room for a connection, and when it is asked again.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Answers requests over HTTP/1.1 until it is told to stop; then those under way have some time. Streams that would go on end when
/// their [`Endpoint`](super::Endpoint) is closed.
pub async fn serve<H, F>(listener: TcpListener, limits: ListenerLimits, handler: H, stop: CancellationToken)
where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let places = Places::new(limits.connections);
    let connections = TaskTracker::new();
    let cut_off = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(NO_ROOM).await;
                continue;
            }
        };
        let place = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            place = places.take() => place,
        };
        let Some(place) = place.map(Arc::new) else { break };
        let (handler, stop, cut_off) = (handler.clone(), stop.clone(), cut_off.clone());
        connections.spawn(async move {
            tokio::select! {
                () = connection(stream, address, limits, handler, stop, place) => {}
                () = cut_off.cancelled() => {}
            }
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(limits.grace, connections.wait()).await.is_err() {
        cut_off.cancel();
        connections.wait().await;
    }
}

async fn connection<H, F>(
    stream: TcpStream,
    address: SocketAddr,
    limits: ListenerLimits,
    handler: H,
    stop: CancellationToken,
    place: Arc<Place>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F,
    F: Future<Output = Response<Body>>,
{
    // Without it, events on a connection that is used again wait for the other side's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection delays small packets");
    }
    let service = service_fn(|request| {
        let busy = place.begins();
        let answer = handler(request, address);
        async move { Ok::<_, Infallible>(answer.await.map(|body| UnderWay { body, _busy: busy })) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request_within)
        .max_buf_size(limits.header_bytes.max(8192))
        .keep_alive(true)
        .serve_connection(TokioIo::new(Patient::new(stream, limits, Arc::clone(&place))), service);
    let mut connection = std::pin::pin!(connection);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = place.gives_way().cancelled(), if !stopping => {
                // A request may have come at the last moment: it is answered.
                if !place.is_busy() {
                    break Ok(());
                }
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The body of an answer: its request is under way until all of it is sent.
struct UnderWay {
    body: Body,
    _busy: Busy,
}

impl http_body::Body for UnderWay {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection whose other side has to read, and to come to the end of a request's headers once it began with them.
struct Patient<T> {
    stream: T,
    limits: ListenerLimits,
    place: Arc<Place>,
    /// Something is to be sent, and nobody reads it.
    waiting: Option<(Pin<Box<Sleep>>, Busy)>,
    /// Headers began to come, and behind how many requests.
    head: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<T> Patient<T> {
    fn new(stream: T, limits: ListenerLimits, place: Arc<Place>) -> Self {
        Self { stream, limits, place, waiting: None, head: None }
    }

    /// What a write led to; an error where it has led to nothing for too long.
    fn judged<R>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let (until, place) = (Instant::now() + self.limits.read_within, &self.place);
        let waiting = || (Box::pin(tokio::time::sleep_until(until)), place.busy());
        let (waiting, _) = self.waiting.get_or_insert_with(waiting);
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }

    /// Whether headers have been coming for too long.
    fn drips(&mut self, context: &mut Context<'_>, has_come: bool) -> bool {
        let begun = self.place.begun();
        if self.place.is_busy() || self.head.as_ref().is_some_and(|(_, before)| *before != begun) {
            self.head = None;
        }
        if has_come && !self.place.is_busy() && self.head.is_none() {
            let until = Instant::now() + self.limits.headers_within;
            self.head = Some((Box::pin(tokio::time::sleep_until(until)), begun));
        }
        self.head.as_mut().is_some_and(|(until, _)| until.as_mut().poll(context).is_ready())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.drips(context, buffer.filled().len() > before) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the headers do not come to an end")));
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judged(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judged(context, shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
