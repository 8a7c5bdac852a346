//! The file that tokens stand in.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use lockgate::contract::time::Timestamp;
use lockgate::host::files::{self, NewFile};
use lockgate::host::private_files::{self, Kept};
use serde::{Deserialize, Serialize};

use super::{CREDENTIAL, PREFIX, Token, TokensError};

/// The longest file of tokens.
pub const MOST_BYTES: u64 = 4 << 20;

const HEAD: &str = "# Who may call, and who may decide. `lockgate token create`, `list` and `revoke` write this file; the tokens\n# themselves are in no file.\n\n";

/// The tokens of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenFile {
    /// All of them, those that are good no more too.
    #[serde(default, rename = "token")]
    pub tokens: Vec<Token>,
}

impl TokenFile {
    /// The tokens of a text; what is wrong with it otherwise. Of a file with one token that cannot be, none is good.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        // The reader's own words quote the line, and a line may hold what somebody took for a place to keep a token.
        let file: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            format!("line {} is not as `lockgate token create` writes it", before.matches('\n').count() + 1)
        })?;
        let mut ids = BTreeSet::new();
        for token in &file.tokens {
            if let Some(wrong) = token.wrong() {
                return Err(format!("token `{}` {wrong}", token.id.escape_debug()));
            }
            if !ids.insert(token.id.as_str()) {
                return Err(format!("token `{}` stands in it twice", token.id));
            }
        }
        Ok(file)
    }

    /// Reads a file that nobody else may read or write; without one there are no tokens.
    ///
    /// # Errors
    ///
    /// It cannot be read, or others could.
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        Ok(stored(path)?.map(|(_, file)| file).unwrap_or_default())
    }

    /// Whether it is a token of a file that somebody is bound to.
    pub(crate) fn is_credential(credential: &str) -> bool {
        credential.starts_with(CREDENTIAL)
    }

    /// The token that was sent, where it is good.
    pub fn find(&self, sent: &str, now: Timestamp) -> Option<&Token> {
        let (id, _) = sent.strip_prefix(PREFIX)?.split_once('_')?;
        let token = self.tokens.iter().find(|token| token.id == id)?;
        (token.is(sent) && !token.has_expired(now)).then_some(token)
    }

    /// Writes one more token into a file, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// There is one of its id, or the file cannot be read or written.
    pub fn add(path: &Path, token: Token) -> Result<(), TokensError> {
        let (before, mut file) = stored(path)?.map_or((None, Self::default()), |(before, file)| (Some(before), file));
        if file.tokens.iter().any(|other| other.id == token.id) {
            return Err(TokensError::Wrong { id: token.id, wrong: "is there already: revoke it, or take another id" });
        }
        file.tokens.push(token);
        file.write(path, before.as_deref())
    }

    /// Takes a token out of a file.
    ///
    /// # Errors
    ///
    /// It is not there, or the file cannot be read or written.
    pub fn remove(path: &Path, id: &str) -> Result<Token, TokensError> {
        let unknown = || TokensError::Unknown { path: path.to_owned(), id: id.to_owned() };
        let (before, mut file) = stored(path)?.ok_or_else(unknown)?;
        let at = file.tokens.iter().position(|token| token.id == id).ok_or_else(unknown)?;
        let token = file.tokens.remove(at);
        file.write(path, Some(&before))?;
        Ok(token)
    }

    fn write(&self, path: &Path, before: Option<&[u8]>) -> Result<(), TokensError> {
        let unwritten = |cause| TokensError::Unwritten { path: path.to_owned(), cause };
        let body = toml::to_string(self).map_err(|error| unwritten(io::Error::other(error)))?;
        let text = format!("{HEAD}{body}");
        match before {
            Some(before) => files::replace(path, before, text.as_bytes()).map_err(unwritten),
            None => create(path, text.as_bytes()).map_err(unwritten),
        }
    }
}

/// What is in the file, where there is one.
fn stored(path: &Path) -> Result<Option<(Vec<u8>, TokenFile)>, TokensError> {
    let bytes = match private_files::read(path, Kept::Secret, MOST_BYTES) {
        Ok(file) => file.bytes,
        Err(error) if error.is_not_there() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let broken = |detail| TokensError::Broken { path: path.to_owned(), detail };
    let text = str::from_utf8(&bytes).map_err(|_| broken("it is not UTF-8".to_owned()))?;
    let file = TokenFile::parse(text).map_err(broken)?;
    Ok(Some((bytes, file)))
}

/// Makes a file for its owner alone, and its folder.
pub(super) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::create_dir_all(folder)?;
    }
    let mut file = NewFile::create(path)?;
    file.write(bytes)?;
    file.finish()
}
