//! An answer as HTTP sends it. Of ours the length is known, and its chunks are not joined and still leave together.
//! Must not know what it says.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{HeaderValue, Response, header};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::bindings::Rope;

/// A run of chunks that is one to whoever sends it. As frames of their own, hyper would write some of them
/// before it takes the next, and a peer would be woken for each part.
#[derive(Debug)]
pub(super) struct Chunks(VecDeque<Bytes>);

impl From<Bytes> for Chunks {
    fn from(chunk: Bytes) -> Self {
        Self(VecDeque::from([chunk]))
    }
}

impl Buf for Chunks {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.front().map_or(&[], Bytes::as_ref)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let filled = slices.iter_mut().zip(&self.0);
        filled
            .map(|(slice, chunk)| *slice = IoSlice::new(chunk))
            .count()
    }

    fn advance(&mut self, count: usize) {
        let mut left = count;
        while let Some(first) = self.0.front_mut() {
            if left < first.len() {
                return first.advance(left);
            }
            left -= first.len();
            self.0.pop_front();
        }
    }
}

/// A body on its way out.
#[derive(Debug)]
pub(super) enum Written {
    /// Ready as a whole; `None` when nothing is left.
    Ours(Option<Chunks>),
    /// The website's, passed on as it comes.
    PassedOn(Incoming),
}

impl From<Rope> for Written {
    fn from(text: Rope) -> Self {
        let mut chunks = text.into_chunks();
        // `Buf::chunk` must not be empty before the end.
        chunks.retain(|chunk| !chunk.is_empty());
        Self::Ours((!chunks.is_empty()).then(|| Chunks(chunks.into())))
    }
}

/// What answers HEAD: the head that GET would get (RFC 9110 §9.3.2). Over HTTP/2 hyper would send the body, too,
/// which is a fault of the stream to a client.
pub(super) fn head_only(mut answer: Response<Written>) -> Response<Written> {
    if let Written::Ours(text) = answer.body_mut()
        && let Some(text) = text.take()
    {
        let length = HeaderValue::from(text.remaining());
        answer.headers_mut().insert(header::CONTENT_LENGTH, length);
    }
    answer
}

impl Body for Written {
    type Data = Chunks;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Chunks>>>> {
        match self.get_mut() {
            Self::Ours(text) => Poll::Ready(text.take().map(|chunks| Ok(Frame::data(chunks)))),
            Self::PassedOn(body) => {
                let frame = ready!(Pin::new(body).poll_frame(context));
                let frame = frame.map(|frame| Ok(frame?.map_data(Chunks::from)));
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ours(text) => text.is_none(),
            Self::PassedOn(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ours(text) => {
                let length = text.as_ref().map_or(0, Buf::remaining);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Self::PassedOn(body) => body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn chunks(texts: &[&'static str]) -> Chunks {
        let chunks = texts.iter().map(|text| Bytes::from_static(text.as_bytes()));
        Chunks(chunks.collect())
    }

    #[test]
    fn chunks_leave_together_and_in_order_wherever_a_write_ends() {
        let texts = ["abc", "d", "efgh"];
        for written in 0..=8 {
            let mut left = chunks(&texts);
            left.advance(written);
            assert_eq!(left.remaining(), 8 - written);
            let mut slices = [IoSlice::new(&[]); 8];
            let count = left.chunks_vectored(&mut slices);
            let together: Vec<u8> = slices[..count].iter().flat_map(|s| s.to_vec()).collect();
            assert_eq!(together, b"abcdefgh"[written..]);
            assert_eq!(left.chunk().is_empty(), written == 8);
            assert_eq!(left.copy_to_bytes(8 - written), b"abcdefgh"[written..]);
        }
    }

    #[test]
    fn fewer_slices_than_chunks_take_the_first() {
        let left = chunks(&["a", "b", "c"]);
        let mut slices = [IoSlice::new(&[]); 2];
        assert_eq!(left.chunks_vectored(&mut slices), 2);
        assert_eq!(&*slices[1], b"b");
    }

    #[tokio::test]
    async fn a_text_of_many_chunks_is_one_frame_and_no_text_is_none() {
        let mut rope = Rope::from(Bytes::from_static(b"a"));
        rope.append(Rope::from(Bytes::new()));
        rope.append(Rope::from(Bytes::from_static(b"b")));
        let mut body = Written::from(rope);
        assert_eq!(body.size_hint().exact(), Some(2));
        let frame = body.frame().await.unwrap().unwrap();
        let mut data = frame.into_data().unwrap();
        assert_eq!(data.copy_to_bytes(2), "ab");
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
        assert!(Written::from(Rope::default()).is_end_stream());
    }
}
