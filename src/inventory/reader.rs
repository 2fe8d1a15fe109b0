//! The seam between a source and the inventory: units, one after another. Must not keep any.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, mpsc};

use serde_json::{Map, Value};

use super::frame::Rejected;
use super::gone::Identifiers;
use super::snapshot::Snapshot;
use crate::sources::Mark;

/// Units on their way from a simple reader to the builder.
const UNITS_IN_FLIGHT: usize = 1024;

/// What a reading yields, unit by unit.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A complete AAP listing object.
    Listing(Map<String, Value>),
    /// One that was published before and still holds: it needs no new check.
    Known(Map<String, Value>),
    /// Of the listings sent so far, the one at this place from 0 gives way to another; and why.
    Withdrawn(usize, String),
    /// A unit that the source has and that may not be shown: sold or withdrawn.
    Hidden(Identifiers),
    /// A row that could not be mapped; the reason holds no value of it.
    Rejected(String),
}

/// What a reading is asked for.
#[derive(Debug)]
pub struct Request {
    pub sink: Sink,
    /// What the last published reading left; nothing before the first.
    pub trace: Option<Arc<Trace>>,
    /// What is known now; a reading of only what changed is joined with it.
    pub current: Option<Current>,
    /// Whether asking for what changed suffices; otherwise everything is looked at.
    pub changes: bool,
    /// A person has looked and wants this reading as it is.
    pub accept: bool,
}

/// What a reading of changes is joined with.
#[derive(Clone, Debug)]
pub enum Current {
    /// What is published.
    Snapshot(Arc<Snapshot>),
    /// What one seller of several gave the last time.
    Units(Arc<Vec<Unit>>),
}

impl Current {
    /// The listings of it as units to send again, save those that `left_out` says are told anew.
    pub(super) fn units<'a>(
        &'a self,
        left_out: &'a dyn Fn(Named<'_>) -> bool,
    ) -> Box<dyn Iterator<Item = Unit> + 'a> {
        match self {
            Self::Snapshot(snapshot) => {
                let listings = snapshot.listings().iter();
                let kept = listings.filter(move |listing| {
                    !left_out(Named {
                        vehicle_id: Some(&listing.vehicle_id),
                        vin: listing.vin.as_deref(),
                        stock: listing.stock.as_deref(),
                    })
                });
                Box::new(kept.filter_map(|listing| listing.to_object().map(Unit::Known)))
            }
            Self::Units(units) => {
                let withdrawn: BTreeSet<usize> = units.iter().filter_map(Unit::withdrawn).collect();
                let listings = units.iter().filter_map(Unit::listing).enumerate();
                let kept = listings.filter(move |(at, listing)| {
                    let text = |name| listing.get(name).and_then(Value::as_str);
                    let named = Named {
                        vehicle_id: text("vehicle_id"),
                        vin: text("vin"),
                        stock: text("stock"),
                    };
                    !withdrawn.contains(at) && !left_out(named)
                });
                // Nobody checked these against the contract yet.
                Box::new(kept.map(|(_, listing)| Unit::Listing(listing.clone())))
            }
        }
    }
}

/// What a listing is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) vehicle_id: Option<&'a str>,
    pub(super) vin: Option<&'a str>,
    pub(super) stock: Option<&'a str>,
}

impl Unit {
    fn withdrawn(&self) -> Option<usize> {
        match self {
            Self::Withdrawn(at, _) => Some(*at),
            Self::Listing(_) | Self::Known(_) | Self::Hidden(_) | Self::Rejected(_) => None,
        }
    }

    /// The listing, when it is one.
    pub(super) fn listing(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Listing(listing) | Self::Known(listing) => Some(listing),
            Self::Withdrawn(..) | Self::Hidden(_) | Self::Rejected(_) => None,
        }
    }
}

/// How a reading ended that did not fail.
#[derive(Debug)]
pub enum Told {
    /// All units were sent.
    Units(Trace),
    /// Nothing has changed since the trace, and no unit was sent.
    Same(Trace),
}

/// Why a reading failed; the words are for operators.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{words}")]
pub struct Failed {
    pub words: String,
    /// Waiting does not help: the source is asked for what it does not have, or in a way that cannot work.
    pub lasting: bool,
}

impl From<String> for Failed {
    fn from(words: String) -> Self {
        Self {
            words,
            lasting: false,
        }
    }
}

/// What a published reading leaves for the next one.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub mark: Mark,
    /// Columns that the mapping names and the source lacked.
    pub missing_columns: BTreeSet<String>,
    /// Fields of published listings that were left out because their cells could not be read.
    pub dirty: Rejected,
    /// Those that most listings lack.
    pub spoilt: BTreeSet<String>,
}

/// Where units go. It is full when the builder is behind: a sender waits.
#[derive(Clone, Debug)]
pub struct Sink(mpsc::SyncSender<Unit>);

impl Sink {
    pub(super) fn new(sender: mpsc::SyncSender<Unit>) -> Self {
        Self(sender)
    }

    /// Hands a unit over; blocks, so only a thread that may wait calls it.
    pub fn give(&self, unit: Unit) -> Result<(), String> {
        let ended = |_| "the builder ended early".to_owned();
        self.0.send(unit).map_err(ended)
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Read = dyn Fn(Request) -> Boxed<Result<Told, Failed>> + Send + Sync;
type LookUp = dyn Fn(Identifiers) -> Boxed<Result<Vec<Unit>, String>> + Send + Sync;
type Glance = dyn Fn() -> Option<String> + Send + Sync;

/// How an inventory is read: all of it, and, where the source can, one unit.
pub struct Reader {
    pub(super) read: Box<Read>,
    pub(super) look_up: Option<Box<LookUp>>,
    /// How the source looks from outside, where that shows whether it changed.
    pub(super) glance: Option<Arc<Glance>>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("look_up", &self.look_up.is_some())
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader that is told what it is asked for; an error is the private cause.
    pub fn asked<F>(read: impl Fn(Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Told, String>> + Send + 'static,
    {
        Self::telling(move |request| {
            let reading = read(request);
            async move { reading.await.map_err(Failed::from) }
        })
    }

    /// The same; an error says whether waiting helps.
    pub fn telling<F>(read: impl Fn(Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Told, Failed>> + Send + 'static,
    {
        Self {
            read: Box::new(move |request| Box::pin(read(request))),
            look_up: None,
            glance: None,
        }
    }

    /// A reader that sends every unit into the given channel, whatever is asked.
    pub fn new<F>(
        read: impl Fn(tokio::sync::mpsc::Sender<Unit>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self::asked(move |request| {
            let (sender, mut units) = tokio::sync::mpsc::channel(UNITS_IN_FLIGHT);
            let reading = read(sender);
            let forwarding = tokio::task::spawn_blocking(move || {
                while let Some(unit) = units.blocking_recv() {
                    request.sink.give(unit)?;
                }
                Ok::<(), String>(())
            });
            async move {
                let (read, forwarded) = tokio::join!(reading, forwarding);
                read?;
                forwarded.map_err(|error| error.to_string())??;
                Ok(Told::Units(Trace::default()))
            }
        })
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

    /// With a way to see from outside that there is something new.
    #[must_use]
    pub fn with_glance(
        mut self,
        glance: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.glance = Some(Arc::new(glance));
        self
    }
}
