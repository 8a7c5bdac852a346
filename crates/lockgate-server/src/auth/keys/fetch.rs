//! Fetching an issuer's keys: from one place, without a detour.

use std::net::IpAddr;
use std::time::Duration;

use lockgate::host::http::{BodyError, addresses, client_at, explain, is_loopback, is_public, read_body};
use reqwest::Url;
use reqwest::header::ACCEPT;

use super::set::KeySet;

/// The longest set of keys.
pub(super) const MOST_BYTES: usize = 256 << 10;
/// How long fetching takes, at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where keys are fetched.
#[derive(Debug)]
pub(super) struct Place {
    url: Url,
    allow_private: bool,
}

impl Place {
    /// A place on the Internet, over https; plain http only on this machine.
    ///
    /// # Errors
    ///
    /// It is none.
    pub(super) fn new(url: &str, allow_private: bool) -> Result<Self, &'static str> {
        let url = Url::parse(url).ok().filter(|url| url.host_str().is_some()).ok_or("it is no URL")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it holds a user or a password");
        }
        match url.scheme() {
            "https" => Ok(Self { url, allow_private }),
            "http" if is_loopback(&url) => Ok(Self { url, allow_private }),
            _ => Err("it is https, or http on this machine"),
        }
    }

    /// The place as a log may have it.
    pub(super) fn shown(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Fetches them.
    ///
    /// # Errors
    ///
    /// Why not, in words.
    pub(super) async fn fetch(&self) -> Result<KeySet, String> {
        tokio::time::timeout(PATIENCE, self.fetched()).await.unwrap_or_else(|_| Err("it takes too long".to_owned()))
    }

    async fn fetched(&self) -> Result<KeySet, String> {
        let url = self.url.clone();
        let found = tokio::task::spawn_blocking(move || addresses(&url)).await;
        let found = found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Err("its host has no address".to_owned());
        }
        if !found.iter().all(|address| self.may_be_at(address.ip())) {
            return Err("its host is not on the Internet; `allow_private` allows that".to_owned());
        }
        // The addresses that were looked at are those that are connected to.
        let client = client_at(&self.url, &found, PATIENCE).map_err(explain)?;
        let answer = client.get(self.url.clone()).header(ACCEPT, "application/json").send().await.map_err(explain)?;
        if answer.status() != reqwest::StatusCode::OK {
            return Err(format!("it answers {}", answer.status()));
        }
        let body = read_body(answer, MOST_BYTES).await.map_err(|error| match error {
            BodyError::TooLarge => format!("it is longer than {MOST_BYTES} bytes"),
            BodyError::Broken(error) => explain(error),
        })?;
        KeySet::parse(str::from_utf8(&body).map_err(|_| "it is not UTF-8".to_owned())?)
    }

    /// Whether the host may have this address: http stays on this machine, https leaves every network of one's own.
    fn may_be_at(&self, address: IpAddr) -> bool {
        if self.url.scheme() == "http" { address.is_loopback() } else { self.allow_private || is_public(address) }
    }
}

#[cfg(test)]
mod tests;
