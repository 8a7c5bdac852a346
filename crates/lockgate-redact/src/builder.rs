//! Puts a scrubber together.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::document;
use crate::error::RedactError;
use crate::key_names::KeyKind;
use crate::known::{KnownValues, Named};
use crate::learned::{self, LearnedSecrets};
use crate::marker::{OPENING, Tagger};
use crate::prefilter::Prefilter;
use crate::rules::{self, CompiledRule, Rule};
use crate::scrubber::Scrubber;
use crate::secret::SecretValue;
use crate::structural::{pem, url};

/// A known value needs at least so many characters after trimming; shorter ones would be found everywhere by chance.
pub const MINIMUM_LENGTH: usize = 8;

/// The key of the tags in markers unless [`ScrubberBuilder::key`] sets another one.
///
/// It is fixed, so that two runs with one configuration show the same text. It is also public: whoever holds a list of
/// candidates can compare their tags. Sixteen bits decide little, and a key of your own decides nothing at all.
pub const DEFAULT_KEY: &[u8] = b"lockgate redaction tag, version 1";

const LONGEST_NAME: usize = 64;

/// Collects what a [`Scrubber`] has to know. Structural rules and token rules are always in it.
///
/// ```
/// use lockgate_contract::ports::Redactor;
/// use lockgate_redact::{ScrubberBuilder, SecretValue};
///
/// let mut builder = ScrubberBuilder::new();
/// builder.secret("DATABASE_PASSWORD", SecretValue::new("correct horse"))?;
/// let scrubber = builder.build()?;
/// assert!(scrubber.scrub("GET /?q=correct%20horse").starts_with("GET /?q=[redacted:DATABASE_PASSWORD#"));
/// # Ok::<(), lockgate_redact::RedactError>(())
/// ```
#[derive(Clone)]
pub struct ScrubberBuilder {
    key: Box<[u8]>,
    secrets: Vec<Named>,
    allowed: HashSet<[u8; 32]>,
    /// The rules of the user's files.
    rules: Vec<Arc<Rule>>,
    learned: Option<LearnedSecrets>,
}

impl Default for ScrubberBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ScrubberBuilder {
    /// A builder without known values, with [`DEFAULT_KEY`].
    pub fn new() -> Self {
        Self { key: DEFAULT_KEY.into(), secrets: Vec::new(), allowed: HashSet::new(), rules: Vec::new(), learned: None }
    }

    /// The key of the tags in markers: the same key gives the same tags.
    pub fn key(&mut self, key: &[u8]) -> &mut Self {
        self.key = key.into();
        self
    }

