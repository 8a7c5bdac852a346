//! Results and errors as they are sent. A result's text is spliced, never parsed and written again.

use lockgate_contract::document::{Document, Kind, Node, Number};

use crate::wire::{Edit, Message, RequestId, Response, RpcError, is_reserved, key};

/// An answer, ready to be sent.
#[derive(Debug)]
pub(super) struct Answer {
    /// The whole message.
    pub(super) text: String,
    /// The error's code, where it is one.
    pub(super) code: Option<i64>,
    /// Whether the request never reached the service: over HTTP the status says so too.
    pub(super) refused: bool,
}

impl Answer {
    /// An error of the service's.
    pub(super) fn error(id: Option<RequestId>, error: RpcError) -> Self {
        let code = Some(error.code);
        Self { text: Message::Response(Response { id, outcome: Err(error) }).text(), code, refused: false }
    }

    /// An error that the service never heard of.
    pub(super) fn refused(id: Option<RequestId>, error: RpcError) -> Self {
        Self { refused: true, ..Self::error(id, error) }
    }

    /// A result in the modern era. `info` is the text of what this server says about itself.
    pub(super) fn modern(id: &RequestId, method: &str, result: &Document, info: &str) -> Self {
        let root = result.root();
        let cached = is_cached(method);
        Self::result(id, result.text().len() + info.len(), |object| {
            for (name, (member, value)) in root.names().zip(root.members()) {
                match member.as_ref() {
                    "_meta" => {}
                    "cacheScope" if cached => {}
                    "ttlMs" if cached && value.as_number().and_then(|number: Number<'_>| number.as_u64()).is_none() => {
                    }
                    _ => object.member(name.raw(), value.raw()),
                }
            }
            if root.get("resultType").is_none() {
                object.member("\"resultType\"", "\"complete\"");
            }
            if cached {
                if root.get("ttlMs").and_then(|ttl| ttl.as_number()).and_then(|ttl| ttl.as_u64()).is_none() {
                    object.member("\"ttlMs\"", "0");
                }
                // What is served may differ for each principal.
                object.member("\"cacheScope\"", "\"private\"");
            }
            object.meta(root.get("_meta"), info);
        })
    }

    /// A result in the legacy era: without what that era's clients do not know, and some choke on.
    pub(super) fn legacy(id: &RequestId, method: &str, result: &Document) -> Self {
        let root = result.root();
        let tools = (method == "tools/list").then(|| readable_tools(root)).flatten();
        Self::result(id, result.text().len(), |object| {
            for (name, (member, value)) in root.names().zip(root.members()) {
                match member.as_ref() {
                    "resultType" => {}
                    "ttlMs" | "cacheScope" if is_cached(method) => {}
                    // Any JSON value from 2026-07-28 on, an object before.
                    "structuredContent" if value.kind() != Kind::Object => {}
                    "_meta" => object.without_hop(value),
                    "tools" if tools.is_some() => {
                        object.member(name.raw(), tools.as_ref().map_or("[]", Document::text));
                    }
                    _ => object.member(name.raw(), value.raw()),
                }
            }
        })
    }

    /// A result to which nothing is added.
    pub(super) fn as_it_is(id: &RequestId, result: Document) -> Self {
        let id = Some(id.clone());
        Self { text: Message::Response(Response { id, outcome: Ok(result) }).text(), code: None, refused: false }
    }

    fn result(id: &RequestId, about: usize, members: impl FnOnce(&mut Object)) -> Self {
        let mut text = String::with_capacity(about + 192);
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        // INVARIANT: an id can always be written.
        text.push_str(&serde_json::to_string(id).unwrap_or_default());
        text.push_str(r#","result":{"#);
        let mut object = Object { text, empty: true };
        members(&mut object);
        let mut text = object.text;
        text.push_str("}}");
        Self { text, code: None, refused: false }
    }
}

/// An object that is being written.
struct Object {
    text: String,
    empty: bool,
}

impl Object {
    /// Writes a member: its name with the quotes, and its value, as they are.
    fn member(&mut self, name: &str, value: &str) {
        if !std::mem::take(&mut self.empty) {
            self.text.push(',');
        }
        self.text.push_str(name);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// Writes `_meta` with who this server is.
    fn meta(&mut self, meta: Option<Node<'_>>, info: &str) {
        let name = if std::mem::take(&mut self.empty) { "\"_meta\":{" } else { ",\"_meta\":{" };
        self.text.push_str(name);
        for (name, (member, value)) in meta.iter().flat_map(|meta| meta.names().zip(meta.members())) {
            if !is_reserved(&member) {
                self.text.push_str(name.raw());
                self.text.push(':');
                self.text.push_str(value.raw());
                self.text.push(',');
            }
        }
        self.text.push('"');
        self.text.push_str(key::SERVER_INFO);
        self.text.push_str("\":");
        self.text.push_str(info);
        self.text.push('}');
    }

    /// Writes `_meta` without what belongs to the other hop.
    fn without_hop(&mut self, meta: Node<'_>) {
        let mut rest = Edit::of(meta);
        rest.retain(|key| !is_reserved(key));
        if !rest.is_empty() {
            self.member("\"_meta\"", rest.document().text());
        }
    }
}

/// Whether the results of this method say how long they may be kept.
fn is_cached(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// The tools, where legacy clients could not read one: they refuse the whole list for an output schema that is not an object's.
fn readable_tools(result: Node<'_>) -> Option<Document> {
    let unreadable = |tool: Node<'_>| {
        tool.get("outputSchema")
            .is_some_and(|schema| schema.get("type").and_then(|kind| kind.as_str()).as_deref() != Some("object"))
    };
    let tools = result.get("tools")?;
    if !tools.elements().any(unreadable) {
        return None;
    }
    let readable: Vec<Document> = tools
        .elements()
        .map(
            |tool| {
                if unreadable(tool) { Edit::of(tool).without("outputSchema").document() } else { tool.to_document() }
            },
        )
        .collect();
    Document::from_serialize(&readable).ok()
}

/// A text on one line: a document keeps the white space that it came with, and no string can hold a line's end.
pub(super) fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}
