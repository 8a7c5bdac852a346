//! A journal whose decisions are signed (ed25519, RFC 8032).
//!
//! What is signed, and where the signature stands, is the contract's (`event/signature.rs`). Here are the keys, and a journal
//! in front of another one that hands each event to it with its signer; numbers are given inside, and so is the signature.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ed25519_dalek::Signer as _;
use lockgate_contract::approval::Approval;
use lockgate_contract::event::{Event, NewEvent, Sign, signed_with};
use lockgate_contract::hexadecimal::{bytes, digits};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Appended, BoxFuture, Claim, ClaimRefused, Decision, DecisionRefused, Journal, JournalError, JournalLayer, Lease,
    NewRun, RunHold, Settling,
};

/// What a public key begins with, and the name of the key in a signature.
const PUBLIC: &str = "ed25519:";
/// What a secret key begins with.
const SECRET: &str = "ed25519-secret:";

/// A secret key that signs decisions. Its `Debug` shows the public one.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A public key that signatures are checked with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

/// A text that is no key. It does not repeat the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {what} key is `{prefix}` and 64 hexadecimal digits")]
pub struct InvalidKey {
    what: &'static str,
    prefix: &'static str,
}

/// Why a decision is not what was signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsound {
    /// It has no signature.
    #[error("it is not signed")]
    Unsigned,
    /// What stands where its signature should is none.
    #[error("its signature cannot be read: it needs `v`, `key` and a `value` of 128 hexadecimal digits")]
    Malformed,
    /// Somebody else signed it, or says so.
    #[error("it is signed with another key, `{0}`")]
    OtherKey(String),
    /// The signature is over something else: the event was altered, or the signature is of another one.
    #[error("its signature is not over this event: it was altered, or the signature is another event's")]
    Forged,
}

impl SigningKey {
    /// A key from 32 random bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(bytes))
    }

    /// Reads a key as [`to_text`](Self::to_text) writes it; white space around it does not count.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`], which does not repeat the text.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let invalid = InvalidKey { what: "secret", prefix: SECRET };
        text.trim().strip_prefix(SECRET).and_then(bytes).map(|bytes| Self::from_bytes(&bytes)).ok_or(invalid)
    }

    /// The key in one line, `ed25519-secret:` and 64 hexadecimal digits: a secret.
    pub fn to_text(&self) -> String {
        format!("{SECRET}{}", digits(self.0.as_bytes()))
    }

    /// The public key of it.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }
}

impl Sign for SigningKey {
    fn key(&self) -> String {
        self.public().to_string()
    }

    fn sign(&self, text: &[u8]) -> String {
        digits(&self.0.sign(text).to_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.public())
    }
}

