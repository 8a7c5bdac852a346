//! `requestState`: which waiting call a retry goes on with, sealed so that nobody else can say so.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use lockgate_contract::document::Document;

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

/// The lengths of the parts of a state: handle, seal.
const HANDLE: usize = 16;
const WHOLE: usize = HANDLE + 32;

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
        let mut whole = [0; WHOLE];
        let (name, seal) = whole.split_at_mut(HANDLE);
        name.copy_from_slice(handle);
        if let Some(code) = self.code(handle, bound) {
            seal.copy_from_slice(&code.finalize().into_bytes());
        }
        URL_SAFE_NO_PAD.encode(whole)
    }

    /// The handle that a state names, if it is one of this key's and bound to the same.
    pub(super) fn open(&self, state: &str, bound: &Bound<'_>) -> Option<Handle> {
        let whole = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (handle, seal) = whole.split_first_chunk::<HANDLE>()?;
        self.code(handle, bound)?.verify_slice(seal).ok()?;
        Some(*handle)
    }

    fn code(&self, handle: &Handle, bound: &Bound<'_>) -> Option<Hmac<Sha256>> {
        // INVARIANT: HMAC takes keys of any length.
        let mut code = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        code.update(b"lockgate request state 1");
        code.update(handle);
        for part in [bound.credential.as_bytes(), bound.method.as_bytes(), &bound.digest] {
            // With their lengths, so that no two lists of parts read the same.
            code.update(&(part.len() as u64).to_le_bytes());
            code.update(part);
        }
        Some(code)
    }
}

/// The digest of what a request asks for: its parameters without what may differ in a retry.
pub(super) fn digest(params: &Document) -> [u8; 32] {
    let asked = Edit::of(params.root()).without("_meta").without("inputResponses").without("requestState");
    Sha256::digest(asked.document().canonical()).into()
}
