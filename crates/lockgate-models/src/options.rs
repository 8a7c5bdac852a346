//! How a provider's server is reached.

use std::time::Duration;

use lockgate_contract::document::{Document, Kind};
use lockgate_contract::ports::ModelError;
use lockgate_host::http::is_loopback;
use reqwest::Url;

use crate::error::OptionsError;
use crate::prices::Prices;
use crate::secret::ApiKey;
use crate::wire::Wire;

/// Whose protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Chat Completions: `OpenAI`, vLLM, llama.cpp, `OpenRouter`, `DeepSeek` and most others.
    OpenaiCompatible,
    /// Messages: Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own protocol.
    Ollama,
    /// `OpenAI`'s Responses.
    Openai,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::OpenaiCompatible, Self::Openai, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Its name in run files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.wire().name()
    }

    /// Finds the provider of this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.word() == word)
    }

    /// The server when neither options nor environment name one.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenaiCompatible | Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The variable that names the server when the options do not.
    #[must_use]
    pub fn base_url_variable(self) -> &'static str {
        match self {
            Self::OpenaiCompatible | Self::Openai => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Gemini => "GOOGLE_GEMINI_BASE_URL",
            // Not `OLLAMA_HOST`, which is the address that the server listens at.
            Self::Ollama => "OLLAMA_BASE_URL",
        }
    }

    /// The variable that holds the key when the options name no other. It may be unset for every server but the provider's own.
    #[must_use]
    pub fn api_key_variable(self) -> &'static str {
        match self {
            Self::OpenaiCompatible | Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Ollama => "OLLAMA_API_KEY",
        }
    }

    pub(crate) fn wire(self) -> Box<dyn Wire> {
        match self {
            Self::OpenaiCompatible => Box::new(crate::chat::Chat),
            Self::Anthropic => Box::new(crate::anthropic::Anthropic),
            Self::Gemini => Box::new(crate::gemini::Gemini),
            Self::Ollama => Box::new(crate::ollama::Ollama),
            Self::Openai => Box::new(crate::responses::Responses),
        }
    }

    /// Members of the request that the adapter writes itself.
    fn own_members(self) -> &'static [&'static str] {
        match self {
            Self::OpenaiCompatible => {
                &["model", "messages", "tools", "functions", "stream", "stream_options", "n", "max_completion_tokens"]
            }
            Self::Anthropic => &["model", "messages", "system", "tools", "stream", "max_tokens"],
            Self::Gemini => &["contents", "systemInstruction", "system_instruction", "tools"],
            Self::Ollama => &["model", "messages", "tools", "stream"],
            Self::Openai => &[
                "model",
                "instructions",
                "input",
                "tools",
                "stream",
                "store",
                "include",
                "background",
                "conversation",
                "previous_response_id",
                "prompt",
                "max_output_tokens",
            ],
        }
    }

    /// The member of the request in which settings stand, an extra body's beside those of the adapter: its name, and in it those of the
    /// temperature and of the most tokens.
    fn settings(self) -> Option<(&'static str, &'static str, &'static str)> {
        match self {
            Self::OpenaiCompatible | Self::Openai | Self::Anthropic => None,
            Self::Gemini => Some(("generationConfig", "temperature", "maxOutputTokens")),
            Self::Ollama => Some(("options", "temperature", "num_predict")),
        }
    }
}

/// How a model is shown tools, and calls them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolCalls {
    /// As the protocol has it.
    #[default]
    Native,
    /// In words: the tools are described in the instructions, and the answer is asked for in a JSON schema, as a text or as one call.
    /// For local servers, many of which drop tools in silence where the model's chat template has no place for them.
    JsonSchema,
    /// The first request with tools finds out: the server is asked twice for a turn of one token, and if its count of the prompt is the
    /// same with tools and without, then it drops them.
    Auto,
}

