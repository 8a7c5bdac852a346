//! How other machines are reached over HTTP: where somebody said, and nowhere else (feature `http`).

use std::error::Error as _;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::{Client, Response, Url};
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
