//! A decision point that is asked over HTTP, in the shape of OPA's data API (openpolicyagent.org, "REST API", Data API).
//!
//! ```text
//! POST URL  {"input": {"subject": …, "tool": …, "arguments": …, …}}
//!      ──►  {"result": true}   or   {"result": {"decision": "ask", "policies": ["large"], "approvers": "finance"}}
//! ```
//!
//! It fails closed: whatever is not plainly one of these answers is an error, and an error is a denial.

mod answer;
mod error;
mod options;
mod question;

use std::fmt;
use std::sync::Arc;

use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{
    BoxFuture, Clock, Obligations, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict, Redactor,
};
use lockgate_host::http::{BodyError, client, explain, read_body};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, StatusCode, Url};

pub use self::error::DecisionPointError;
pub use self::options::DecisionPointOptions;
use crate::NativePolicy;

/// The most bytes of an answer.
const MOST: usize = 64 * 1024;
/// The most characters of a reason.
const LONGEST_REASON: usize = 2000;

/// Asks a decision point for every call. A tool that declares `deny` is denied without asking: no answer could lift that.
#[derive(Clone)]
pub struct DecisionPoint {
    client: Client,
    url: Url,
    /// The URL as it may be shown and stored.
    shown_url: String,
    token: Option<HeaderValue>,
    redactor: Arc<dyn Redactor>,
    clock: Arc<dyn Clock>,
    shadow: bool,
}

impl DecisionPoint {
    /// Asks there. What the redactor knows as a secret does not leave: arguments are sent scrubbed, and a question that holds
    /// a secret elsewhere is not asked.
    ///
    /// # Errors
    ///
    /// What is wrong with the options.
    pub fn new(
        options: DecisionPointOptions,
        redactor: Arc<dyn Redactor>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DecisionPointError> {
        let (url, timeout, token) = options.resolve(|name| std::env::var(name).ok())?;
        let client = client(&url, timeout).map_err(|error| DecisionPointError::Client(error.to_string()))?;
        let mut shown = url.clone();
        shown.set_query(None);
        Ok(Self { client, url, shown_url: shown.into(), token, redactor, clock, shadow: false })
    }

    /// Says in each question that the answer is only tried.
    #[must_use]
    pub fn in_shadow(mut self) -> Self {
        self.shadow = true;
        self
    }

    async fn verdict(&self, request: PolicyRequest<'_>) -> Result<PolicyVerdict, String> {
        let question = question::text(&request, &*self.redactor, self.clock.now(), self.shadow)?;
        let body = self.ask(question).await.map_err(|error| format!("the decision point {error}"))?;
        let answer = answer::read(body).map_err(|error| format!("the decision point's answer {error}"))?;
        // What it says is stored and shown, so it passes the redactor before it is cut.
        let scrub = |text: &str| self.redactor.scrub(text).into_owned();
        let said = answer.reason.as_deref().map(|reason| shortened(scrub(reason)));
        let mut policies: Vec<String> = answer.policies.iter().map(|name| format!("http:{}", scrub(name))).collect();
        policies.push(format!("http-set:{}", self.shown_url));
        let (name, effect, word) = (request.tool.name(), request.tool.effect().word(), answer.decision.word());
        let because = said.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
        Ok(PolicyVerdict {
            decision: answer.decision,
            policies,
            reason: format!("`{name}` with effect {effect}: the decision point answers `{word}`{because}"),
            obligations: Obligations {
                approvers: answer.approvers,
                expires_in: answer.expires_in,
                because: said.filter(|_| answer.decision == PolicyDecision::Ask),
            },
        })
    }

    async fn ask(&self, question: String) -> Result<Vec<u8>, String> {
        let mut post = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(question);
        if let Some(token) = &self.token {
            post = post.header(AUTHORIZATION, token.clone());
        }
        let answer = post.send().await.map_err(unreached)?;
        if answer.status() != StatusCode::OK {
            return Err(format!("answers with status {}", answer.status().as_u16()));
        }
        read_body(answer, MOST).await.map_err(|error| match error {
            BodyError::TooLarge => format!("answers with more than {MOST} bytes"),
            BodyError::Broken(error) => unreached(error),
        })
    }
}

fn unreached(error: reqwest::Error) -> String {
    if error.is_timeout() {
        "gave no answer in time".to_owned()
    } else {
        format!("was not reached: {}", explain(error))
    }
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_REASON) {
        text.truncate(end);
        text.push('…');
    }
    text
}

impl PolicyEngine for DecisionPoint {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        if request.permission == Permission::Deny {
            return Box::pin(async move { NativePolicy::new().decide(request).await });
        }
        Box::pin(self.verdict(request))
    }
}

/// Shows where it asks, and no token.
impl fmt::Debug for DecisionPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecisionPoint").field("url", &self.shown_url).finish_non_exhaustive()
    }
}
