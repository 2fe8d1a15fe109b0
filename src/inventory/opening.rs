//! How an inventory begins: opened with what is remembered of the process before it, then read for the first
//! time. Must not decide what becomes of one whose first reading fails.

use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, ArcSwapOption};

use super::admission::Check;
use super::frame::Frame;
use super::gone::Gone;
use super::re_read::LookUps;
use super::reader::Reader;
use super::refresh::RefreshError;
use super::settings::Settings;
use super::timings::Timings;
use super::{Inventory, InventoryError};
use crate::clock::Clock;
use crate::seal::KeyRing;

impl Inventory {
    /// Ready to be read. Until a reading was published, questions fail as retryable, save for a unit that is
    /// known to be gone.
    pub fn open(
        settings: Settings,
        reader: Reader,
        frame: Frame,
        check: Arc<Check>,
        keys: Arc<KeyRing>,
        clock: Clock,
    ) -> Result<Arc<Self>, InventoryError> {
        let inventory = Arc::new(Self {
            settings,
            frame: Arc::new(frame),
            check,
            reader,
            keys: ArcSwap::new(keys),
            clock,
            current: ArcSwapOption::empty(),
            gone: ArcSwap::from_pointee(Gone::default()),
            look_ups: LookUps::default(),
            readings: tokio::sync::Mutex::default(),
            status: Mutex::default(),
            timings: Timings::default(),
            confirmed_at: AtomicI64::new(i64::MIN),
            glanced: Mutex::default(),
        });
        inventory
            .remember()
            .map_err(|error| InventoryError::Source(error.to_string()))?;
        Ok(inventory)
    }

    /// Reads once and is ready to answer.
    pub async fn with_reader(
        settings: Settings,
        reader: Reader,
        frame: Frame,
        check: Arc<Check>,
        keys: Arc<KeyRing>,
        clock: Clock,
    ) -> Result<Arc<Self>, InventoryError> {
        let inventory = Self::open(settings, reader, frame, check, keys, clock)?;
        let first = inventory.first_reading().await;
        first.map_err(|error| InventoryError::Source(error.to_string()))?;
        Ok(inventory)
    }

    /// The first reading, held against what the process before this one offered.
    pub async fn first_reading(self: &Arc<Self>) -> Result<(), RefreshError> {
        // A person may have looked at what was not published then.
        if self.order() == Some(true) {
            self.accept_shrink().await;
        }
        self.refresh().await
    }

    /// Seals with these keys from now on.
    pub fn use_keys(&self, keys: Arc<KeyRing>) {
        self.keys.store(keys);
    }

    fn remember(&self) -> Result<(), RefreshError> {
        if let Some(directory) = &self.settings.directory {
            let gone = Gone::read(directory).map_err(RefreshError::Memory)?;
            self.gone.store(Arc::new(gone));
        }
        Ok(())
    }
}
