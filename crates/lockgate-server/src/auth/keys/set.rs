//! A set of keys, as it is written.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::config::JwtAlgorithm;
use serde::Deserialize;

use crate::auth::signature::PublicKey;

/// The most keys of an issuer.
const MOST: usize = 100;

/// The keys that a token can be signed with.
#[derive(Debug, Default)]
pub(in crate::auth) struct KeySet {
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    kid: Option<String>,
    /// The one way that it signs in, where it says so.
    algorithm: Option<String>,
    public: PublicKey,
}

#[derive(Deserialize)]
struct Written {
    keys: Vec<BTreeMap<String, serde_json::Value>>,
}

impl KeySet {
    /// Reads a set. Keys of other kinds, and those that sign no tokens, are left out.
    ///
    /// # Errors
    ///
    /// It is none, in words.
    pub(in crate::auth) fn parse(text: &str) -> Result<Self, String> {
        let written: Written = serde_json::from_str(text).map_err(|_| "it is no set of keys".to_owned())?;
        if written.keys.len() > MOST {
            return Err(format!("it has more than {MOST} keys"));
        }
        Ok(Self { keys: written.keys.iter().filter_map(Key::read).collect() })
    }

    /// The key of this id that signs in this way. Where more than one would do, it is none: nobody could say which was meant.
    pub(in crate::auth) fn find(&self, kid: Option<&str>, algorithm: JwtAlgorithm) -> Option<&PublicKey> {
        let fits = |key: &&Key| {
            kid.is_none_or(|kid| key.kid.as_deref() == Some(kid))
                && key.algorithm.as_deref().is_none_or(|said| said == algorithm.word())
                && key.public.fits(algorithm)
        };
        let mut found = self.keys.iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(key), None) => Some(&key.public),
            _ => None,
        }
    }
}

impl Key {
    fn read(written: &BTreeMap<String, serde_json::Value>) -> Option<Self> {
        let word = |name: &str| written.get(name).and_then(serde_json::Value::as_str);
        if written.contains_key("use") && word("use") != Some("sig") {
            return None;
        }
        if let Some(uses) = written.get("key_ops") {
            uses.as_array()?.iter().find(|one| one.as_str() == Some("verify"))?;
        }
        if written.contains_key("alg") && word("alg").is_none() || written.contains_key("kid") && word("kid").is_none()
        {
            return None;
        }
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(word(name)?).ok();
        let public = match (word("kty")?, word("crv")) {
            ("RSA", _) => PublicKey::Rsa { modulus: bytes("n")?, exponent: bytes("e")? },
            ("EC", Some("P-256")) => {
                let (x, y): ([u8; 32], [u8; 32]) = (bytes("x")?.try_into().ok()?, bytes("y")?.try_into().ok()?);
                let mut point = [4; 65];
                point[1..33].copy_from_slice(&x);
                point[33..].copy_from_slice(&y);
                PublicKey::P256(point)
            }
            ("OKP", Some("Ed25519")) => PublicKey::Ed25519(bytes("x")?.try_into().ok()?),
            _ => return None,
        };
        Some(Self { kid: word("kid").map(str::to_owned), algorithm: word("alg").map(str::to_owned), public })
    }
}
