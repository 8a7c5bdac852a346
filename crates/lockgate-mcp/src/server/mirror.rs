//! A header that says something else than the body is refused: or else two parties would judge two calls.

use lockgate_contract::document::{Kind, Node, Number};

use crate::wire::{Mirrors, RpcError, code, decoded, integer};

impl Mirrors {
    /// Compares headers with arguments.
    ///
    /// # Errors
    ///
    /// `HeaderMismatch`, naming the header.
    pub(super) fn check(&self, headers: &http::HeaderMap, arguments: Option<Node<'_>>) -> Result<(), RpcError> {
        for mirror in self.iter() {
            let argument = arguments.and_then(|arguments| mirror.argument(arguments));
            let mut said = headers.get_all(&mirror.header).iter();
            let same = match (said.next(), argument) {
                (None, None) => true,
                (Some(said), Some(argument)) => decoded(said).is_some_and(|said| is_same(&said, argument)),
                _ => false,
            };
            if !same || said.next().is_some() {
                return Err(mismatch(&mirror.header));
            }
        }
        Ok(())
    }
}

/// What a request is told whose header says something else than its body.
pub(super) fn mismatch(header: &str) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, format!("the header `{header}` does not say what the body says"))
}

fn is_same(said: &str, argument: Node<'_>) -> bool {
    match argument.kind() {
        Kind::String => argument.as_str().as_deref() == Some(said),
        Kind::Bool => argument.as_bool().is_some_and(|value| said == if value { "true" } else { "false" }),
        // By value: `7`, `7.0` and `7e0` are one integer.
        Kind::Number => {
            let said = Number::parse(said).and_then(|said| integer(&said));
            said.is_some() && said == argument.as_number().and_then(|argument| integer(&argument))
        }
        Kind::Null | Kind::Array | Kind::Object => false,
    }
}

#[cfg(test)]
mod tests;
