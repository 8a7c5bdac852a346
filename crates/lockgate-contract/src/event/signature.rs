//! Signatures of decisions: what a person or a policy decided was decided by a process that had the key.
//!
//! ```text
//! signed text = frames("lockgate.decision.v1", run, seq, time, type, version, step, call, SHA-256 of the body)
//! ```
//!
//! Each frame is its length (8 bytes, big-endian) and its bytes, so that no two decisions have one text. The signature
//! stands in the body itself, as its last member; the digest is over the body without it, to the byte. So every journal and
//! every export keeps it, and a program that knows no signatures does not look at it.

use std::fmt;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::document::{Document, Limits};
use crate::event::{Event, EventType};

/// The member of a body.
const MEMBER: &str = "signature";
const VERSION: u32 = 1;

/// Has a key, and signs with it.
pub trait Sign: Send + Sync + fmt::Debug {
    /// The name of the public key, such as `ed25519:` and its 64 hexadecimal digits.
    fn key(&self) -> String;

    /// The signature over a text, in hexadecimal digits.
    fn sign(&self, text: &[u8]) -> String;
}

/// A signature as it stands in the body of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The version of the signed text.
    pub v: u32,
    /// The name of the public key.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub value: String,
}

/// What a signature is to be compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The signature.
    pub signature: Signature,
    /// What it must be over; nothing where the body is not one that was signed, or where the version is not known.
    pub text: Option<Vec<u8>>,
}

/// The name of the key with which a run of these events began to be signed; nothing for one that is not.
pub fn signed_with(events: &[Event]) -> Option<String> {
    events.first().and_then(Event::signature).map(|signed| signed.signature.key)
}

impl Event {
    /// Whether it records what a person or a policy decided: such an event is signed, where its journal signs.
    ///
    /// A run's start is among them, since it says what the run is bound to; of the ends of calls only what a policy denied.
    pub fn is_decision(&self) -> bool {
        match &self.kind {
            EventType::RunStarted | EventType::ToolRelaxed | EventType::ToolStarted => true,
            EventType::ToolFailed => {
                let decision = self.data.root().pointer("/audit/decision");
                decision.and_then(|decision| decision.as_str()).is_some_and(|decision| decision == "deny")
            }
            other => other.word().starts_with("approval."),
        }
    }

    /// Its signature, if it has one.
    pub fn signature(&self) -> Option<Signed> {
        let member = self.data.root().get(MEMBER)?;
        let signature: Signature =
            member.decode().ok().unwrap_or_else(|| Signature { v: 0, key: String::new(), value: String::new() });
        let known = signature.v == VERSION;
        let body = unsigned(self.data.text(), member.raw()).filter(|_| known);
        let text = body.map(|body| signed_text(self, &body));
        Some(Signed { signature, text })
    }

    /// The body with a signature over this event, which has none.
    pub(super) fn signed(&self, signer: &dyn Sign) -> Option<Document> {
        let signature =
            Signature { v: VERSION, key: signer.key(), value: signer.sign(&signed_text(self, self.data.text())) };
        let member = Document::from_serialize(&signature).ok()?;
        let open = self.data.text().strip_suffix('}')?;
        let comma = if open.ends_with('{') { "" } else { "," };
        let mut text = String::with_capacity(open.len() + 256);
        let _ = write!(text, "{open}{comma}\"{MEMBER}\":{}}}", member.text());
        Document::parse(text, Limits::OWN).ok()
    }
}

/// The body without its last member, which is the signature; nothing where it stands elsewhere or otherwise.
fn unsigned(body: &str, signature: &str) -> Option<String> {
    let open = body.strip_suffix('}')?.strip_suffix(signature)?.strip_suffix("\"signature\":")?;
    Some(format!("{}}}", open.strip_suffix(',').unwrap_or(open)))
}

fn signed_text(event: &Event, body: &str) -> Vec<u8> {
    let digest = Digest::of_text("lockgate.body.v1", body);
    let mut text = Vec::with_capacity(256);
    let mut frame = |bytes: &[u8]| {
        text.extend((bytes.len() as u64).to_be_bytes());
        text.extend(bytes);
    };
    frame(b"lockgate.decision.v1");
    frame(event.run_id.as_str().as_bytes());
    frame(&event.seq.to_be_bytes());
    frame(&event.at.as_millis().to_be_bytes());
    frame(event.kind.word().as_bytes());
    frame(&event.v.to_be_bytes());
    frame(&event.step.to_be_bytes());
    match &event.call_id {
        // A call's id is never empty.
        Some(call) => frame(call.as_str().as_bytes()),
        None => frame(b""),
    }
    frame(digest.as_bytes());
    text
}

#[cfg(test)]
mod tests;
