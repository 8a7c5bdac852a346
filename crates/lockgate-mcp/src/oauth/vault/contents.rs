//! What stands in the file.

use std::collections::BTreeSet;

use lockgate_contract::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Owner;
use crate::oauth::Secret;
use crate::oauth::client::Client;
use crate::oauth::secret::exposed;

/// What stands in the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contents {
    version: Version,
    credentials: Vec<Credential>,
    registrations: Vec<Registration>,
}

/// The form that is written; another is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Version {
    #[default]
    #[serde(rename = "1")]
    One,
}

/// A token, whose it is, and what is needed for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::oauth) struct Credential {
    pub(in crate::oauth) owner: Owner,
    /// The server's name.
    pub(in crate::oauth) upstream: String,
    pub(in crate::oauth) issuer: String,
    /// The URL that it was got for, and is shown at: another server may have the name by now.
    pub(in crate::oauth) server: String,
    /// The server as its metadata write it.
    pub(in crate::oauth) resource: String,
    /// Who we were when it was got.
    pub(in crate::oauth) client: Client,
    #[serde(serialize_with = "exposed::secret")]
    pub(in crate::oauth) access: Secret,
    #[serde(serialize_with = "exposed::option")]
    pub(in crate::oauth) refresh: Option<Secret>,
    /// The scopes that were asked for.
    pub(in crate::oauth) scopes: BTreeSet<String>,
    pub(in crate::oauth) expires_at: Option<Timestamp>,
    pub(in crate::oauth) got_at: Timestamp,
}

/// What an issuer knows us by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::oauth) struct Registration {
    pub(in crate::oauth) upstream: String,
    pub(in crate::oauth) issuer: String,
    pub(in crate::oauth) redirect_uri: String,
    pub(in crate::oauth) client: Client,
    pub(in crate::oauth) expires_at: Option<Timestamp>,
}

/// For each server and issuer: those of the last ports of this machine that a login came back to.
const MOST_REGISTRATIONS: usize = 4;

impl Contents {
    pub(super) fn credential(&self, owner: &Owner, upstream: &str, server: &str) -> Option<&Credential> {
        let fits = |one: &&Credential| one.owner == *owner && one.upstream == upstream && one.server == server;
        self.credentials.iter().filter(fits).max_by_key(|one| one.got_at)
    }

    pub(super) fn keep(&mut self, credential: Credential) {
        let key = |one: &Credential| (one.owner.clone(), one.upstream.clone(), one.issuer.clone());
        let new = key(&credential);
        self.credentials.retain(|one| key(one) != new);
        self.credentials.push(credential);
    }

    pub(super) fn forget(&mut self, owner: &Owner, upstream: &str) -> bool {
        let before = self.credentials.len();
        self.credentials.retain(|one| one.owner != *owner || one.upstream != upstream);
        self.registrations.retain(|one| one.upstream != upstream);
        self.credentials.len() < before
    }

    pub(super) fn registration(
        &self,
        upstream: &str,
        issuer: &str,
        redirect_uri: &str,
        now: Timestamp,
    ) -> Option<&Client> {
        let fits = |one: &&Registration| {
            one.upstream == upstream
                && one.issuer == issuer
                && one.redirect_uri == redirect_uri
                && one.expires_at.is_none_or(|end| now < end)
        };
        self.registrations.iter().find(fits).map(|one| &one.client)
    }

    pub(super) fn keep_registration(&mut self, registration: Registration) {
        let Registration { upstream, issuer, redirect_uri, .. } = &registration;
        self.registrations
            .retain(|one| one.upstream != *upstream || one.issuer != *issuer || one.redirect_uri != *redirect_uri);
        let of_these = |one: &Registration| one.upstream == *upstream && one.issuer == *issuer;
        while self.registrations.iter().filter(|one| of_these(one)).count() >= MOST_REGISTRATIONS {
            let Some(oldest) = self.registrations.iter().position(of_these) else { break };
            self.registrations.remove(oldest);
        }
        self.registrations.push(registration);
    }

    pub(super) fn forget_registrations(&mut self, upstream: &str, issuer: &str) {
        self.registrations.retain(|one| one.upstream != upstream || one.issuer != issuer);
    }
}