impl PublicKey {
    /// Reads a key as `Display` writes it; white space around it does not count.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`]; so is a key under which a signature would prove nothing.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let read = || {
            let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes(text.trim().strip_prefix(PUBLIC)?)?).ok()?;
            (!key.is_weak()).then_some(Self(key))
        };
        read().ok_or(InvalidKey { what: "public", prefix: PUBLIC })
    }

    /// Whether an event is what the holder of the secret key signed.
    ///
    /// # Errors
    ///
    /// [`Unsound`] says why not.
    pub fn verify(&self, event: &Event) -> Result<(), Unsound> {
        let signed = event.signature().ok_or(Unsound::Unsigned)?;
        // A signature of another form has no key.
        if signed.signature.key.is_empty() {
            return Err(Unsound::Malformed);
        }
        if signed.signature.key != self.to_string() {
            return Err(Unsound::OtherKey(signed.signature.key));
        }
        let value = bytes::<64>(&signed.signature.value).ok_or(Unsound::Malformed)?;
        let value = ed25519_dalek::Signature::from_bytes(&value);
        match signed.text {
            // Strict: no signature has two forms.
            Some(text) if self.0.verify_strict(&text, &value).is_ok() => Ok(()),
            _ => Err(Unsound::Forged),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PUBLIC}{}", digits(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A journal in front of another one: what it is given to keep, and is a decision, is signed. A run that began unsigned stays
/// so: a signature here and there would say nothing about the rest.
pub struct SigningJournal {
    inner: Arc<dyn Journal>,
    signer: Arc<dyn Sign>,
    /// Runs that began unsigned, of those that are driven here.
    unsigned: Mutex<HashSet<RunId>>,
}

impl SigningJournal {
    /// Signs what comes into `inner` through this one.
    pub fn new(inner: Arc<dyn Journal>, signer: Arc<dyn Sign>) -> Self {
        Self { inner, signer, unsigned: Mutex::default() }
    }

    /// The key with which a run began to be signed; nothing for one that is not.
    async fn key_of(&self, run: &RunId) -> Result<Option<String>, JournalError> {
        Ok(signed_with(&self.inner.events(run, 0).await?))
    }

    /// What was decided in a run that began signed is what was signed: what was altered is not gone on from.
    fn check(&self, run: &RunId, events: &[Event]) -> Result<(), JournalError> {
        let key = PublicKey::parse(&self.signer.key()).map_err(JournalError::unavailable)?;
        for event in events.iter().filter(|event| event.is_decision()) {
            key.verify(event).map_err(|why| {
                let (seq, kind) = (event.seq, event.kind.word());
                JournalError::Corrupt(format!("event {seq} (`{kind}`) of run `{run}` is not what was signed: {why}"))
            })?;
        }
        Ok(())
    }

    fn with_signer(&self, mut event: NewEvent) -> NewEvent {
        event.data = event.data.signed_by(Arc::clone(&self.signer));
        event
    }

    fn all_with_signer(&self, run: &RunId, events: Vec<NewEvent>) -> Vec<NewEvent> {
        if self.unsigned.lock().unwrap_or_else(PoisonError::into_inner).contains(run) {
            return events;
        }
        events.into_iter().map(|event| self.with_signer(event)).collect()
    }
}

/// Why a run is not driven on, and a question not answered.
const OTHER_KEY: &str = "the decisions of this run are signed with another key";

impl JournalLayer for SigningJournal {
    fn beneath(&self) -> &dyn Journal {
        &*self.inner
    }

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        let started = self.with_signer(run.started);
        self.inner.create_run(NewRun { started, ..run })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        Box::pin(async move {
            // Looked at before: whoever may not drive it on leaves no trace in it.
            let events = self.inner.events(run, 0).await?;
            let key = signed_with(&events);
            let signed = key.is_some();
            if key.is_some_and(|key| key != self.signer.key()) {
                return Err(JournalError::unavailable(OTHER_KEY));
            }
            if signed {
                self.check(run, &events)?;
            } else {
                self.unsigned.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
            }
            let hold = self.inner.hold(run).await?;
            Ok(if signed { hold.map(RunHold::signed) } else { hold })
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.inner.append(lease, self.all_with_signer(lease, events))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.inner.ask(lease, approval, self.all_with_signer(lease, events))
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        self.inner.claim(lease, claim, self.all_with_signer(lease, events))
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.inner.settle(lease, settling, self.all_with_signer(lease, events))
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.inner.reconcile(lease, call, self.all_with_signer(lease, events))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        Box::pin(async move {
            let key = match self.inner.approval(&decision.approval_id).await? {
                Some(approval) => self.key_of(&approval.run_id).await?,
                None => None,
            };
            let signers = [Some(&self.signer), decision.signer.as_ref()];
            if key.as_ref().is_some_and(|key| signers.into_iter().flatten().any(|signer| signer.key() != *key)) {
                return Err(JournalError::unavailable(OTHER_KEY).into());
            }
            let signer = decision.signer.clone().or_else(|| key.map(|_| Arc::clone(&self.signer)));
            self.inner.decide(Decision { signer, ..decision }).await
        })
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        Box::pin(async move {
            let mut described = self.inner.describe().await?;
            described.push(("signs decisions with".to_owned(), self.signer.key()));
            Ok(described)
        })
    }
}

#[cfg(test)]
mod tests;
