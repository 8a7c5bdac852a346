//! `/oauth/callback`: where the issuers of upstream servers send people back to, who were asked to log in there.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use lockgate_mcp::oauth::{Owner, Visits};
use lockgate_mcp::server::http::Body;

use crate::auth::{Authenticator, Caller};
use crate::pages::Pages;

/// The path.
pub(super) const CALLBACK: &str = "/oauth/callback";

/// A browser does not send our cookie where another site sends it here, but it does where this page does.
const AGAIN: &str = "&from=here";

/// Finishes the login that a browser comes back from, if it is of the person who sits before it.
pub(super) async fn answer(
    request: &Parts,
    visits: &Arc<Visits>,
    pages: &Pages,
    auth: &Authenticator,
) -> Response<Body> {
    if request.method != Method::GET {
        return page(StatusCode::METHOD_NOT_ALLOWED, "This is visited with GET.");
    }
    let query = request.uri.query().unwrap_or_default();
    let Some(visitor) = visitor(request, pages, auth).await else {
        return if query.ends_with(AGAIN) {
            page(
                StatusCode::FORBIDDEN,
                "Log in at /login first, in this browser. Then visit the page of the other server again.",
            )
        } else {
            again(query)
        };
    };
    match visits.finish(query.strip_suffix(AGAIN).unwrap_or(query), &visitor).await {
        Ok(()) => page(StatusCode::OK, "Logged in. This page can be closed, and the call be sent again."),
        Err(error) => {
            tracing::warn!(%error, "a login at an upstream server came to nothing");
            page(StatusCode::BAD_REQUEST, "Not logged in. The log of this server says why.")
        }
    }
}

/// Whose browser it is: whoever is logged in at the pages; where nobody has to say who they are, the one subject that there is.
async fn visitor(request: &Parts, pages: &Pages, auth: &Authenticator) -> Option<Owner> {
    if let Some(person) = pages.person(request) {
        return Some(Owner { tenant: person.tenant, user: person.name });
    }
    match auth.caller(request).await {
        Ok(Caller::Agent(principal)) => Some(Owner::of(&principal.subject)),
        Ok(Caller::Person(person)) => Some(Owner { tenant: person.tenant, user: person.name }),
        Err(_) => None,
    }
}

/// The same place once more, sent there by a page of ours.
fn again(query: &str) -> Response<Body> {
    let Ok(refresh) = HeaderValue::try_from(format!("0; url={CALLBACK}?{query}{AGAIN}")) else {
        return page(StatusCode::BAD_REQUEST, "This is no answer of an issuer.");
    };
    let mut answer = page(StatusCode::OK, "One moment.");
    answer.headers_mut().insert("refresh", refresh);
    answer
}

fn page(status: StatusCode, words: &'static str) -> Response<Body> {
    let mut answer = Response::new(Body::from(words));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The URL has a code in it.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}