    /// Adds a value that is known to be secret, under the name that its markers show. White space around the value
    /// does not count. It is found raw, in hexadecimal, and in base64 and base64url at any phase; each of these also
    /// escaped for JSON, programming languages, HTML, URLs or forms, or for two of them around each other, whatever
    /// characters the encoder escapes.
    ///
    /// # Errors
    ///
    /// [`RedactError::SecretTooShort`] below [`MINIMUM_LENGTH`] characters, [`RedactError::UnusableName`], and
    /// [`RedactError::ValueInMarker`] when a marker would show the value. The builder stays as it was.
    #[expect(clippy::needless_pass_by_value, reason = "the caller hands its secret over")]
    pub fn secret(&mut self, name: &str, value: SecretValue) -> Result<&mut Self, RedactError> {
        let usable = (1..=LONGEST_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte));
        if !usable {
            return Err(RedactError::UnusableName { name: name.to_owned() });
        }
        let trimmed = value.expose().trim();
        let length = trimmed.chars().count();
        if length < MINIMUM_LENGTH {
            return Err(RedactError::SecretTooShort { name: name.to_owned(), length });
        }
        let shown = self.labels().into_iter().any(|label| marker_start(&label).contains(trimmed))
            || std::iter::once(trimmed)
                .chain(self.secrets.iter().map(|secret| secret.value.expose()))
                .any(|value| marker_start(name).contains(value));
        if shown {
            return Err(RedactError::ValueInMarker { name: name.to_owned() });
        }
        self.secrets.push(Named { name: name.into(), value: SecretValue::new(trimmed) });
        Ok(self)
    }

    /// Values that become known later are found too, from then on.
    pub fn learned(&mut self, learned: &LearnedSecrets) -> &mut Self {
        self.learned = Some(learned.clone());
        self
    }

    /// Lets one value stay although a rule finds it, named by the SHA-256 digest of its text in hexadecimal. Known
    /// values go nevertheless.
    ///
    /// # Errors
    ///
    /// [`RedactError::UnusableDigest`] when this is not a digest of 64 hexadecimal digits.
    pub fn allow_digest(&mut self, digest: &str) -> Result<&mut Self, RedactError> {
        let unusable = || RedactError::UnusableDigest { entry: digest.to_owned() };
        if digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unusable());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digest[index * 2..index * 2 + 2], 16).map_err(|_| unusable())?;
        }
        self.allowed.insert(bytes);
        Ok(self)
    }

    /// Adds the token rules of a file beside the built-in ones; `rules.toml` of this crate says how such a file is written.
    /// `file` is its name, for errors. Each rule's pattern is compiled and each of its examples tried.
    ///
    /// # Errors
    ///
    /// [`RedactError::RuleFile`] and [`RedactError::Rule`], which say what is wrong where, and
    /// [`RedactError::ValueInMarker`] when a marker would show a known value. The builder stays as it was.
    pub fn rules(&mut self, file: &str, text: &str) -> Result<&mut Self, RedactError> {
        let rules = rules::read(file, text)?;
        let marker_starts: Vec<String> = rules.iter().map(|rule| marker_start(&rule.label)).collect();
        let shown = |secret: &&Named| marker_starts.iter().any(|start| start.contains(secret.value.expose()));
        if let Some(secret) = self.secrets.iter().find(shown) {
            return Err(RedactError::ValueInMarker { name: secret.name.to_string() });
        }
        self.rules.extend(rules);
        Ok(self)
    }

    /// Builds the searches.
    ///
    /// # Errors
    ///
    /// [`RedactError::Automaton`] when far too many values are known.
    pub fn build(&self) -> Result<Scrubber, RedactError> {
        let rules: Vec<Arc<Rule>> = match rules::built_in() {
            Ok(built_in) => built_in.iter().chain(&self.rules).map(Arc::clone).collect(),
            Err(error) => return Err(RedactError::OwnRules(error)),
        };
        Ok(Scrubber {
            known: KnownValues::new(self.secrets.clone())?,
            prefilter: Prefilter::new(&rules)?,
            rules: rules.into_iter().map(CompiledRule::new).collect(),
            tagger: Tagger::new(&self.key),
            labels: self.labels(),
            allowed: self.allowed.clone(),
            learned: self.learned.clone().unwrap_or_default(),
        })
    }

    /// Every label that a marker of this scrubber can show.
    fn labels(&self) -> HashSet<Box<str>> {
        let mut labels = HashSet::from([pem::LABEL, url::LABEL, document::LABEL, learned::LABEL].map(Box::from));
        labels.extend(KeyKind::ALL.map(|kind| kind.label().into()));
        labels.extend(rules::built_in().unwrap_or_default().iter().chain(&self.rules).map(|rule| rule.label.clone()));
        labels.extend(self.secrets.iter().map(|secret| secret.name.clone()));
        labels
    }
}

impl fmt::Debug for ScrubberBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScrubberBuilder")
            .field("secrets", &self.secrets)
            .field("allowed", &self.allowed.len())
            .field("rules", &self.rules.len())
            .field("learned", &self.learned)
            .finish_non_exhaustive()
    }
}

pub(crate) fn marker_start(label: &str) -> String {
    format!("{OPENING}{label}#")
}