/// Options of a [`RemoteModel`](crate::RemoteModel). Only the provider and the model have no default.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Whose protocol the server speaks.
    pub provider: Provider,
    /// The model's name as the server knows it.
    pub model: String,
    /// The server, with its path up to and without what the protocol adds to it. Default: [`Provider::base_url_variable`], else
    /// [`Provider::default_base_url`].
    pub base_url: Option<String>,
    /// The name of the variable that holds the API key. A variable named here must be set. Default:
    /// [`Provider::api_key_variable`].
    pub api_key_variable: Option<String>,
    /// The most time for one response, from connecting to the last byte. Default: 2 minutes.
    pub timeout: Duration,
    /// The most bytes of one response. Default: 8 MiB.
    pub max_response_bytes: usize,
    /// The most tokens of one response. Default: what the server sets; where a protocol demands a number, 8,192.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature; not sent by default.
    pub temperature: Option<f64>,
    /// A JSON object whose members are added to each request, such as `{"seed": 7}`.
    pub extra_body: Option<Document>,
    /// Whether plain HTTP to another machine is accepted. Default: no; this machine's own addresses always are.
    pub allow_insecure: bool,
    /// What tokens cost, where the provider does not say what a turn did. Default: nobody knows.
    pub prices: Option<Prices>,
    /// How the model is shown tools. Default: as the protocol has it; only Chat Completions and Ollama have another way.
    pub tools: ToolCalls,
}

