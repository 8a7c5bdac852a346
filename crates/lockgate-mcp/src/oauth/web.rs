//! How other machines are asked: only where they may be, without redirects, with a size and a time.

use std::time::Duration;

use lockgate_host::http::{BodyError, Reach, Zone, explain, is_loopback, read_body};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;

use super::error::{OAuthError, shown};
use super::{Secret, Settings};

/// The way to an issuer, as far as it may be gone.
#[derive(Debug, Clone)]
pub(super) struct Web {
    reach: Reach,
    patience: Duration,
}

/// An answer, and what was wanted of whom.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) what: &'static str,
    pub(super) url: String,
    pub(super) status: StatusCode,
    body: Vec<u8>,
}

/// A longer answer is not read: metadata are a few kilobytes, and so are tokens.
const LONGEST: usize = 256 << 10;
/// A longer URL is none.
const LONGEST_URL: usize = 4 << 10;

impl Web {
    /// As far as one may go who speaks with this server.
    pub(super) async fn around(server: &Url, settings: &Settings) -> Self {
        let reach = Reach::around(server).await;
        let reach = if settings.private_addresses { reach.and(Zone::Private).and(Zone::Loopback) } else { reach };
        Self { reach, patience: settings.patience }
    }

    /// Whether a URL may be visited: https, or http on this machine, and no address out of reach.
    pub(super) fn check(&self, what: &'static str, text: &str) -> Result<Url, OAuthError> {
        let url = check_form(what, text)?;
        self.reach.check(&url).map_err(|error| refused(what, text, error.to_string()))?;
        Ok(url)
    }

    pub(super) async fn get(&self, what: &'static str, text: &str) -> Result<Answer, OAuthError> {
        let url = self.check(what, text)?;
        let client = self.client(what, text, &url)?;
        self.send(what, text, client.get(url)).await
    }

    /// Posts a body of this type.
    pub(super) async fn post(
        &self,
        what: &'static str,
        text: &str,
        kind: &'static str,
        body: String,
        authorization: Option<&Secret>,
    ) -> Result<Answer, OAuthError> {
        let url = self.check(what, text)?;
        let client = self.client(what, text, &url)?;
        let mut request = client.post(url).header(CONTENT_TYPE, kind).body(body);
        if let Some(secret) = authorization {
            let value = HeaderValue::try_from(secret.expose());
            let mut value = value.map_err(|_| unusable(what, text, "the client's secret cannot be sent".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        self.send(what, text, request).await
    }

    fn client(&self, what: &'static str, text: &str, url: &Url) -> Result<reqwest::Client, OAuthError> {
        self.reach.client(url, self.patience).map_err(|error| unusable(what, text, explain(error)))
    }

    async fn send(&self, what: &'static str, text: &str, request: RequestBuilder) -> Result<Answer, OAuthError> {
        let answer = request.header(ACCEPT, "application/json").send().await;
        let answer = answer.map_err(|error| unusable(what, text, explain(error)))?;
        let status = answer.status();
        if status.is_redirection() {
            let why = format!("it sends us elsewhere (HTTP {}), where we do not go", status.as_u16());
            return Err(unusable(what, text, why));
        }
        let body = read_body(answer, LONGEST).await.map_err(|error| {
            let why = match error {
                BodyError::TooLarge => format!("the answer is longer than {LONGEST} bytes"),
                BodyError::Broken(error) => explain(error),
            };
            unusable(what, text, why)
        })?;
        Ok(Answer { what, url: text.to_owned(), status, body })
    }
}

impl Answer {
    /// The answer, where it was given with a status of success.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, OAuthError> {
        if !self.status.is_success() {
            return Err(self.unusable(format!("HTTP {}", self.status.as_u16())));
        }
        serde_json::from_slice(&self.body).map_err(|error| self.unusable(shown(&error.to_string())))
    }

    /// An answer with secrets: where it cannot be read, nothing of it is said.
    pub(super) fn secrets<T: DeserializeOwned>(&self) -> Result<T, OAuthError> {
        if !self.status.is_success() {
            return Err(self.unusable(format!("HTTP {}", self.status.as_u16())));
        }
        serde_json::from_slice(&self.body).map_err(|_| self.unusable("it is not what was asked for".to_owned()))
    }

    /// What an error of OAuth says, where it is one: its code and its description.
    pub(super) fn error(&self) -> Option<(String, String)> {
        #[derive(serde::Deserialize)]
        struct Said {
            error: String,
            error_description: Option<String>,
        }
        let said: Said = serde_json::from_slice(&self.body).ok()?;
        let description = said.error_description.map_or_else(String::new, |text| format!(": {}", shown(&text)));
        let code = shown(&said.error);
        Some((code.clone(), format!("{code}{description}")))
    }

    pub(super) fn unusable(&self, why: String) -> OAuthError {
        unusable(self.what, &self.url, why)
    }
}

/// Whether a URL is one that may be visited or shown, wherever it leads: https, or http on this machine.
pub(super) fn check_form(what: &'static str, text: &str) -> Result<Url, OAuthError> {
    let no = |why: &str| Err(refused(what, text, why.to_owned()));
    if text.len() > LONGEST_URL || text.contains(|one: char| one.is_control() || one.is_whitespace()) {
        return no("it is no URL");
    }
    let Ok(url) = Url::parse(text) else { return no("it is no URL") };
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => return no("it is plain http to another machine"),
        _ => return no("only https is"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return no("it names a user");
    }
    if url.fragment().is_some() {
        return no("it has a fragment");
    }
    Ok(url)
}

pub(super) fn unusable(what: &'static str, url: &str, why: String) -> OAuthError {
    OAuthError::Unusable { what, url: shown(url), why }
}

fn refused(what: &'static str, url: &str, why: String) -> OAuthError {
    OAuthError::Refused { what, url: shown(url), why }
}
