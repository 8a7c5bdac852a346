//! Whether a server shows its model the tools that it is sent.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{Message, ModelError, ModelRequest, ToolDefinition};

use super::{prompt_tokens, without_tools};
use crate::options::Resolved;
use crate::wire::{Wire, WireRequest, limits};

/// Two requests, alike but for the tools. Dropped tools cost no tokens.
#[derive(Debug)]
pub(crate) struct Probe {
    /// Without tools.
    pub(crate) bare: WireRequest,
    /// With them.
    pub(crate) equipped: WireRequest,
}

impl Probe {
    /// For the tools of a request.
    pub(crate) fn of(wire: &dyn Wire, options: &Resolved, tools: &[ToolDefinition]) -> Result<Self, ModelError> {
        let mut options = without_tools(options);
        options.max_output_tokens = Some(1);
        let messages = vec![Message::User { text: "Hello".to_owned() }];
        let mut request = ModelRequest { step: 0, messages, tools: Vec::new() };
        let bare = wire.request(&options, &request, false)?;
        request.tools = tools.to_vec();
        let equipped = wire.request(&options, &request, false)?;
        Ok(Self { bare, equipped })
    }

    /// What the two answers say. A server that refuses tools has none for this model; one that does not count leaves things as they are.
    ///
    /// # Errors
    ///
    /// The server fails for a reason that has nothing to do with tools.
    pub(crate) fn shows_tools(
        wire: &dyn Wire,
        bare: &str,
        equipped: Result<String, ModelError>,
    ) -> Result<bool, ModelError> {
        let equipped = match equipped {
            Ok(answer) => answer,
            Err(ModelError::InvalidRequest { .. }) => return Ok(false),
            // Some say so as if it were a failure of theirs.
            Err(ModelError::Overloaded { detail, .. }) if detail.contains("tool") => return Ok(false),
            Err(error) => return Err(error),
        };
        let count = |answer: &str| {
            let document = Document::parse(answer, limits(answer.len())).ok()?;
            prompt_tokens(wire, document.root())
        };
        let (Some(bare), Some(equipped)) = (count(bare), count(&equipped)) else {
            tracing::warn!("the server does not count its prompts: whether it drops tools cannot be known");
            return Ok(true);
        };
        Ok(bare != equipped)
    }
}
