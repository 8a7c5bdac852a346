//! What is put around a request: `_meta`, and the headers that say it again.

use lockgate_contract::document::Document;

use super::core::Core;
use crate::wire::{Edit, Era, Mirrors, Version, encoded, is_reserved, key};

/// What goes into `_meta`, besides what always does.
#[derive(Clone, Copy, Default)]
pub(super) struct Envelope<'a> {
    /// What is passed on.
    pub(super) beside: Option<&'a Document>,
    /// What we can do, where that is not what the connection was opened with.
    pub(super) capabilities: Option<&'a Document>,
    pub(super) log_level: Option<&'a str>,
}

impl Envelope<'_> {
    pub(super) fn meta(&self, core: &Core, id: i64) -> Document {
        let mut meta = self.beside.map_or_else(Edit::new, |beside| Edit::of(beside.root()));
        meta.retain(|key| !is_reserved(key));
        if core.era() == Era::Modern {
            let capabilities = self.capabilities.unwrap_or(&core.options.capabilities);
            meta = meta
                .with(key::PROTOCOL_VERSION, Document::string(spoken(core).word()))
                .with(key::CLIENT_CAPABILITIES, capabilities.clone())
                .with(key::CLIENT_INFO, core.options.info.clone())
                .with_some(key::LOG_LEVEL, self.log_level.map(Document::string));
        }
        meta.with(key::PROGRESS_TOKEN, Document::integer(id)).document()
    }

    /// The parameters of a modern notification.
    pub(super) fn around_notification(core: &Core, params: &Document) -> Document {
        let meta = Edit::new()
            .with(key::PROTOCOL_VERSION, Document::string(spoken(core).word()))
            .with(key::CLIENT_CAPABILITIES, core.options.capabilities.clone())
            .with(key::CLIENT_INFO, core.options.info.clone());
        Edit::of(params.root()).with("_meta", meta.document()).document()
    }
}

fn spoken(core: &Core) -> Version {
    core.version.get().copied().unwrap_or(Version::NEWEST)
}

/// The headers of a message over HTTP, apart from those of every request.
pub(super) type Headers = Vec<(String, String)>;

/// What a request over HTTP says in its headers too.
pub(super) fn headers(core: &Core, method: &str, params: &Document, mirror: Option<&Mirrors>) -> Headers {
    let mut headers = Vec::new();
    if core.era() == Era::Legacy {
        // Before the handshake there is no version, and during it none is named.
        if let Some(version) = core.version.get().filter(|_| method != "initialize") {
            headers.push(("mcp-protocol-version".to_owned(), version.word().to_owned()));
        }
        return headers;
    }
    headers.push(("mcp-protocol-version".to_owned(), spoken(core).word().to_owned()));
    headers.push(("mcp-method".to_owned(), encoded(method)));
    let named = match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    };
    if let Some(name) = named.and_then(|member| params.root().get(member)).and_then(|name| name.as_str()) {
        headers.push(("mcp-name".to_owned(), encoded(&name)));
    }
    if let (Some(mirror), Some(arguments)) = (mirror, params.root().get("arguments")) {
        headers.extend(mirror.headers(arguments));
    }
    headers
}
