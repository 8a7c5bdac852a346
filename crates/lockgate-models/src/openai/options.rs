//! How an OpenAI-compatible server is reached.

use std::time::Duration;

use lockgate_contract::document::{Document, Kind};
use lockgate_host::http::is_loopback;
use reqwest::Url;

use super::secret::ApiKey;
use crate::error::OptionsError;

/// The variable that names the server when the options do not.
pub const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
/// The variable that holds the key when the options name no other.
pub const API_KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// The server when neither options nor environment name one.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Members of the request that the adapter writes itself.
const OWN_MEMBERS: [&str; 7] = ["model", "messages", "tools", "functions", "stream", "stream_options", "n"];

/// Options of [`ChatCompletions`](super::ChatCompletions). Only [`model`](Self::model) has no default.
#[derive(Debug, Clone)]
pub struct ChatCompletionsOptions {
    /// The model's name as the server knows it.
    pub model: String,
    /// The server, up to and without `/chat/completions`. Default: [`BASE_URL_VARIABLE`], else [`DEFAULT_BASE_URL`].
    pub base_url: Option<String>,
    /// The name of the variable that holds the API key. A variable named here must be set. Default:
    /// [`API_KEY_VARIABLE`], which may be unset for every server but that of [`DEFAULT_BASE_URL`].
    pub api_key_variable: Option<String>,
    /// The most time for one response, from connecting to the last byte. Default: 2 minutes.
    pub timeout: Duration,
    /// The most bytes of one response. Default: 8 MiB.
    pub max_response_bytes: usize,
    /// The sampling temperature; not sent by default.
    pub temperature: Option<f64>,
    /// A JSON object whose members are added to each request, such as `{"seed": 7}`.
    pub extra_body: Option<Document>,
    /// Whether plain HTTP to another machine is accepted. Default: no; this machine's own addresses always are.
    pub allow_insecure: bool,
}

impl ChatCompletionsOptions {
    /// The defaults for a model.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            base_url: None,
            api_key_variable: None,
            timeout: Duration::from_mins(2),
            max_response_bytes: 8 * 1024 * 1024,
            temperature: None,
            extra_body: None,
            allow_insecure: false,
        }
    }

    /// Checks the options and fills them from the environment.
    pub(super) fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Resolved, OptionsError> {
        if self.model.is_empty() {
            return Err(OptionsError::NoModel);
        }
        if self.timeout.is_zero() {
            return Err(OptionsError::OutOfRange { option: "the timeout", expected: "longer than zero" });
        }
        if self.max_response_bytes == 0 {
            return Err(OptionsError::OutOfRange { option: "the response limit", expected: "at least one byte" });
        }
        if self.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Err(OptionsError::OutOfRange { option: "the temperature", expected: "a finite number from 0 up" });
        }
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let (endpoint, loopback) = self.endpoint(&variable)?;
        if endpoint.scheme() == "http" && !loopback && !self.allow_insecure {
            return Err(OptionsError::Insecure { host: endpoint.host_str().unwrap_or_default().to_owned() });
        }
        let api_key = self.api_key(&variable, endpoint.host_str() == Some("api.openai.com"))?;
        let extra_body =
            self.extra_body.as_ref().map(|body| extra_members(body, self.temperature.is_some())).transpose()?;
        Ok(Resolved {
            endpoint,
            api_key,
            model: self.model,
            timeout: self.timeout,
            max_response_bytes: self.max_response_bytes,
            temperature: self.temperature,
            extra_body: extra_body.unwrap_or_default(),
        })
    }

    fn endpoint(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<(Url, bool), OptionsError> {
        let (text, origin) = match (&self.base_url, variable(BASE_URL_VARIABLE)) {
            (Some(text), _) => (text.clone(), "in the options"),
            (None, Some(text)) => (text, "in `OPENAI_BASE_URL`"),
            (None, None) => (DEFAULT_BASE_URL.to_owned(), "of OpenAI"),
        };
        let unusable = |detail: &str| OptionsError::BaseUrl { origin, detail: detail.to_owned() };
        let mut url = Url::parse(text.trim()).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(unusable("it holds credentials; keys come from the environment"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(unusable("it has a query or a fragment"));
        }
        let loopback = is_loopback(&url);
        url.path_segments_mut()
            .map_err(|()| unusable("it has no path"))?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        Ok((url, loopback))
    }

    fn api_key(
        &self,
        variable: &impl Fn(&str) -> Option<String>,
        needed: bool,
    ) -> Result<Option<ApiKey>, OptionsError> {
        let name = self.api_key_variable.as_deref().unwrap_or(API_KEY_VARIABLE);
        match variable(name) {
            Some(text) => {
                ApiKey::new(&text).map(Some).ok_or_else(|| OptionsError::UnusableKey { variable: name.to_owned() })
            }
            None if needed || self.api_key_variable.is_some() => Err(OptionsError::NoKey { variable: name.to_owned() }),
            None => Ok(None),
        }
    }
}

/// Options that were checked; nothing in here is read from the environment any more.
#[derive(Debug)]
pub(super) struct Resolved {
    /// Where requests go.
    pub(super) endpoint: Url,
    /// The key, if there is one.
    pub(super) api_key: Option<ApiKey>,
    /// The model's name.
    pub(super) model: String,
    /// The most time for one response.
    pub(super) timeout: Duration,
    /// The most bytes of one response.
    pub(super) max_response_bytes: usize,
    /// The temperature, if one was chosen.
    pub(super) temperature: Option<f64>,
    /// Members to add to each request.
    pub(super) extra_body: Vec<(String, Document)>,
}

/// The members of an extra body, checked.
fn extra_members(body: &Document, has_temperature: bool) -> Result<Vec<(String, Document)>, OptionsError> {
    let root = body.root();
    if root.kind() != Kind::Object {
        return Err(OptionsError::ExtraBody { detail: "is not a JSON object".to_owned() });
    }
    let mut members = Vec::new();
    for (key, value) in root.members() {
        if OWN_MEMBERS.contains(&key.as_ref()) || (has_temperature && key == "temperature") {
            return Err(OptionsError::ExtraBody { detail: format!("has `{key}`, which the adapter writes itself") });
        }
        members.push((key.into_owned(), value.to_document()));
    }
    Ok(members)
}

#[cfg(test)]
mod tests;
