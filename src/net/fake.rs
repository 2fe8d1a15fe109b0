//! A network for tests, as a fixed clock is a clock for tests: names and routes are what the test says. Nothing
//! that is served uses it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Names and routes, and what was asked of them.
#[derive(Default)]
pub struct FakeNetwork(Mutex<Fake>);

#[derive(Default)]
struct Fake {
    names: BTreeMap<String, Vec<Vec<SocketAddr>>>,
    routes: BTreeMap<SocketAddr, SocketAddr>,
    dialled: Vec<SocketAddr>,
    asked: Vec<String>,
}

impl FakeNetwork {
    /// An empty network: no name resolves, every connection fails.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers each next question for `name` with the next of `answers`; the last one stays.
    pub fn name(&self, name: &str, answers: Vec<Vec<SocketAddr>>) {
        self.with(|fake| fake.names.insert(name.to_owned(), answers));
    }

    /// Lets connections to `from` end at the real address `to`.
    pub fn route(&self, from: SocketAddr, to: SocketAddr) {
        self.with(|fake| fake.routes.insert(from, to));
    }

    /// Every address dialled so far.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        self.with(|fake| fake.dialled.clone())
    }

    /// Every name asked for so far.
    pub fn asked(&self) -> Vec<String> {
        self.with(|fake| fake.asked.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut Fake) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn look_up(&self, host: &str) -> Vec<SocketAddr> {
        self.with(|fake| {
            fake.asked.push(host.to_owned());
            let Some(answers) = fake.names.get_mut(host) else {
                return Vec::new();
            };
            if answers.len() > 1 {
                answers.remove(0)
            } else {
                answers.first().cloned().unwrap_or_default()
            }
        })
    }

    pub(super) fn dial(&self, to: SocketAddr) -> io::Result<SocketAddr> {
        self.with(|fake| {
            fake.dialled.push(to);
            fake.routes.get(&to).copied()
        })
        .ok_or_else(|| io::Error::from(io::ErrorKind::HostUnreachable))
    }
}

impl fmt::Debug for FakeNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeNetwork").finish_non_exhaustive()
    }
}
