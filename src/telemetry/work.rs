//! Spans of what the process does of its own accord: a reading of a source, an attempt to deliver. Each is a trace
//! of its own. Must not hold a customer's value, nor the words of a source or a receiver.

use std::borrow::Cow;
use std::sync::Arc;

use super::trace::{Active, Role, Tracer, Word};

tokio::task_local! {
    static TRACER: Arc<Tracer>;
}

/// Runs work whose pieces `tracer` records.
pub async fn traced<F: Future>(tracer: Option<Arc<Tracer>>, work: F) -> F::Output {
    match tracer {
        Some(tracer) => TRACER.scope(tracer, work).await,
        None => work.await,
    }
}

/// Work for a task of its own, recorded by whoever records this one.
pub fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> {
    traced(TRACER.try_with(Arc::clone).ok(), work)
}

/// A piece of work that has begun.
#[derive(Debug)]
pub struct Piece(Option<Active>);

impl Piece {
    pub fn begin() -> Self {
        let tracer = TRACER.try_with(Arc::clone).ok();
        Self(tracer.and_then(|tracer| tracer.begin(None)))
    }

    /// Ends it; the attributes are only asked for where it is recorded.
    pub fn end(
        self,
        name: &'static str,
        role: Role,
        attributes: impl FnOnce() -> Vec<(&'static str, Word)>,
        failed: bool,
    ) {
        if let Some(active) = self.0 {
            active.end_as(role, Cow::Borrowed(name), attributes(), failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_piece_of_work_is_a_trace_of_its_own_also_in_a_task_of_its_own() {
        let tracer = Arc::new(Tracer::new(1.0, 0));
        traced(Some(Arc::clone(&tracer)), async {
            let outer = Piece::begin();
            let inner = tokio::spawn(inherited(async {
                let attributes = || vec![("n", Word::Number(1))];
                Piece::begin().end("inner", Role::Internal, attributes, true);
            }));
            inner.await.unwrap();
            outer.end("outer", Role::Client, Vec::new, false);
        })
        .await;
        let spans = tracer.fetch();
        let [inner, outer] = spans.as_slice() else {
            panic!("{spans:?}");
        };
        assert_eq!((inner.role, inner.failed), (Role::Internal, true));
        assert_eq!((outer.role, outer.failed), (Role::Client, false));
        assert_eq!((inner.parent, outer.parent), (None, None));
        assert_ne!(inner.trace_id, outer.trace_id);
    }

    #[test]
    fn nothing_is_made_where_nobody_records() {
        let told = || -> Vec<(&'static str, Word)> { panic!("asked for nothing") };
        Piece::begin().end("x", Role::Internal, told, false);
    }
}
