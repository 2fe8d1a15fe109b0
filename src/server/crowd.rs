//! Connections that one address may hold at a time. Must not know what they are for.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::throttle::network;

/// Who holds how many; no longer than the connections themselves are many.
#[derive(Debug, Default)]
pub(super) struct Crowd(Mutex<HashMap<IpAddr, usize>>);

/// One connection's place.
#[derive(Debug)]
pub(super) struct Place(Arc<Crowd>, IpAddr);

impl Crowd {
    /// A place for one more connection, unless the address has `most` already.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr, most: usize) -> Option<Place> {
        let address = network(address);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.entry(address).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place(Arc::clone(self), address))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let crowd = Arc::new(Crowd::default());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let first = crowd.enter(address, 2).unwrap();
        let _second = crowd.enter(address, 2).unwrap();
        assert!(crowd.enter(address, 2).is_none());
        assert!(crowd.enter("192.0.2.2".parse().unwrap(), 2).is_some());
        drop(first);
        assert!(crowd.enter(address, 2).is_some());
        assert_eq!(crowd.0.lock().unwrap().len(), 1, "who is gone is forgotten");
    }
}
