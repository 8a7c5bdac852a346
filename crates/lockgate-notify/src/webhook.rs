//! Over HTTP, signed: whoever is called can see that the message is Lockgate's, and fresh.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::hexadecimal::digits;
use lockgate_contract::ports::Clock;
use lockgate_host::clock::SystemClock;
use lockgate_host::http::{client, is_loopback};
use lockgate_host::seal::seal;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};

use crate::error::TargetError;

/// The header with the seconds since the Unix epoch at which the message was signed.
pub const TIMESTAMP: &str = "lockgate-timestamp";
/// The header with the signature: `v1=` and the HMAC-SHA256 over timestamp, a dot and the body, in hexadecimal.
pub const SIGNATURE: &str = "lockgate-signature";

/// How often a message is sent at most, and how long it is waited before the second time.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(250);

/// One webhook.
#[derive(Clone)]
pub struct Webhook {
    url: Url,
    secret: Arc<[u8]>,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Webhook {
    /// Sends there, and signs with this secret. One attempt takes no longer than `timeout`.
    ///
    /// # Errors
    ///
    /// The URL is none, or it is plain HTTP to another machine.
    pub fn new(url: &str, secret: impl Into<Vec<u8>>, timeout: Duration) -> Result<Self, TargetError> {
        let parsed = Url::parse(url).ok().filter(|url| url.host_str().is_some());
        let parsed = parsed.filter(|url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(url));
        let url = parsed.ok_or_else(|| TargetError::Url(without_user(url)))?;
        let client = client(&url, timeout).map_err(|error| TargetError::Client(error.to_string()))?;
        Ok(Self { url, secret: secret.into().into(), client, clock: Arc::new(SystemClock) })
    }

    /// Sends a message; again where the other side does not take it.
    pub(crate) async fn send(&self, body: &str) -> Result<(), String> {
        let mut pause = PAUSE;
        let mut attempt = 1;
        loop {
            let failed = match self.attempt(body).await {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            if attempt == ATTEMPTS {
                return Err(failed);
            }
            tokio::time::sleep(pause).await;
            pause *= 4;
            attempt += 1;
        }
    }

    async fn attempt(&self, body: &str) -> Result<(), String> {
        let now = self.clock.now().as_millis() / 1000;
        let answer = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(TIMESTAMP, now)
            .header(SIGNATURE, signature(&self.secret, now, body))
            .body(body.to_owned())
            .send()
            .await
            // The URL may hold a token.
            .map_err(|error| format!("the webhook was not reached: {}", error.without_url()))?;
        // What it says besides is nothing to go by: least of all a decision.
        if answer.status().is_success() { Ok(()) } else { Err(format!("the webhook answers {}", answer.status())) }
    }
}

/// The signature of a message.
pub fn signature(secret: &[u8], timestamp: i64, body: &str) -> String {
    format!("v1={}", digits(&seal(secret, &[format!("{timestamp}.").as_bytes(), body.as_bytes()])))
}

/// The URL as it may be shown.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}

/// Shows where it goes, and no secret.
impl fmt::Debug for Webhook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Webhook").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
