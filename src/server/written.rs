//! An answer of ours as HTTP sends it: its length is known, its chunks are not joined. Must not know what it says.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::bindings::Rope;

/// A body that is ready as a whole.
#[derive(Debug)]
pub(super) struct Written(VecDeque<Bytes>);

impl From<Rope> for Written {
    fn from(text: Rope) -> Self {
        let mut chunks = text.into_chunks();
        // An empty frame would end some peers' reading early.
        chunks.retain(|chunk| !chunk.is_empty());
        Self(chunks.into())
    }
}

impl Body for Written {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let length: usize = self.0.iter().map(Bytes::len).sum();
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}
