//! An access token of an issuer, as it is written (RFC 7519, RFC 9068). Nothing of it is believed here.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::document::{Document, Kind, Limits, Node};
use lockgate::contract::time::Timestamp;

/// The longest part of a token, and the deepest.
const LIMITS: Limits = Limits { max_bytes: 16 << 10, max_depth: 16 };

/// A token that was taken apart. Where a name stands twice in it, which one was meant is anybody's guess: it is none.
pub(super) struct Jwt<'t> {
    header: Document,
    claims: Document,
    issuer: String,
    /// What is signed.
    pub(super) signed: &'t str,
    /// The signature.
    pub(super) signature: Vec<u8>,
}

impl<'t> Jwt<'t> {
    /// Takes a token apart.
    ///
    /// # Errors
    ///
    /// What is wrong with its form.
    pub(super) fn read(token: &'t str) -> Result<Self, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or("it is no token of any kind")?;
        let (header, claims) = signed.split_once('.').ok_or("it is no token of any kind")?;
        let header = object(header).ok_or("its header is no JSON object")?;
        let claims = object(claims).ok_or("its claims are no JSON object")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "its signature is not in base64url")?;
        if header.root().get("crit").is_some() {
            return Err("it demands extensions, and there are none here");
        }
        let issuer = text(claims.root(), "iss").ok_or("it names no issuer")?.into_owned();
        Ok(Self { header, claims, issuer, signed, signature })
    }

    /// Who says that they issued it.
    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// A word of its header.
    pub(super) fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        text(self.header.root(), name)
    }

    /// Whether its header says something under this name, be it no word.
    pub(super) fn header_has(&self, name: &str) -> bool {
        self.header.root().get(name).is_some()
    }

    /// A name that it says: no other text stands for a person.
    pub(super) fn name(&self, claim: &str) -> Option<String> {
        let name = text(self.claims.root(), claim)?;
        let is_name = !name.trim().is_empty() && name.len() <= 256 && !name.chars().any(char::is_control);
        is_name.then(|| name.into_owned())
    }

    /// A time that it says, in seconds since 1970; an error where it is none.
    pub(super) fn time(&self, claim: &str) -> Result<Option<Timestamp>, ()> {
        let Some(node) = self.claims.root().get(claim) else { return Ok(None) };
        let seconds = node.as_number().and_then(|number| number.as_f64()).ok_or(())?;
        if !(0.0..=253_402_300_799.0).contains(&seconds) {
            return Err(());
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
        Ok(Some(Timestamp::from_millis((seconds * 1000.0) as i64)))
    }

    /// Whether it is meant for somebody.
    pub(super) fn is_for(&self, audience: &str) -> bool {
        let Some(said) = self.claims.root().get("aud") else { return false };
        match said.kind() {
            Kind::String => said.as_str().as_deref() == Some(audience),
            Kind::Array => said.elements().any(|one| one.as_str().as_deref() == Some(audience)),
            _ => false,
        }
    }

    /// Words: in one text, or a list of texts. Nothing where it says something else.
    pub(super) fn words(&self, claim: &str) -> Option<BTreeSet<String>> {
        let Some(said) = self.claims.root().get(claim) else { return Some(BTreeSet::new()) };
        match said.kind() {
            Kind::String => {
                Some(said.as_str()?.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
            }
            Kind::Array => said.elements().map(|one| one.as_str().map(Cow::into_owned)).collect(),
            _ => None,
        }
    }
}

fn object(part: &str) -> Option<Document> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    let document = Document::parse(String::from_utf8(bytes).ok()?, LIMITS).ok()?;
    (document.root().kind() == Kind::Object).then_some(document)
}

fn text<'d>(node: Node<'d>, name: &str) -> Option<Cow<'d, str>> {
    node.get(name)?.as_str()
}

#[cfg(test)]
mod tests;
