//! From a host name to a connection: look up, judge every address, dial only what was judged. The name
//! is never looked up a second time, so an answer that changes in between changes nothing (AAP-233).

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::{NetError, Reach, address};

/// Addresses tried for one name.
const MAX_ADDRESSES: usize = 6;
/// Look-ups that may wait in the blocking pool at once, over all clients.
static LOOK_UPS: Semaphore = Semaphore::const_new(32);

/// Where names and connections come from.
#[derive(Clone, Debug, Default)]
pub enum Network {
    /// The machine's resolver and its network.
    #[default]
    System,
    /// A test's: names of its own, and connections that end at listeners of its own.
    Fake(Arc<FakeNetwork>),
}

/// A network for tests, as a fixed clock is a clock for tests.
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

    fn look_up(&self, host: &str) -> Vec<SocketAddr> {
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

    fn dial(&self, to: SocketAddr) -> io::Result<SocketAddr> {
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

/// Opens a connection to `host` (a name, or an IPv4 or unbracketed IPv6 literal).
pub(super) async fn connect(
    network: &Network,
    reach: Reach,
    host: &str,
    port: u16,
) -> Result<TcpStream, NetError> {
    let addresses = look_up(network, host, port).await?;
    if addresses.is_empty() {
        return Err(NetError::Resolve(None));
    }
    // one forbidden address among good ones is an attempt, not an accident
    if addresses.iter().any(|a| !address::permitted(reach, a.ip())) {
        return Err(NetError::Address);
    }
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses.into_iter().take(MAX_ADDRESSES) {
        match dial(network, address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(NetError::Connect(last))
}

async fn look_up(network: &Network, host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
    // a literal is judged like a looked-up address
    if let Ok(ip) = host.parse() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    match network {
        Network::System => {
            let resolve = |error| NetError::Resolve(Some(error));
            let permit = LOOK_UPS.acquire().await;
            let found = tokio::net::lookup_host((host, port))
                .await
                .map_err(resolve)?;
            drop(permit);
            Ok(found.collect())
        }
        Network::Fake(fake) => Ok(fake.look_up(host)),
    }
}

async fn dial(network: &Network, address: SocketAddr) -> io::Result<TcpStream> {
    let target = match network {
        Network::System => address,
        Network::Fake(fake) => fake.dial(address)?,
    };
    let stream = TcpStream::connect(target).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
