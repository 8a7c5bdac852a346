//! What a client reads to find out where it gets a token (RFC 9728).

use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, Uri};
use lockgate::config::AuthTable;
use serde_json::json;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The document about this server, and its places.
pub(super) struct Metadata {
    url: String,
    /// The path of the server behind the well-known one; empty where it has none.
    suffix: String,
    body: String,
}

impl Metadata {
    /// Nothing where no issuer's tokens are taken: there is nowhere to get one.
    pub(super) fn of(table: &AuthTable) -> Option<Self> {
        let resource = table.resource.as_deref().filter(|_| !table.issuer.is_empty())?;
        let parsed: Uri = resource.parse().ok()?;
        let (scheme, authority) = (parsed.scheme_str()?, parsed.authority()?);
        let suffix = parsed.path().trim_end_matches('/').to_owned();
        let issuers: Vec<&str> = table.issuer.iter().map(|issuer| issuer.issuer.as_str()).collect();
        let mut body = json!({
            "resource": resource,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": "Lockgate",
        });
        if !table.required_scopes.is_empty() {
            body["scopes_supported"] = json!(table.required_scopes);
        }
        Some(Self { url: format!("{scheme}://{authority}{WELL_KNOWN}{suffix}"), suffix, body: body.to_string() })
    }

    /// Where it is, as a refusal says.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The document, where a path is one of its places: with the path of the server behind it, and without.
    pub(super) fn answer(&self, path: &str) -> Option<Response<String>> {
        let suffix = path.strip_prefix(WELL_KNOWN)?;
        if !suffix.is_empty() && suffix != self.suffix {
            return None;
        }
        let mut answer = Response::new(self.body.clone());
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
        // It is for everybody, clients in a browser too, and holds nothing of anybody's.
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        Some(answer)
    }
}
