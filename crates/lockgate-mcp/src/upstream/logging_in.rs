//! Calls that a server takes once somebody has logged in there: whoever sent the call is asked to.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::Caller;
use lockgate_contract::tool::{Failure, ToolEnvironmentError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Why there is no connection for a subject. Nothing was sent.
pub(super) enum NoLink {
    /// The subject has to log in at this URL.
    Login(String),
    /// In words for people.
    Other(String),
}

/// How often it is looked whether somebody has logged in meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Somebody who needs longer sends the call again.
const LOOKS: u32 = 60;

/// Somebody who logs in while a call waits.
pub(super) struct LoggingIn<'c> {
    server: &'c str,
    caller: Option<&'c Arc<dyn Caller>>,
    cancel: &'c CancellationToken,
    looks: u32,
}

impl<'c> LoggingIn<'c> {
    pub(super) fn new(server: &'c str, caller: Option<&'c Arc<dyn Caller>>, cancel: &'c CancellationToken) -> Self {
        Self { server, caller, cancel, looks: 0 }
    }

    /// Whether the call is to be tried again: the person is asked the first time, and then given a while. They may have logged in by
    /// then, or not.
    pub(super) async fn is_worth_another_try(&mut self, url: &str) -> bool {
        self.looks += 1;
        if self.looks == 1 {
            return self.asks(url).await;
        }
        let rest = tokio::time::sleep(LOOK_AGAIN);
        self.looks <= LOOKS && self.cancel.run_until_cancelled(rest).await.is_some()
    }

    async fn asks(&self, url: &str) -> bool {
        let Some(caller) = self.caller else { return false };
        let message = format!("Server `{}` takes this call once you have logged in there.", self.server);
        let params = json!({ "mode": "url", "url": url, "message": message });
        let question = json!({ "login": { "method": "elicitation/create", "params": params } });
        let answers = caller.ask(Document::from_json_value(&question)).await;
        let action = answers.ok().and_then(|answers| {
            let action = answers.root().pointer("/login/action")?.as_str()?.into_owned();
            Some(action)
        });
        action.as_deref() == Some("accept")
    }
}

impl NoLink {
    pub(super) fn failure(self, server: &str) -> Failure {
        let words = match self {
            Self::Login(_) => format!("auth_required: server `{server}` wants this subject to log in first"),
            Self::Other(words) => words,
        };
        ToolEnvironmentError::new(words).nothing_happened().into()
    }
}
