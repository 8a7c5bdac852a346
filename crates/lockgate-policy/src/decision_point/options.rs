//! How a decision point is reached.

use std::time::Duration;

use lockgate_host::http::is_loopback;
use reqwest::Url;
use reqwest::header::HeaderValue;

use super::error::DecisionPointError;

/// Options of a [`DecisionPoint`](super::DecisionPoint). Only [`url`](Self::url) has no default.
#[derive(Debug, Clone)]
pub struct DecisionPointOptions {
    /// Where it is asked: https, or http on this machine. It holds no user and no password.
    pub url: String,
    /// The most time for one answer, from connecting to the last byte. Default: 2 seconds.
    pub timeout: Duration,
    /// The variable that holds the token which is sent as `Authorization: Bearer`; it must be set. Default: none is sent.
    pub token_variable: Option<String>,
    /// Whether plain HTTP to another machine is accepted. Default: no.
    pub allow_insecure: bool,
}

impl DecisionPointOptions {
    /// The defaults for a URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), timeout: Duration::from_secs(2), token_variable: None, allow_insecure: false }
    }

    /// Checks the options and reads the token.
    pub(super) fn resolve(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(Url, Duration, Option<HeaderValue>), DecisionPointError> {
        if self.timeout.is_zero() {
            return Err(DecisionPointError::Timeout);
        }
        // Its text is not repeated: it may hold a password.
        let url = Url::parse(self.url.trim()).map_err(|_| DecisionPointError::Url("it is no URL"))?;
        let host = url.host_str().ok_or(DecisionPointError::Url("it names no machine"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(DecisionPointError::Url("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(DecisionPointError::Url("it holds a user or a password; a token comes from `token_env`"));
        }
        if url.fragment().is_some() {
            return Err(DecisionPointError::Url("it has a fragment"));
        }
        if url.scheme() == "http" && !is_loopback(&url) && !self.allow_insecure {
            return Err(DecisionPointError::Insecure(host.to_owned()));
        }
        let token = match self.token_variable {
            None => None,
            Some(name) => {
                let text = variable(&name).filter(|text| !text.trim().is_empty());
                let header = text.and_then(|text| HeaderValue::from_str(&format!("Bearer {}", text.trim())).ok());
                let mut header = header.ok_or(DecisionPointError::Token(name))?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        Ok((url, self.timeout, token))
    }
}

#[cfg(test)]
mod tests;
