//! Sessions of the legacy era.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::document::Document;
use reqwest::header::HeaderValue;

use super::Http;
use crate::client::core::Core;
use crate::client::envelope::Headers;
use crate::client::{ClientError, era};
use crate::wire::Era;

/// The session that is under way, if there is one.
#[derive(Default)]
pub(super) struct Sessions {
    current: Mutex<Session>,
    /// What the server said that it can do, where it says anything by itself.
    listened_to: Mutex<Option<Document>>,
    /// Held while another session is begun.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
pub(super) struct Session {
    /// Its name, where the server gave it one.
    pub(super) id: Option<String>,
    /// Which one it is: the next one has a greater number.
    pub(super) number: u64,
}

impl Sessions {
    pub(super) fn current(&self) -> Session {
        self.lock().clone()
    }

    /// The session that a request belongs to. While another one is begun, only the handshake, which names no version, goes on.
    pub(super) async fn for_request(&self, headers: &Headers) -> Session {
        if headers.is_empty() {
            return self.current();
        }
        let _renewed = self.renewing.lock().await;
        self.current()
    }

    /// The server gives the session a name.
    pub(super) fn begun(&self, era: Era, id: Option<&HeaderValue>) {
        let Some(id) = id.filter(|_| era == Era::Legacy).and_then(|id| id.to_str().ok()) else { return };
        self.lock().id.get_or_insert_with(|| id.to_owned());
    }

    pub(super) fn listen_to(&self, capabilities: &Document) {
        *self.listened_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(capabilities.clone());
    }

    fn lock(&self) -> MutexGuard<'_, Session> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Http {
    pub(in crate::client::transport) fn forget_the_session(&self) {
        let mut session = self.sessions.lock();
        *session = Session { id: None, number: session.number + 1 };
    }

    /// Begins another session, unless somebody did meanwhile.
    pub(super) async fn renew(&self, core: &Arc<Core>, gone: u64) -> Result<(), ClientError> {
        let _renewing = self.sessions.renewing.lock().await;
        if self.sessions.current().number != gone {
            return Ok(());
        }
        // Boxed: a handshake is a request itself.
        Box::pin(era::initialize(core)).await?;
        core.watch_again();
        let listened_to = self.sessions.listened_to.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(capabilities) = listened_to {
            core.everything_may_have_changed(capabilities.root());
            drop(self.open_stream(core));
        }
        Ok(())
    }
}
