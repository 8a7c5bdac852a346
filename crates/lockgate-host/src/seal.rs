//! Seals: whether this installation, or whoever else has a key, wrote something (HMAC-SHA-256, RFC 2104).
//!
//! What is sealed is the parts, one behind the other: whoever seals several of varying length says in them where each ends,
//! and whoever seals several things with one key says which it is, so that a seal of one is none of another.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The seal of these parts.
pub fn seal(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    code(key, parts).map_or([0; 32], |code| code.finalize().into_bytes().into())
}

/// Whether this is the seal of these parts. Compared in constant time.
pub fn is_seal(key: &[u8], parts: &[&[u8]], seal: &[u8]) -> bool {
    code(key, parts).is_some_and(|code| code.verify_slice(seal).is_ok())
}

fn code(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // INVARIANT: HMAC takes keys of every length.
    let mut code = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in parts {
        code.update(part);
    }
    Some(code)
}

#[cfg(test)]
mod tests;
