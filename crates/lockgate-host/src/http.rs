//! How other machines are reached over HTTP: where somebody said, and nowhere else (feature `http`).

use std::net::IpAddr;
use std::time::Duration;

use reqwest::{Client, Url};
use rustls::crypto::CryptoProvider;

/// A client for one address: no redirects, which could carry what is sent elsewhere, and no proxies from the environment. One
/// request takes no longer than `timeout`.
///
/// # Errors
///
/// The machine's certificates cannot be used.
pub fn client(url: &Url, timeout: Duration) -> reqwest::Result<Client> {
    if CryptoProvider::get_default().is_none() {
        // Losing the race against another thread means that a provider is installed, which is all that is wanted.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut builder = Client::builder()
        .user_agent(concat!("lockgate/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(timeout);
    if url.scheme() == "http" {
        // Nothing is verified on a plain connection, so a machine without a certificate store can still reach its own
        // servers. Without roots, no https connection could succeed through this client either.
        let tls = rustls::ClientConfig::builder()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    }
    builder.build()
}

/// Whether a URL names this machine by an address or name that cannot mean another one.
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
