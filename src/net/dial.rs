//! From a host name to a connection: look up, judge every address, dial only what was judged. The name
//! is never looked up a second time, so an answer that changes in between changes nothing (AAP-233).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::{FakeNetwork, NetError, Reach, address};

/// Addresses tried for one name.
const MAX_ADDRESSES: usize = 6;
/// Look-ups that may stand in the blocking pool at once, over all clients: of names that strangers gave, and of
/// the operator's own, which those must not hold up.
static STRANGERS: Semaphore = Semaphore::const_new(32);
static OPERATORS: Semaphore = Semaphore::const_new(32);

/// Where names and connections come from.
#[derive(Clone, Debug, Default)]
pub enum Network {
    /// The machine's resolver and its network.
    #[default]
    System,
    /// A test's: names of its own, and connections that end at listeners of its own.
    Fake(Arc<FakeNetwork>),
}

/// Opens a connection to `host` (a name, or an IPv4 or unbracketed IPv6 literal).
pub(super) async fn connect(
    network: &Network,
    reach: Reach,
    host: &str,
    port: u16,
) -> Result<TcpStream, NetError> {
    let addresses = look_up(network, reach, host, port).await?;
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

async fn look_up(
    network: &Network,
    reach: Reach,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, NetError> {
    // a literal is judged like a looked-up address
    if let Ok(ip) = host.parse() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    match network {
        Network::System => {
            let places = match reach {
                Reach::Site => &OPERATORS,
                Reach::Public | Reach::Loopback | Reach::Any => &STRANGERS,
            };
            let name = (host.to_owned(), port);
            let found = to_the_end(places, async move {
                tokio::net::lookup_host(name).await.map(Iterator::collect)
            });
            found.await.map_err(|error| NetError::Resolve(Some(error)))
        }
        Network::Fake(fake) => Ok(fake.look_up(host)),
    }
}

/// Runs a look-up that nobody can call back: it has its place until it ends, however soon nobody waits for it any
/// more. So names that are never answered do not fill the pool.
async fn to_the_end<T: Send + 'static>(
    places: &'static Semaphore,
    look_up: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<T> {
    let place = places.acquire().await.map_err(io::Error::other)?;
    let task = tokio::spawn(async move {
        let found = look_up.await;
        drop(place);
        found
    });
    task.await.map_err(io::Error::other)?
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

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_look_up_that_nobody_waits_for_any_more_keeps_its_place() {
        static PLACES: Semaphore = Semaphore::const_new(1);
        let (answer, answered) = oneshot::channel();
        let mut look_up = Box::pin(to_the_end(&PLACES, async {
            answered.await.map_err(io::Error::other)
        }));
        tokio::select! {
            biased;
            _ = &mut look_up => panic!("nobody has answered"),
            () = std::future::ready(()) => {}
        }
        drop(look_up);
        tokio::task::yield_now().await;
        assert_eq!(PLACES.available_permits(), 0);
        answer.send(()).unwrap();
        let next = to_the_end(&PLACES, async { Ok("found") }).await;
        assert_eq!(next.unwrap(), "found");
    }
}