impl RemoteOptions {
    /// The defaults for a model.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key_variable: None,
            timeout: Duration::from_mins(2),
            max_response_bytes: 8 * 1024 * 1024,
            max_output_tokens: None,
            temperature: None,
            extra_body: None,
            allow_insecure: false,
            prices: None,
            tools: ToolCalls::Native,
        }
    }

    /// Checks the options and fills them from the environment.
    pub(crate) fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Resolved, OptionsError> {
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
        if self.max_output_tokens == Some(0) {
            return Err(OptionsError::OutOfRange { option: "the most tokens of a response", expected: "at least one" });
        }
        if self.tools != ToolCalls::Native && self.provider.wire().in_schema().is_none() {
            return Err(OptionsError::OutOfRange { option: "`tools`", expected: "`native` for this provider" });
        }
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let (base_url, loopback) = self.base_url(&variable)?;
        if base_url.scheme() == "http" && !loopback && !self.allow_insecure {
            return Err(OptionsError::Insecure { host: base_url.host_str().unwrap_or_default().to_owned() });
        }
        let own = Url::parse(self.provider.default_base_url()).ok();
        let is_their_own = own.is_some_and(|own| !is_loopback(&own) && own.host_str() == base_url.host_str());
        let api_key = self.api_key(&variable, is_their_own)?;
        let (extra_body, extra_settings) =
            self.extra_body.as_ref().map(|body| self.extra_members(body)).transpose()?.unwrap_or_default();
        Ok(Resolved {
            base_url,
            api_key,
            model: self.model,
            timeout: self.timeout,
            max_response_bytes: self.max_response_bytes,
            max_output_tokens: self.max_output_tokens,
            temperature: self.temperature,
            extra_body,
            extra_settings,
            provider: self.provider,
            tools: self.tools,
            prices: self.prices,
        })
    }

    fn base_url(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<(Url, bool), OptionsError> {
        let (text, origin) = match (&self.base_url, variable(self.provider.base_url_variable())) {
            (Some(text), _) => (text.clone(), "in the options".to_owned()),
            (None, Some(text)) => (text, format!("in `{}`", self.provider.base_url_variable())),
            (None, None) => (self.provider.default_base_url().to_owned(), "of the provider".to_owned()),
        };
        let unusable = |detail: &str| OptionsError::BaseUrl { origin: origin.clone(), detail: detail.to_owned() };
        let url = Url::parse(text.trim()).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(unusable("it holds credentials; keys come from the environment"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(unusable("it has a query or a fragment"));
        }
        if url.cannot_be_a_base() {
            return Err(unusable("it has no path"));
        }
        let loopback = is_loopback(&url);
        Ok((url, loopback))
    }

    fn api_key(
        &self,
        variable: &impl Fn(&str) -> Option<String>,
        needed: bool,
    ) -> Result<Option<ApiKey>, OptionsError> {
        let name = self.api_key_variable.as_deref().unwrap_or(self.provider.api_key_variable());
        match variable(name) {
            Some(text) => {
                let (_, before) = self.provider.wire().key_header();
                let key = ApiKey::new(&text, before).map(Some);
                key.ok_or_else(|| OptionsError::UnusableKey { variable: name.to_owned() })
            }
            None if needed || self.api_key_variable.is_some() => Err(OptionsError::NoKey { variable: name.to_owned() }),
            None => Ok(None),
        }
    }

    /// The members of the extra body, and those of the settings in it, checked.
    fn extra_members(&self, body: &Document) -> Result<(Members, Members), OptionsError> {
        let root = body.root();
        if root.kind() != Kind::Object {
            return Err(OptionsError::ExtraBody { detail: "is not a JSON object".to_owned() });
        }
        let is_ours =
            |key: String| OptionsError::ExtraBody { detail: format!("has {key}, which the adapter writes itself") };
        let own = self.provider.own_members();
        let settings = self.provider.settings();
        let wire = self.provider.wire();
        let form = wire.in_schema().filter(|_| self.tools != ToolCalls::Native);
        let form = form.map(|form| form.member(Document::null()).0);
        let (mut members, mut inside) = (Vec::new(), Vec::new());
        for (key, value) in root.members() {
            let is_own_temperature = settings.is_none() && self.temperature.is_some() && key == "temperature";
            if own.contains(&key.as_ref()) || is_own_temperature || form == Some(key.as_ref()) {
                return Err(is_ours(format!("`{key}`")));
            }
            let Some((_, temperature, most)) = settings.filter(|(member, ..)| *member == key) else {
                members.push((key.into_owned(), value.to_document()));
                continue;
            };
            if value.kind() != Kind::Object {
                return Err(OptionsError::ExtraBody { detail: format!("has `{key}`, which is not a JSON object") });
            }
            for (name, value) in value.members() {
                if (name == temperature && self.temperature.is_some())
                    || (name == most && self.max_output_tokens.is_some())
                {
                    return Err(is_ours(format!("`{key}.{name}`")));
                }
                inside.push((name.into_owned(), value.to_document()));
            }
        }
        Ok((members, inside))
    }
}

/// Members of a JSON object.
type Members = Vec<(String, Document)>;

/// Options that were checked; nothing in here is read from the environment any more.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    /// Where requests go, up to what the protocol adds to the path.
    pub(crate) base_url: Url,
    /// The key, if there is one.
    pub(crate) api_key: Option<ApiKey>,
    /// The model's name.
    pub(crate) model: String,
    /// The most time for one response.
    pub(crate) timeout: Duration,
    /// The most bytes of one response.
    pub(crate) max_response_bytes: usize,
    /// The most tokens of one response.
    pub(crate) max_output_tokens: Option<u32>,
    /// The temperature, if one was chosen.
    pub(crate) temperature: Option<f64>,
    /// Members to add to each request.
    pub(crate) extra_body: Members,
    /// Settings of the extra body, where the protocol has a member for settings.
    extra_settings: Members,
    provider: Provider,
    /// How the model is shown tools.
    pub(crate) tools: ToolCalls,
    /// What tokens cost.
    pub(crate) prices: Option<Prices>,
}

impl Resolved {
    /// The settings of a request, for protocols that have a member for them.
    ///
    /// # Errors
    ///
    /// A number cannot be written.
    pub(crate) fn settings(&self) -> Result<Members, ModelError> {
        let Some((_, temperature, most)) = self.provider.settings() else { return Ok(Vec::new()) };
        let mut settings = Vec::new();
        if let Some(value) = self.temperature {
            let value = Document::from_serialize(&value);
            let value = value.map_err(|error| ModelError::Configuration { detail: error.to_string() })?;
            settings.push((temperature.to_owned(), value));
        }
        if let Some(value) = self.max_output_tokens {
            settings.push((most.to_owned(), Document::integer(value)));
        }
        let is_new = |(name, _): &&(String, Document)| settings.iter().all(|(own, _)| own != name);
        let extra: Members = self.extra_settings.iter().filter(is_new).cloned().collect();
        settings.extend(extra);
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
