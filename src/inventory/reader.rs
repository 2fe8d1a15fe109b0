//! The seam between a source and the inventory: units, one after another. Must not keep any.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::gone::Identifiers;

/// What a reading yields, unit by unit.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A complete AAP listing object.
    Listing(Map<String, Value>),
    /// A unit that the source has and that may not be shown: sold or withdrawn.
    Hidden(Identifiers),
    /// A row that could not be mapped; the reason holds no value of it.
    Rejected(String),
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Read = dyn Fn(mpsc::Sender<Unit>) -> Boxed<Result<(), String>> + Send + Sync;
type LookUp = dyn Fn(Identifiers) -> Boxed<Result<Vec<Unit>, String>> + Send + Sync;

/// How an inventory is read: all of it, and, where the source can, one unit.
pub struct Reader {
    pub(super) read: Box<Read>,
    pub(super) look_up: Option<Box<LookUp>>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("look_up", &self.look_up.is_some())
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader that sends every unit into the given channel; an error is the private cause.
    pub fn new<F>(read: impl Fn(mpsc::Sender<Unit>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self {
            read: Box::new(move |sink| Box::pin(read(sink))),
            look_up: None,
        }
    }

    /// With a look-up of one unit; no unit means that the source has it no more.
    #[must_use]
    pub fn with_look_up<F>(
        mut self,
        look_up: impl Fn(Identifiers) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<Unit>, String>> + Send + 'static,
    {
        self.look_up = Some(Box::new(move |ids| Box::pin(look_up(ids))));
        self
    }
}
