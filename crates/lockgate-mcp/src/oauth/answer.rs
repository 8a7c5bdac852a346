//! What a person brings back from an issuer (RFC 6749 section 4.1.2, RFC 9207).

use super::Secret;
use super::error::{OAuthError, shown};
use super::form::Query;
use super::metadata::AuthorityMetadata;

/// Which login a query answers.
pub(super) fn state(query: &str) -> Option<String> {
    Query::read(query).get("state").ok().flatten().map(str::to_owned)
}

/// The code, once it is known that it answers this login and comes from the issuer that was asked. Until then not even an error is
/// believed: it could be another's.
pub(super) fn code(query: &str, state: &Secret, authority: &AuthorityMetadata) -> Result<Secret, OAuthError> {
    let query = Query::read(query);
    let get = |name| query.get(name).map_err(|_| OAuthError::NoCode);
    if get("state")? != Some(state.expose()) {
        return Err(OAuthError::UnknownState);
    }
    let from = get("iss")?;
    let is_wrong = match from {
        Some(from) => from != authority.issuer,
        None => authority.authorization_response_iss_parameter_supported,
    };
    if is_wrong {
        return Err(OAuthError::WrongIssuer { found: from.map(shown), issuer: authority.issuer.clone() });
    }
    if let Some(code) = get("error")? {
        let code = shown(code);
        let description = get("error_description")?.map_or_else(String::new, |text| format!(": {}", shown(text)));
        return Err(OAuthError::Denied {
            issuer: authority.issuer.clone(),
            said: format!("{code}{description}"),
            code,
        });
    }
    get("code")?.filter(|code| !code.is_empty()).map(Secret::new).ok_or(OAuthError::NoCode)
}
