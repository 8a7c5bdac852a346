//! Tokens that reach one run, and need no file of their own: they say which run and until when, under a seal.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::digest::Digest;
use lockgate::contract::hexadecimal::{bytes, digits};
use lockgate::contract::ids::RunId;
use lockgate::contract::time::Timestamp;
use lockgate::host::private_files::{self, Kept};
use lockgate::host::randomness;
use lockgate::host::seal::{is_seal, seal};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::TokensError;
use super::file::create;

/// How a run's token begins: no other credential does, for the id of a file's token has no capitals.
pub(crate) const PREFIX: &str = "lgt_RUN_";

/// How what is bound to a run's token begins.
const CREDENTIAL: &str = "run:";

/// What the seal is over, besides what the token says: a key that sealed something else opens nothing here.
const SEALED: &[u8] = b"lockgate.run-token.v1\n";

/// The longest file with a key: 64 digits and an end of line.
pub(crate) const MOST_KEY_BYTES: u64 = 128;

/// The key that seals tokens of runs.
#[derive(Clone)]
pub struct RunKey([u8; 32]);

/// What a token of a run says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    run: RunId,
    expires_at: Timestamp,
}

/// Why a token opens no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RunTokenRefused {
    /// It is no such token, or another key sealed it.
    #[error("it is not sealed with the key of this server")]
    Seal,
    /// Its time is over.
    #[error("it has expired")]
    Expired,
}

impl RunKey {
    /// The key of a text: 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        bytes(text.trim_end()).map(Self)
    }

    /// The key in a file that nobody else may read or write. Where there is none, it is made of random bytes.
    ///
    /// # Errors
    ///
    /// It cannot be read or written, others could, or it is no key.
    pub fn read_or_make(path: &Path) -> Result<Self, TokensError> {
        match private_files::read(path, Kept::Secret, MOST_KEY_BYTES) {
            Ok(file) => {
                let text = str::from_utf8(&file.bytes).ok();
                text.and_then(Self::parse).ok_or_else(|| TokensError::NoKey(path.to_owned()))
            }
            Err(error) if error.is_not_there() => {
                let key = Self(randomness::secret_bytes().map_err(TokensError::NoRandomness)?);
                create(path, format!("{}\n", digits(&key.0)).as_bytes())
                    .map_err(|cause| TokensError::Unwritten { path: path.to_owned(), cause })?;
                Ok(key)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A token for one run.
    pub fn seal(&self, run: &RunId, now: Timestamp, lasts: Duration) -> (String, Timestamp) {
        let expires_at = now.after(lasts);
        let said = serde_json::to_vec(&Said { run: run.clone(), expires_at }).unwrap_or_default();
        let text = URL_SAFE_NO_PAD.encode(said);
        let seal = URL_SAFE_NO_PAD.encode(seal(&self.0, &[SEALED, text.as_bytes()]));
        (format!("{PREFIX}{text}.{seal}"), expires_at)
    }

    /// What whoever comes in by such a token is bound to: one of the same run, sealed with another key, goes on with nothing of its.
    pub(crate) fn credential(&self, run: &RunId) -> String {
        format!("{CREDENTIAL}{run}:{}", Digest::of_text("lockgate.run-key.v1", &digits(&self.0)).short(16))
    }

    /// Whether it is this that somebody is bound to.
    pub(crate) fn is_credential(credential: &str) -> bool {
        credential.starts_with(CREDENTIAL)
    }

    /// The run that a token reaches, and until when.
    ///
    /// # Errors
    ///
    /// It is not this key's, or too late.
    pub fn open(&self, token: &str, now: Timestamp) -> Result<(RunId, Timestamp), RunTokenRefused> {
        let parts = token.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'));
        let (text, sealed) = parts.ok_or(RunTokenRefused::Seal)?;
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| RunTokenRefused::Seal)?;
        // Nothing of the text is read before.
        if !is_seal(&self.0, &[SEALED, text.as_bytes()], &sealed) {
            return Err(RunTokenRefused::Seal);
        }
        let said = URL_SAFE_NO_PAD.decode(text).map_err(|_| RunTokenRefused::Seal)?;
        let said: Said = serde_json::from_slice(&said).map_err(|_| RunTokenRefused::Seal)?;
        if now >= said.expires_at { Err(RunTokenRefused::Expired) } else { Ok((said.run, said.expires_at)) }
    }
}
