//! Who gives tokens for a server, and how (RFC 9728, RFC 8414, `OpenID` Connect Discovery).

use reqwest::{StatusCode, Url};

use super::Settings;
use super::challenge::Challenge;
use super::error::{OAuthError, shown};
use super::metadata::{AuthorityMetadata, ResourceMetadata};
use super::web::{Web, unusable};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const AUTHORITY: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
const WHAT: &str = "issuer's metadata";

/// What the server says about itself: where its challenge says, else where its path does, else at its root. Where it says nothing, the
/// configured issuer stands in.
pub(super) async fn resource(
    web: &Web,
    server: &str,
    challenge: &Challenge,
    settings: &Settings,
) -> Result<ResourceMetadata, OAuthError> {
    let url = Url::parse(server).map_err(|error| OAuthError::Settings(format!("`{server}` is no URL: {error}")))?;
    let mut tried = Vec::new();
    for place in places_of_resource(&url, challenge.resource_metadata.as_deref()) {
        let answer = match web.get("resource's metadata", &place).await {
            Ok(answer) => answer,
            Err(error) => {
                tried.push(error.to_string());
                continue;
            }
        };
        match answer.json::<ResourceMetadata>() {
            Ok(metadata) => return about(metadata, server, &url),
            Err(error) => tried.push(error.to_string()),
        }
    }
    if settings.issuer.is_some() {
        return Ok(ResourceMetadata { resource: server.to_owned(), ..ResourceMetadata::default() });
    }
    Err(OAuthError::NoResourceMetadata { server: server.to_owned(), tried: tried.join("; ") })
}

fn places_of_resource(server: &Url, named: Option<&str>) -> Vec<String> {
    let origin = server.origin().ascii_serialization();
    let path = server.path().trim_end_matches('/');
    let mut places: Vec<String> = named.map(str::to_owned).into_iter().collect();
    if !path.is_empty() {
        places.push(format!("{origin}{RESOURCE}{path}"));
    }
    places.push(format!("{origin}{RESOURCE}"));
    places
}

/// Metadata are believed about the server itself, and about what it is a part of: the same origin, and a path above its own.
fn about(metadata: ResourceMetadata, server: &str, url: &Url) -> Result<ResourceMetadata, OAuthError> {
    let is_about = metadata.resource == server
        || Url::parse(&metadata.resource).is_ok_and(|resource| {
            let above = resource.path().trim_end_matches('/');
            let rest = url.path().strip_prefix(above);
            resource.origin() == url.origin()
                && resource.origin().is_tuple()
                && resource.username().is_empty()
                && (resource.query().is_none() || resource.query() == url.query())
                && resource.fragment().is_none()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    if is_about {
        return Ok(metadata);
    }
    Err(OAuthError::OtherResource { resource: shown(&metadata.resource), server: server.to_owned() })
}

/// Who is asked for tokens: the configured issuer, else the one that gave the last token, else the first that the server names.
pub(super) fn issuer<'a>(
    resource: &'a ResourceMetadata,
    settings: &'a Settings,
    before: Option<&'a str>,
) -> Result<&'a str, OAuthError> {
    let offered = &resource.authorization_servers;
    if let Some(issuer) = &settings.issuer {
        if offered.is_empty() || offered.contains(issuer) {
            return Ok(issuer);
        }
        let offered = offered.iter().take(8).map(|one| shown(one)).collect();
        return Err(OAuthError::OtherIssuers { issuer: issuer.clone(), offered });
    }
    let before = before.filter(|before| offered.iter().any(|one| one == before));
    before.or_else(|| offered.first().map(String::as_str)).ok_or_else(|| OAuthError::NoResourceMetadata {
        server: shown(&resource.resource),
        tried: "its metadata name nobody".to_owned(),
    })
}

/// What an issuer says about itself.
pub(super) async fn authority(web: &Web, issuer: &str) -> Result<AuthorityMetadata, OAuthError> {
    let url = web.check("issuer", issuer)?;
    if url.query().is_some() {
        return Err(OAuthError::Refused { what: "issuer", url: shown(issuer), why: "it has a query".to_owned() });
    }
    let mut last = unusable(WHAT, issuer, "nothing was found".to_owned());
    for place in places_of_authority(&url) {
        let answer = web.get(WHAT, &place).await?;
        if answer.status.is_client_error() {
            last = answer.unusable(format!("HTTP {}", answer.status.as_u16()));
            continue;
        }
        // Some machines answer every path with a page, and with a status of success.
        match answer.json::<AuthorityMetadata>() {
            Ok(metadata) if metadata.issuer == issuer => return Ok(metadata),
            Ok(metadata) => {
                let found = shown(&metadata.issuer);
                return Err(OAuthError::IssuerMismatch { url: place, found, issuer: issuer.to_owned() });
            }
            Err(error) if answer.status == StatusCode::OK => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// In the order in which they are tried. For an issuer with a path its well-known documents stand in front of the path, and that of
/// `OpenID` Connect also behind it; the root belongs to somebody else.
fn places_of_authority(issuer: &Url) -> Vec<String> {
    let origin = issuer.origin().ascii_serialization();
    match issuer.path().trim_end_matches('/') {
        "" => vec![format!("{origin}{AUTHORITY}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{AUTHORITY}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}
