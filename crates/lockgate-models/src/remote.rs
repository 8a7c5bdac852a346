//! A model behind a provider's server, whatever the provider's protocol.
//!
//! One request, one turn; nothing is retried here. What a server sends is untrusted: it is read within a size limit, from exact text, and
//! becomes nothing but text, proposed calls, and what the provider wants back.

use std::sync::{Arc, OnceLock};

use lockgate_contract::ports::{BoxFuture, Delta, Heard, ModelAdapter, ModelError, ModelRequest, ModelResponse};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::described::{Described, Probe};
use crate::error::OptionsError;
use crate::failure;
use crate::framing::Frames;
use crate::options::{RemoteOptions, Resolved, ToolCalls};
use crate::transport::{Answer, Http, Post, Transport, header};
use crate::wire::{Framing, Sent, Wire, WireRequest};

/// The most bytes of an error body that are looked at.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// A model behind a server. Cheap to clone; needs a Tokio runtime with I/O and time.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    wire: Arc<dyn Wire>,
    /// The same, for a server that drops tools.
    described: Arc<Described>,
    /// Whether it does, once that is known.
    drops_tools: Arc<OnceLock<bool>>,
    transport: Arc<dyn Transport>,
    options: Arc<Resolved>,
}

impl RemoteModel {
    /// Builds the adapter; what the options leave open is read from the environment, once.
    ///
    /// # Errors
    ///
    /// The options cannot be used, or a key is missing.
    pub fn new(options: RemoteOptions) -> Result<Self, OptionsError> {
        Self::with_environment(options, |name| std::env::var(name).ok())
    }

    /// The same with another environment: `variable` answers with a variable's value.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_environment(
        options: RemoteOptions,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, OptionsError> {
        let wire: Arc<dyn Wire> = options.provider.wire().into();
        let options = options.resolve(variable)?;
        let transport = Arc::new(Http::new(&options)?);
        let described = Arc::new(Described(Arc::clone(&wire)));
        Ok(Self { wire, described, drops_tools: Arc::default(), transport, options: Arc::new(options) })
    }

    async fn exchange(&self, request: &ModelRequest, heard: Option<&Heard>) -> Result<ModelResponse, ModelError> {
        let wire = self.wire_for(request).await?;
        let said = wire.request(&self.options, request, heard.is_some())?;
        let answer = self.answer(&said, heard.is_some()).await?;
        match heard {
            Some(heard) if !(wire.framing() == Framing::Events && answer.is_json()) => {
                self.in_pieces(wire, answer, said.sent, heard).await
            }
            _ => {
                let text = answer.text(self.options.max_response_bytes).await?;
                let response = wire.read(text, said.sent)?;
                if let (Some(heard), Some(text)) = (heard, &response.text) {
                    heard(Delta::Text(text));
                }
                Ok(response)
            }
        }
    }

    /// The wire for a request: the provider's own, or the one that describes tools.
    async fn wire_for(&self, request: &ModelRequest) -> Result<&dyn Wire, ModelError> {
        let describes = match (self.options.tools, self.drops_tools.get()) {
            (ToolCalls::Native, _) => false,
            (ToolCalls::JsonSchema, _) => true,
            (ToolCalls::Auto, Some(drops)) => *drops,
            (ToolCalls::Auto, None) if request.tools.is_empty() => false,
            (ToolCalls::Auto, None) => {
                let drops = self.probe(request).await?;
                *self.drops_tools.get_or_init(|| drops)
            }
        };
        Ok(if describes { &*self.described } else { &*self.wire })
    }

    /// Asks the server whether it drops tools.
    async fn probe(&self, request: &ModelRequest) -> Result<bool, ModelError> {
        let Probe { bare, equipped } = Probe::of(&*self.wire, &self.options, &request.tools)?;
        let bare = self.whole(&bare).await?;
        let drops = !Probe::shows_tools(&*self.wire, &bare, self.whole(&equipped).await)?;
        if drops {
            tracing::warn!("the server drops the tools that it is sent: they are described to the model in words");
        }
        Ok(drops)
    }

    async fn whole(&self, request: &WireRequest) -> Result<String, ModelError> {
        self.answer(request, false).await?.text(self.options.max_response_bytes).await
    }

    /// Sends a request; an answer here is one with a status of success.
    async fn answer(&self, request: &WireRequest, stream: bool) -> Result<Answer, ModelError> {
        let mut url = self.options.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(&request.path);
        }
        url.set_query(request.query);
        let headers = self.headers(&request.headers, stream);
        let answer = self.transport.send(Post { url: &url, headers: &headers, body: &request.body }).await?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let (status, headers) = (answer.status, answer.headers.clone());
        // The status says enough even if the body cannot be had. The key goes before the message is cut, so that no half of one is
        // left at the cut.
        let body = self.without_key(&answer.beginning(MAX_ERROR_BODY).await);
        Err(failure::from_status(status, &headers, &body))
    }

    async fn in_pieces(
        &self,
        wire: &dyn Wire,
        mut answer: Answer,
        sent: Sent,
        heard: &Heard,
    ) -> Result<ModelResponse, ModelError> {
        let mut frames = Frames::new(wire.framing(), self.options.max_response_bytes);
        let mut reader = wire.reader(sent);
        while let Some(piece) = answer.body.next().await? {
            for event in frames.feed(&piece)? {
                reader.event(&event.kind, &event.data, heard)?;
            }
        }
        if let Some(event) = frames.end()? {
            reader.event(&event.kind, &event.data, heard)?;
        }
        reader.finish()
    }

    fn headers(&self, more: &[(&'static str, String)], stream: bool) -> HeaderMap {
        let accept =
            if stream { "text/event-stream, application/x-ndjson, application/json" } else { "application/json" };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.extend(more.iter().filter_map(|(name, value)| header(name, value)));
        if let Some(key) = &self.options.api_key {
            let (name, _) = self.wire.key_header();
            headers.insert(HeaderName::from_static(name), key.header());
        }
        headers
    }

    /// A text without the key: some providers quote it in their errors.
    fn without_key(&self, text: &str) -> String {
        self.options.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }

    async fn asked(&self, request: &ModelRequest, heard: Option<&Heard>) -> Result<ModelResponse, ModelError> {
        match self.exchange(request, heard).await {
            Ok(mut response) => {
                let usage = &mut response.usage;
                usage.cost_microusd =
                    usage.cost_microusd.or_else(|| self.options.prices.and_then(|prices| prices.cost(usage)));
                Ok(response)
            }
            Err(mut error) => {
                if let Some(detail) = failure::detail_mut(&mut error) {
                    *detail = self.without_key(detail);
                }
                Err(error)
            }
        }
    }
}

impl ModelAdapter for RemoteModel {
    fn name(&self) -> &str {
        self.wire.name()
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(self.asked(request, None))
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a Heard,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(self.asked(request, Some(heard)))
    }
}
