//! How other machines are reached over HTTP: where somebody said, and nowhere else (feature `http`).

mod lines;
mod reach;

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

pub use lines::Lines;
pub use reach::{OutOfReach, Reach, Zone};
use reqwest::{Client, ClientBuilder, Response, Url};
use rustls::crypto::CryptoProvider;

/// A client for one address: no redirects, which could carry what is sent elsewhere, and no proxies from the environment. One
/// request takes no longer than `timeout`.
///
/// # Errors
///
/// The machine's certificates cannot be used.
pub fn client(url: &Url, timeout: Duration) -> reqwest::Result<Client> {
    builder(url).timeout(timeout).build()
}

/// Like [`client`], for whoever watches the time of each request: none ends by itself.
///
/// # Errors
///
/// The machine's certificates cannot be used.
pub fn patient_client(url: &Url) -> reqwest::Result<Client> {
    builder(url).build()
}

/// Like [`client`], for a URL that somebody else could have chosen: it connects to these addresses and no others, whatever the
/// host's name means by the time.
///
/// # Errors
///
/// The machine's certificates cannot be used.
pub fn client_at(url: &Url, addresses: &[SocketAddr], timeout: Duration) -> reqwest::Result<Client> {
    let host = url.host_str().unwrap_or_default();
    builder(url).timeout(timeout).resolve_to_addrs(host, addresses).build()
}

/// The addresses that a URL's host has now. It blocks its thread.
///
/// # Errors
///
/// The host has none, or nobody can say.
pub fn addresses(url: &Url) -> io::Result<Vec<SocketAddr>> {
    url.socket_addrs(|| None)
}

/// Whether an address is one of the public Internet: nobody's own network, no machine itself, nothing that is set aside.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, third, _] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_documentation()
                || address.is_multicast()
                || first == 0
                || first >= 240
                || first == 100 && second & 0xc0 == 64
                || first == 198 && second & 0xfe == 18
                || (first, second, third) == (192, 0, 0))
        }
        IpAddr::V6(address) => {
            let [first, second, third, ..] = address.segments();
            // Only 2000::/3 is given out; of it 2002::/16 and 64:ff9b::/96 outside of it hold addresses of version 4.
            first & 0xe000 == 0x2000 && first != 0x2002 && !(first == 0x2001 && (second == 0xdb8 || second < 0x200))
                || address.to_ipv4_mapped().is_some_and(|address| is_public(address.into()))
                || (first, second, third) == (0x64, 0xff9b, 0) && is_public(embedded(address).into())
        }
    }
}

/// The address of version 4 in the last 32 bits.
fn embedded(address: Ipv6Addr) -> Ipv4Addr {
    let [.., first, second, third, fourth] = address.octets();
    Ipv4Addr::new(first, second, third, fourth)
}

fn builder(url: &Url) -> ClientBuilder {
    if CryptoProvider::get_default().is_none() {
        // Losing the race against another thread means that a provider is installed, which is all that is wanted.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut builder = Client::builder()
        .user_agent(concat!("lockgate/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        // HTTP/1.1 refuses nothing in a way that is sent again, and each request would be copied in case it does.
        .retry(reqwest::retry::never().max_retries_per_request(0));
    if url.scheme() == "http" {
        // Nothing is verified on a plain connection, so a machine without a certificate store can still reach its own
        // servers. Without roots, no https connection could succeed through this client either.
        let tls = rustls::ClientConfig::builder()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder
}

/// Whether a URL names this machine by an address or name that cannot mean another one.
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Why a body cannot be had.
#[derive(Debug)]
pub enum BodyError {
    /// It is longer than it may be.
    TooLarge,
    /// The connection ended before it did.
    Broken(reqwest::Error),
}

/// Reads a body, and stops at the first byte past `most`.
///
/// # Errors
///
/// It is longer, or it does not come whole.
pub async fn read_body(mut answer: Response, most: usize) -> Result<Vec<u8>, BodyError> {
    if answer.content_length().is_some_and(|length| usize::try_from(length).map_or(true, |length| length > most)) {
        return Err(BodyError::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(BodyError::Broken)? {
        if body.len() + chunk.len() > most {
            return Err(BodyError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong on the way, with its causes and without the URL, which may hold a token.
pub fn explain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
