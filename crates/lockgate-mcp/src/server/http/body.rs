//! What a response carries.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::events::Events;

/// The body of a response: whole, or a stream of events.
pub struct Body(Content);

enum Content {
    Whole(Bytes),
    Events(Box<Events>),
    Done,
}

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Self(Content::Done)
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Content::Events(Box::new(events)))
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(whole: T) -> Self {
        let whole = whole.into();
        if whole.is_empty() { Self::empty() } else { Self(Content::Whole(whole)) }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match std::mem::replace(&mut self.0, Content::Done) {
            Content::Done => Poll::Ready(None),
            Content::Whole(whole) => Poll::Ready(Some(Ok(Frame::data(whole)))),
            Content::Events(mut events) => match events.poll(context) {
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Ready(Some(piece)) => {
                    self.0 = Content::Events(events);
                    Poll::Ready(Some(Ok(Frame::data(piece))))
                }
                Poll::Pending => {
                    self.0 = Content::Events(events);
                    Poll::Pending
                }
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Content::Done)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(whole) => SizeHint::with_exact(whole.len() as u64),
            Content::Done => SizeHint::with_exact(0),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
