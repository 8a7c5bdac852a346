//! Arguments as headers say them.

use lockgate_contract::document::{Kind, Node};

use super::envelope::Headers;
use crate::wire::{Mirrors, encoded, integer};

impl Mirrors {
    /// The headers for these arguments. What is absent, null, or of no kind that a header can say is left out.
    pub(super) fn headers(&self, arguments: Node<'_>) -> Headers {
        let headers = self.iter().filter_map(|mirror| {
            let value = mirror.argument(arguments)?;
            let text = match value.kind() {
                Kind::String => encoded(&value.as_str()?),
                Kind::Bool => value.as_bool()?.to_string(),
                Kind::Number => integer(&value.as_number()?)?.to_string(),
                Kind::Null | Kind::Array | Kind::Object => return None,
            };
            Some((mirror.header.clone(), text))
        });
        headers.collect()
    }
}
