//! OpenAI-compatible Chat Completions: the one wire that `OpenAI`, Ollama, llama.cpp, vLLM and most routers speak.
//!
//! One request, one whole response; no streaming and no retry. What a server sends is untrusted: it is read within a size
//! limit, from exact text, and becomes nothing but text and proposed calls.

mod failure;
mod history;
mod options;
mod request;
mod response;
mod schema;
mod secret;

pub use options::{API_KEY_VARIABLE, BASE_URL_VARIABLE, ChatCompletionsOptions, DEFAULT_BASE_URL};

use std::sync::Arc;

use lockgate_contract::document::Limits;
use lockgate_contract::ports::{BoxFuture, ModelAdapter, ModelError, ModelRequest, ModelResponse};
use lockgate_host::http::{client, read_body};
use reqwest::Client;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};

use self::options::Resolved;
use crate::error::OptionsError;

/// The most bytes of an error body that are looked at.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// The deepest nesting of a provider's JSON.
const MAX_DEPTH: usize = 128;

/// A model behind an OpenAI-compatible server. Cheap to clone; needs a Tokio runtime with I/O and time.
#[derive(Debug, Clone)]
pub struct ChatCompletions {
    client: Client,
    options: Arc<Resolved>,
}

impl ChatCompletions {
    /// Builds the adapter; what the options leave open is read from the environment, once.
    pub fn new(options: ChatCompletionsOptions) -> Result<Self, OptionsError> {
        Self::with_environment(options, |name| std::env::var(name).ok())
    }

    /// The same with another environment: `variable` answers with a variable's value.
    pub fn with_environment(
        options: ChatCompletionsOptions,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, OptionsError> {
        let options = options.resolve(variable)?;
        let client = client(&options.endpoint, options.timeout)
            .map_err(|error| OptionsError::Client { detail: error.to_string() })?;
        Ok(Self { client, options: Arc::new(options) })
    }

    async fn exchange(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        let names = request::wire_names(request);
        let body = request::body(&self.options, request, &names)?;
        let mut post = self
            .client
            .post(self.options.endpoint.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        if let Some(key) = &self.options.api_key {
            post = post.header(AUTHORIZATION, key.header());
        }
        let answer = post.send().await.map_err(failure::from_transport)?;

        let status = answer.status();
        if !status.is_success() {
            let headers = answer.headers().clone();
            // The status says enough even if the body cannot be had.
            let body = read_body(answer, MAX_ERROR_BODY).await.unwrap_or_default();
            // Before the message is cut, so that no half of a key is left at the cut.
            let body = self.without_key(&String::from_utf8_lossy(&body));
            return Err(failure::from_status(status.as_u16(), &headers, &body));
        }
        let most = self.options.max_response_bytes;
        let body = read_body(answer, most).await.map_err(|error| failure::from_body(error, most))?;
        let body = String::from_utf8(body)
            .map_err(|_| ModelError::InvalidResponse { detail: "the body is not UTF-8".to_owned() })?;
        response::read(body, &names)
    }

    /// A text without the key: some providers quote it in their errors.
    fn without_key(&self, text: &str) -> String {
        self.options.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }
}

impl ModelAdapter for ChatCompletions {
    fn name(&self) -> &'static str {
        "openai-compatible"
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            self.exchange(request).await.map_err(|mut error| {
                if let Some(detail) = failure::detail_mut(&mut error) {
                    *detail = self.without_key(detail);
                }
                error
            })
        })
    }
}

/// Limits for reading JSON of a known length.
fn limits(length: usize) -> Limits {
    Limits { max_bytes: length, max_depth: MAX_DEPTH }
}
