//! Servers that want to know who calls, in the way of OAuth.

use std::path::PathBuf;
use std::sync::Arc;

use lockgate_host::clock::SystemClock;

use super::settings::Identity;
use crate::oauth::{self, Authorizer, Confidant, Grant, OAuthError, Owner, Parts, UserAgent, Vault};

/// How tokens for a server are got, and where they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// How they are got.
    pub settings: oauth::Settings,
    /// The file in which they are kept.
    pub vault: PathBuf,
    /// Under whose login the server is asked what it offers. Calls are each caller's own.
    pub lists_as: Owner,
}

impl Login {
    /// Whether each person has tokens of their own.
    pub fn is_personal(&self) -> bool {
        self.settings.grant == Grant::AuthorizationCode
    }

    /// Whoever gets tokens for this identity, and for no other. Without an agent nobody is asked to log in.
    ///
    /// # Errors
    ///
    /// As [`Authorizer::open`].
    pub async fn authorizer(
        &self,
        upstream: &str,
        server: &str,
        identity: &Identity,
        agent: Option<Arc<dyn UserAgent>>,
        confidant: Arc<dyn Confidant>,
    ) -> Result<Authorizer, OAuthError> {
        let owner = match identity {
            Identity::Shared => self.lists_as.clone(),
            Identity::User { tenant, user, .. } => Owner { tenant: tenant.clone(), user: user.clone() },
        };
        Authorizer::open(Parts {
            upstream: upstream.to_owned(),
            server: server.to_owned(),
            owner,
            settings: self.settings.clone(),
            vault: Arc::new(Vault::at(&self.vault)),
            agent,
            clock: Arc::new(SystemClock),
            confidant,
        })
        .await
    }
}
