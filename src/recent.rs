//! What was used lately, by name, bounded in number: for answers that cost more to make than to keep. Must not
//! know what it keeps.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Values by name: those that were used lately, and those that were used before. When the first are full, the
/// others go.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    /// Values that are kept at least, and half of those that are kept at most.
    kept: usize,
    generations: RwLock<Generations<V>>,
}

#[derive(Debug)]
struct Generations<V> {
    lately: HashMap<Box<str>, V>,
    before: HashMap<Box<str>, V>,
}

impl<V: Clone> Recent<V> {
    /// Nothing yet, and never more than twice `kept`.
    pub(crate) fn new(kept: usize) -> Self {
        Self {
            kept,
            generations: RwLock::new(Generations {
                lately: HashMap::new(),
                before: HashMap::new(),
            }),
        }
    }

    /// The value of this name, which counts as used.
    pub(crate) fn get(&self, name: &str) -> Option<V> {
        // What a panic elsewhere leaves here is whole: maps of finished values.
        let read = self.generations.read();
        let known = read.unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = known.lately.get(name) {
            return Some(value.clone());
        }
        if !known.before.contains_key(name) {
            return None;
        }
        drop(known);
        self.write(|known| {
            let (name, value) = known.before.remove_entry(name)?;
            known.put(self.kept, name, value.clone());
            Some(value)
        })
    }

    /// Keeps a value, in the place of an older one of this name.
    pub(crate) fn put(&self, name: impl Into<Box<str>>, value: V) {
        let name = name.into();
        self.write(|known| known.put(self.kept, name, value));
    }

    fn write<T>(&self, act: impl FnOnce(&mut Generations<V>) -> T) -> T {
        let write = self.generations.write();
        act(&mut write.unwrap_or_else(PoisonError::into_inner))
    }
}

impl<V> Generations<V> {
    fn put(&mut self, kept: usize, name: Box<str>, value: V) {
        if self.lately.len() >= kept && !self.lately.contains_key(&name) {
            self.before = std::mem::take(&mut self.lately);
        }
        self.before.remove(&name);
        self.lately.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_number_is_bounded() {
        let recent = Recent::new(8);
        recent.put("used", 0);
        for n in 1..1000 {
            assert_eq!(recent.get("used"), Some(0));
            recent.put(format!("once {n}"), n);
            let known = recent.generations.read().unwrap();
            assert!(known.lately.len() + known.before.len() <= 16);
        }
        assert_eq!(recent.get("once 3"), None);
        assert_eq!(recent.get("once 999"), Some(999));
    }

    #[test]
    fn the_newest_value_of_a_name_is_the_only_one() {
        let recent = Recent::new(2);
        for (name, value) in [("a", 1), ("b", 2), ("c", 3), ("a", 4), ("d", 5), ("e", 6)] {
            recent.put(name, value);
            assert_eq!(recent.get(name), Some(value));
        }
        assert_eq!(recent.get("a"), Some(4));
        assert_eq!(recent.get("b"), None);
    }
}
