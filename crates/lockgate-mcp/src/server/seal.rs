//! `requestState`: which waiting call a retry goes on with, sealed so that nobody else can say so.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate_contract::document::Document;
use lockgate_host::seal::{is_seal, seal};
use sha2::{Digest as _, Sha256};

use crate::wire::Edit;

/// The name of a waiting call.
pub(super) type Handle = [u8; 16];

/// What a state is bound to: it is good for nothing else.
pub(super) struct Bound<'a> {
    /// Whose credential the call came with.
    pub(super) credential: &'a str,
    /// The call's method.
    pub(super) method: &'a str,
    /// The digest of its parameters, see [`digest`].
    pub(super) digest: [u8; 32],
}

/// The key of one process. Calls wait in memory, so no state is good for longer.
pub(super) struct Seal {
    key: [u8; 32],
}

impl Seal {
    /// A fresh key.
    ///
    /// # Errors
    ///
    /// The system has no randomness to give.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { key: lockgate_host::randomness::secret_bytes()? })
    }

    /// A state that names this handle.
    pub(super) fn close(&self, handle: &Handle, bound: &Bound<'_>) -> String {
        let seal = bound.parts(handle, |parts| seal(&self.key, parts));
        URL_SAFE_NO_PAD.encode([handle.as_slice(), &seal].concat())
    }

    /// The handle that a state names, if it is one of this key's and bound to the same.
    pub(super) fn open(&self, state: &str, bound: &Bound<'_>) -> Option<Handle> {
        let whole = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (handle, seal) = whole.split_first_chunk()?;
        bound.parts(handle, |parts| is_seal(&self.key, parts, seal)).then_some(*handle)
    }
}

impl Bound<'_> {
    /// What is sealed: with the lengths of what varies, so that no two lists of parts read the same.
    fn parts<T>(&self, handle: &Handle, with: impl FnOnce(&[&[u8]]) -> T) -> T {
        let length = |part: &[u8]| (part.len() as u64).to_le_bytes();
        let (credential, method, digest) = (self.credential.as_bytes(), self.method.as_bytes(), &self.digest);
        let lengths = [length(credential), length(method), length(digest)];
        with(&[b"lockgate request state 1", handle, &lengths[0], credential, &lengths[1], method, &lengths[2], digest])
    }
}

/// The digest of what a request asks for: its parameters without what may differ in a retry.
pub(super) fn digest(params: &Document) -> [u8; 32] {
    let asked = Edit::of(params.root()).without("_meta").without("inputResponses").without("requestState");
    Sha256::digest(asked.document().canonical()).into()
}
