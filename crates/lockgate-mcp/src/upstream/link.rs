//! What a server is reached through.

use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::ports::{BoxFuture, Caller};
use tokio_util::sync::CancellationToken;

use super::settings::{Identity, Settings};
use crate::client::{ClientError, List, Listener, Listing, Patience, ServerFacts};
use crate::oauth::Confidant;
use crate::wire::Mirrors;

/// Opens connections.
pub trait Dial: Send + Sync {
    /// Opens one to this server, for this identity. `confidant` hears of every token before it is shown.
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        identity: &'a Identity,
        listener: Arc<dyn Listener>,
        confidant: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>>;
}

/// An open connection.
pub trait Link: Send + Sync {
    /// What the server says about itself.
    fn server(&self) -> &ServerFacts;

    /// A whole list.
    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, ClientError>>;

    /// One request, and its result.
    fn request(&self, errand: Errand) -> BoxFuture<'_, Result<Document, ClientError>>;

    /// From now on the server tells of changes of this resource, however often that has to be begun anew on this connection.
    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>>;

    /// From now on it need not.
    fn unwatch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>>;

    /// Whether it is gone.
    fn is_lost(&self) -> bool;

    /// Ends it in order.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// One request to a server.
pub struct Errand {
    /// What is asked.
    pub method: &'static str,
    /// Its parameters, without `_meta`.
    pub params: Document,
    /// What goes along in `_meta`.
    pub beside: Option<Document>,
    /// Whoever sent it, for questions and progress.
    pub caller: Option<Arc<dyn Caller>>,
    /// Fires when nobody waits for it any more.
    pub cancel: CancellationToken,
    /// How long its answer is waited for.
    pub patience: Patience,
    /// What of a tool's arguments is said in headers too, over HTTP.
    pub mirrors: Option<Arc<Mirrors>>,
}
