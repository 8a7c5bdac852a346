//! Where a request goes by its path.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use lockgate_mcp::oauth::Visits;
use lockgate_mcp::server::http::{Body, Endpoint};

use super::callback;
use crate::auth::{Authenticator, Caller, Why};
use crate::gateway::Gateway;
use crate::pages::{MOST_BODY_BYTES, Pages};

/// How long what a page sends may take to arrive. Whoever sends it is not known yet.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// Everything that is behind the one address.
pub(super) struct Routes {
    pub(super) endpoint: Endpoint,
    pub(super) auth: Arc<Authenticator>,
    pub(super) pages: Pages,
    /// Logins at upstream servers that people were sent to.
    pub(super) visits: Arc<Visits>,
    pub(super) gateway: Arc<Gateway>,
    /// The path of the MCP endpoint.
    pub(super) path: String,
}

impl Routes {
    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        if path == "/healthz" {
            return plain(StatusCode::OK, "ok\n");
        }
        // A page whose name leads here is of one origin with everything behind this address.
        if let Some(refusal) = self.endpoint.refuse_strange_host(&parts) {
            return refusal;
        }
        if let Some(metadata) = self.auth.metadata(path) {
            return metadata.map(Body::from);
        }
        if Pages::has(path) {
            let body = Limited::new(body, MOST_BODY_BYTES).collect();
            return match tokio::time::timeout(BODY_WITHIN, body).await {
                // Boxed, for every call would carry the room for it.
                Ok(Ok(body)) => Box::pin(self.pages.answer(&parts, &body.to_bytes())).await.map(Body::from),
                Ok(Err(_)) => plain(StatusCode::PAYLOAD_TOO_LARGE, "this is too long\n"),
                Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "this did not arrive in time\n"),
            };
        }
        if path == callback::CALLBACK {
            return Box::pin(callback::answer(&parts, &self.visits, &self.pages, &self.auth)).await;
        }
        if path == "/status" {
            return self.status(&parts).await;
        }
        if path != self.path && !is_of_a_run(path) {
            return plain(StatusCode::NOT_FOUND, "there is nothing here\n");
        }
        if let Some(answer) = self.endpoint.preflight(&parts) {
            return answer;
        }
        match self.auth.principal(&parts).await {
            Ok(principal) => self.endpoint.answer(Request::from_parts(parts, body), principal).await,
            Err(refusal) => refusal.answer().map(Body::from),
        }
    }

    /// How the servers stand, for whoever is let in and is no web page.
    async fn status(&self, request: &Parts) -> Response<Body> {
        if request.method != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "this is read with GET\n");
        }
        if request.headers.contains_key(ORIGIN) || request.headers.contains_key("sec-fetch-site") {
            return plain(StatusCode::FORBIDDEN, "this is not for web pages\n");
        }
        match self.auth.caller(request).await {
            // A credential of one run reaches that run, and nothing beside it.
            Ok(Caller::Agent(principal)) if principal.run.is_some() => {
                return self.auth.refusal(Why::OtherRun).answer().map(Body::from);
            }
            Ok(_) => {}
            Err(refusal) => return refusal.answer().map(Body::from),
        }
        let mut answer = Response::new(Body::from(self.gateway.status().text().to_owned()));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

/// `/runs/<id>/mcp`.
fn is_of_a_run(path: &str) -> bool {
    let run = path.strip_prefix("/runs/").and_then(|rest| rest.strip_suffix("/mcp"));
    run.is_some_and(|run| !run.is_empty() && !run.contains('/'))
}

fn plain(status: StatusCode, words: &'static str) -> Response<Body> {
    let mut answer = Response::new(Body::from(words));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
