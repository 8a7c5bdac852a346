//! Which addresses a URL that somebody else wrote may lead to.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};

use super::{builder, is_loopback, is_public};

/// The kinds of addresses that may be reached. Public ones always are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    besides: BTreeSet<Zone>,
}

/// What kind of address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Anybody's.
    Public,
    /// A network of one's own (RFC 1918, RFC 6598, RFC 4193).
    Private,
    /// The cable that this machine hangs on; clouds tell machines their secrets there (RFC 3927, RFC 4291).
    LinkLocal,
    /// This machine.
    Loopback,
    /// No machine: unspecified, multicast, reserved.
    Nowhere,
}

/// A URL leads to where it may not lead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` is {place}, which is not reached from here")]
pub struct OutOfReach {
    host: String,
    place: &'static str,
}

/// How long a name is looked up.
const LOOKUP: Duration = Duration::from_secs(5);

impl Reach {
    /// Public addresses alone.
    pub fn public() -> Self {
        Self::default()
    }

    /// Public addresses, and those of the kind that this URL leads to: who speaks with a machine may speak with its neighbours. A name
    /// that leads to several kinds adds none.
    pub async fn around(url: &Url) -> Self {
        let zones = match literal(url) {
            Some(address) => BTreeSet::from([Zone::of(address)]),
            None if is_loopback(url) => BTreeSet::from([Zone::Loopback]),
            None => match url.host_str() {
                Some(host) => look_up(host).await.unwrap_or_default().iter().map(|to| Zone::of(to.ip())).collect(),
                None => BTreeSet::new(),
            },
        };
        let besides = if zones.len() == 1 { zones } else { BTreeSet::new() };
        Self { besides: besides.into_iter().filter(|zone| *zone != Zone::Nowhere).collect() }
    }

    /// Another kind besides.
    #[must_use]
    pub fn and(mut self, zone: Zone) -> Self {
        self.besides.insert(zone);
        self
    }

    /// Whether addresses of this kind are reached.
    pub fn covers(&self, zone: Zone) -> bool {
        zone == Zone::Public || self.besides.contains(&zone)
    }

    /// Whether the address that a URL names is reached. What a name leads to is seen when it is looked up.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn check(&self, url: &Url) -> Result<(), OutOfReach> {
        let zone = match literal(url) {
            Some(address) => Zone::of(address),
            None if is_loopback(url) => Zone::Loopback,
            None => return Ok(()),
        };
        if self.covers(zone) { Ok(()) } else { Err(OutOfReach::new(url.host_str().unwrap_or_default(), zone)) }
    }

    /// A client as [`client`](super::client) makes it, that connects to no address out of reach, whatever a name is looked up to. The URL itself is to
    /// be [checked](Self::check) before.
    ///
    /// # Errors
    ///
    /// The machine's certificates cannot be used.
    pub fn client(&self, url: &Url, timeout: Duration) -> reqwest::Result<Client> {
        builder(url).timeout(timeout).dns_resolver(Arc::new(Within(self.clone()))).build()
    }
}

impl Zone {
    /// The kind of an address. One that carries another inside is of the other's kind.
    pub fn of(address: IpAddr) -> Self {
        match address {
            address if is_public(address) => Self::Public,
            IpAddr::V4(address) => Self::of_four(address),
            IpAddr::V6(address) => inside(address).map_or_else(|| Self::of_six(address), Self::of_four),
        }
    }

    fn of_four(address: Ipv4Addr) -> Self {
        let [first, second, ..] = address.octets();
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_link_local() {
            Self::LinkLocal
        } else if address.is_private() || (first == 100 && second & 0xc0 == 64) {
            Self::Private
        } else {
            Self::Nowhere
        }
    }

    fn of_six(address: Ipv6Addr) -> Self {
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_unicast_link_local() {
            Self::LinkLocal
        } else if address.is_unique_local() {
            Self::Private
        } else {
            Self::Nowhere
        }
    }

    const fn place(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "a link-local address",
            Self::Loopback => "this machine",
            Self::Nowhere => "no machine's address",
        }
    }
}

impl OutOfReach {
    fn new(host: &str, zone: Zone) -> Self {
        Self { host: host.to_owned(), place: zone.place() }
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (RFC 6052) or tunnelled (RFC 3056).
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let four = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] if !(high == 0 && low < 2) => four(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => four(high, low),
        _ => None,
    }
}

/// The address that stands in a URL itself.
fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

async fn look_up(host: &str) -> std::io::Result<Vec<SocketAddr>> {
    let found = tokio::time::timeout(LOOKUP, tokio::net::lookup_host((host, 0))).await;
    Ok(found.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))??.collect())
}

/// Looks names up, and forgets the addresses that are out of reach.
struct Within(Reach);

impl Resolve for Within {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0.clone();
        Box::pin(async move {
            let host = name.as_str();
            let found = look_up(host).await?;
            let within: Vec<_> = found.iter().copied().filter(|to| reach.covers(Zone::of(to.ip()))).collect();
            if let (Some(first), true) = (found.first(), within.is_empty()) {
                return Err(OutOfReach::new(host, Zone::of(first.ip())).into());
            }
            Ok(Box::new(within.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
