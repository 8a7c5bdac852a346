//! What servers and issuers say about themselves.

use serde::Deserialize;

/// About a server (RFC 9728).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct ResourceMetadata {
    /// Whom it is about: sent on byte for byte.
    pub(super) resource: String,
    /// Who gives tokens for it.
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    /// The scopes that it knows.
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
}

/// About whoever gives tokens (RFC 8414, `OpenID` Connect Discovery).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct AuthorityMetadata {
    /// Who it is: compared byte for byte.
    pub(super) issuer: String,
    /// Where people log in.
    pub(super) authorization_endpoint: Option<String>,
    /// Where tokens are had.
    pub(super) token_endpoint: Option<String>,
    /// Where clients register (RFC 7591).
    pub(super) registration_endpoint: Option<String>,
    /// The scopes that it knows.
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    /// How a code is bound to whoever asked for it (RFC 7636). Absent: it is not.
    #[serde(default)]
    pub(super) code_challenge_methods_supported: Vec<String>,
    /// How clients prove who they are. Absent: `client_secret_basic`.
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether it says in a redirect who it is (RFC 9207).
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    /// Whether a client may name itself by the URL of a document about it.
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
}
