//! Lists, page by page.

use std::collections::HashSet;
use std::sync::Arc;

use lockgate_contract::document::{Document, Node};
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::envelope::Envelope;
use super::exchange::Exchange;
use super::{ClientError, List, Listing};
use crate::wire::{Edit, Era, Mirrors};

impl List {
    /// The method that asks for it, and the member of the answer that has it.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Prompts => ("prompts/list", "prompts"),
            Self::Resources => ("resources/list", "resources"),
            Self::ResourceTemplates => ("resources/templates/list", "resourceTemplates"),
        }
    }
}

impl Core {
    /// The whole of it. Only an absent cursor ends a list: an empty one is one like any other.
    pub(super) async fn list(self: &Arc<Self>, list: List) -> Result<Listing, ClientError> {
        let (method, member) = list.words();
        let bounds = self.options.bounds;
        let mut listing = Listing { items: Vec::new(), ttl_ms: u64::MAX, warnings: Vec::new() };
        let mut seen: HashSet<String> = HashSet::new();
        let mut cursor: Option<String> = None;
        for page in 0.. {
            if page == bounds.pages {
                listing.warnings.push(format!("the list has more than {} pages: the rest is left out", bounds.pages));
                break;
            }
            let params = Edit::new().with_some("cursor", cursor.as_deref().map(Document::string)).document();
            let answer = self.page(method, &params).await?;
            let root = answer.root();
            let ttl = root.get("ttlMs").and_then(|ttl| ttl.decode::<u64>().ok()).unwrap_or(0);
            listing.ttl_ms = listing.ttl_ms.min(ttl);
            let Some(items) = root.get(member).filter(|items| items.kind() == lockgate_contract::document::Kind::Array)
            else {
                return Err(ClientError::Invalid(format!("its answer to `{method}` has no list `{member}`")));
            };
            for item in items.elements() {
                if listing.items.len() == bounds.items {
                    listing
                        .warnings
                        .push(format!("the list has more than {} entries: the rest is left out", bounds.items));
                    return Ok(listing);
                }
                if let Some(why) = self.unfit(list, item) {
                    listing.warnings.push(why);
                } else {
                    listing.items.push(item.to_document());
                }
            }
            match root.get("nextCursor").filter(|next| !next.is_null()) {
                None => break,
                Some(next) => {
                    let Some(next) = next.as_str() else {
                        listing.warnings.push("a cursor is no text: the rest of the list is left out".to_owned());
                        break;
                    };
                    if !seen.insert(next.clone().into_owned()) {
                        listing.warnings.push("a cursor came twice: the rest of the list is left out".to_owned());
                        break;
                    }
                    cursor = Some(next.into_owned());
                }
            }
        }
        Ok(listing)
    }

    async fn page(self: &Arc<Self>, method: &str, params: &Document) -> Result<Document, ClientError> {
        let cancel = CancellationToken::new();
        let (envelope, patience) = (Envelope::default(), self.options.patience);
        let cancel = &cancel;
        let asked =
            Exchange { method, params, envelope, caller: None, cancel, patience, mirror: None, acknowledged: None };
        self.exchange(asked).await
    }

    /// Why an entry must not be offered: over HTTP, a tool whose annotations for headers are wrong.
    fn unfit(&self, list: List, item: Node<'_>) -> Option<String> {
        if list != List::Tools || self.era() != Era::Modern || !self.wire.has_headers() {
            return None;
        }
        let why = Mirrors::of(item.get("inputSchema")?).err()?;
        let name = item.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        Some(format!("the tool `{}` is left out: {why}", &name[..name.floor_char_boundary(128)]))
    }
}
