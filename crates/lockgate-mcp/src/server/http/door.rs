//! Which pages of which hosts may come in. A page in a browser can reach loopback, and a name of its own can be made to lead there
//! (DNS rebinding): what is not named is refused before anything is read.

use std::net::{IpAddr, SocketAddr};

use http::HeaderValue;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;

/// The hosts and origins that are let in.
#[derive(Debug, Clone)]
pub(super) struct Door {
    bound: Option<SocketAddr>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Door {
    pub(super) fn new(bound: Option<SocketAddr>, hosts: &[String], origins: &[String]) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { bound, hosts: lower(hosts), origins: lower(origins) }
    }

    /// Whether this request may come in, and the page that sent it, where it was one.
    ///
    /// # Errors
    ///
    /// The header that speaks against it.
    pub(super) fn check<'a>(&self, parts: &'a Parts) -> Result<Option<&'a HeaderValue>, &'static str> {
        self.check_host(parts)?;
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let allowed = origin.to_str().is_ok_and(|origin| self.allows(origin)) && origins.next().is_none();
        if allowed { Ok(Some(origin)) } else { Err("Origin") }
    }

    /// Whether this request means a host that this is.
    ///
    /// # Errors
    ///
    /// The header that speaks against it.
    pub(super) fn check_host(&self, parts: &Parts) -> Result<(), &'static str> {
        let named: Vec<_> = parts.headers.get_all(HOST).iter().collect();
        let host = match named.as_slice() {
            [] => parts.uri.authority().cloned(),
            [host] => host.to_str().ok().and_then(|host| host.parse().ok()),
            _ => None,
        };
        let is_known = host.is_some_and(|host| self.knows(&host, &self.hosts, host.as_str()));
        if is_known { Ok(()) } else { Err("Host") }
    }

    /// Whether pages of this origin may come in.
    fn allows(&self, origin: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.and_then(|host| host.parse::<Authority>().ok()).is_some_and(|host| self.knows(&host, &[], ""))
    }

    /// Loopback by any of its names, the address that is listened on, and what is named: a host with or without its port.
    fn knows(&self, host: &Authority, named: &[String], whole: &str) -> bool {
        if host.as_str().contains('@') {
            return false;
        }
        let name = host.host().to_ascii_lowercase();
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        name == "localhost"
            || address.is_some_and(|address| {
                address.is_loopback()
                    || self.bound.is_some_and(|bound| bound.ip() == address && !address.is_unspecified())
            })
            || named.iter().any(|named| *named == name || named.eq_ignore_ascii_case(whole))
    }
}
