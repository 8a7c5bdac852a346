//! How tokens are got for an MCP server that wants to know who calls.

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::is_variable;

/// How tokens are got for an MCP server that wants to know who calls (OAuth). An empty table asks the server for everything, and a
/// person to log in with `lockgate mcp login NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpOauthTable {
    /// How a token is got. Without: `login`.
    #[serde(default)]
    pub grant: McpGrant,
    /// Who gives tokens: the only issuer that is asked, exactly as it writes itself. Without: whom the server names.
    pub issuer: Option<String>,
    /// The id of the client that somebody registered at the issuer. Without: the client registers itself.
    pub client_id: Option<String>,
    /// The environment variable with that client's secret.
    pub client_secret_env: Option<String>,
    /// The environment variable with that client's private key for ES256, in PEM and PKCS #8.
    pub private_key_env: Option<String>,
    /// The URL of a document about this client, which is its id at issuers that read such documents.
    pub client_metadata_url: Option<String>,
    /// The environment variable with the token that is exchanged.
    pub subject_token_env: Option<String>,
    /// The file with the token that is exchanged, read each time.
    pub subject_token_file: Option<String>,
    /// What kind of token is exchanged, as a URN. Without: an access token.
    pub subject_token_type: Option<String>,
    /// For whom the token is that it is exchanged for, where the issuer wants to know it by name.
    pub audience: Option<String>,
    /// Allows issuers at addresses of private networks and of this machine, wherever the server is.
    #[serde(default)]
    pub private_addresses: bool,
    /// The file in which tokens are kept, relative to this file. Without: `mcp-credentials.json` beside the journal.
    pub credentials: Option<String>,
}

/// How a token is got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpGrant {
    /// A person logs in.
    #[default]
    Login,
    /// The client itself is known: nobody logs in.
    ClientCredentials,
    /// Another token is exchanged.
    TokenExchange,
}

impl McpOauthTable {
    /// What is wrong with it.
    pub(super) fn wrong(&self) -> Option<String> {
        let variables = [&self.client_secret_env, &self.private_key_env, &self.subject_token_env];
        if let Some(name) = variables.into_iter().flatten().find(|name| !is_variable(name)) {
            return Some(format!("`{}` is no environment variable's name", name.escape_debug()));
        }
        let is_exchange = self.grant == McpGrant::TokenExchange;
        let sources = usize::from(self.subject_token_env.is_some()) + usize::from(self.subject_token_file.is_some());
        let wrong = match () {
            () if self.client_id.is_some() && self.issuer.is_none() => {
                "`client_id` needs an `issuer`: it is shown to nobody else"
            }
            () if self.client_id.is_none() && (self.client_secret_env.is_some() || self.private_key_env.is_some()) => {
                "a secret or a key belongs to a `client_id`"
            }
            () if self.client_secret_env.is_some() && self.private_key_env.is_some() => {
                "`client_secret_env` and `private_key_env` are one or the other"
            }
            () if self.grant != McpGrant::Login && self.client_id.is_none() => {
                "a `grant` without a person needs a `client_id`"
            }
            () if self.grant == McpGrant::ClientCredentials
                && self.client_secret_env.is_none()
                && self.private_key_env.is_none() =>
            {
                "`client_credentials` needs `client_secret_env` or `private_key_env`"
            }
            () if is_exchange && sources != 1 => "`token_exchange` needs `subject_token_env` or `subject_token_file`",
            () if !is_exchange && (sources > 0 || self.subject_token_type.is_some() || self.audience.is_some()) => {
                "`subject_token_…` and `audience` are for `grant = \"token_exchange\"`"
            }
            () => return None,
        };
        Some(wrong.to_owned())
    }
}

#[cfg(test)]
mod tests;
