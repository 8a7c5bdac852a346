//! From the tables `[mcp.NAME.oauth]` to how tokens are got.

use std::path::{Path, PathBuf};

use lockgate_config::{DEFAULT_JOURNAL, McpGrant, McpOauthTable, RunFile};
use lockgate_mcp::oauth::{Exchange, Grant, Owner, Proof, Registered, Secret, Settings, SubjectToken};
use lockgate_mcp::upstream::Login;

use super::settings::variable_of;

/// What the last part of a path is where nobody says.
const CREDENTIALS: &str = "mcp-credentials.json";
/// What is exchanged where nobody says (RFC 8693 section 3).
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// How tokens for a server are got, or why they cannot be.
pub(super) fn login(table: &McpOauthTable, file: &RunFile, folder: &Path) -> Result<Login, String> {
    let settings = Settings {
        issuer: table.issuer.clone(),
        client: client(table)?,
        client_metadata_url: table.client_metadata_url.clone(),
        grant: grant(table, folder),
        private_addresses: table.private_addresses,
        ..Settings::default()
    };
    settings.check().map_err(|error| format!("`oauth`: {error}"))?;
    let vault = match &table.credentials {
        Some(path) => folder.join(path),
        None => beside_the_journal(file.journal.url.as_deref())?,
    };
    Ok(Login { settings, vault, lists_as: Owner::of(&file.subject.subject()) })
}

/// The variables whose values are secrets, each with the key that names it.
pub(super) fn login_secrets(table: &McpOauthTable) -> impl Iterator<Item = (&'static str, &str)> {
    let secret = table.client_secret_env.iter().map(|variable| ("mcp.oauth.client_secret_env", variable.as_str()));
    let key = table.private_key_env.iter().map(|variable| ("mcp.oauth.private_key_env", variable.as_str()));
    let token = table.subject_token_env.iter().map(|variable| ("mcp.oauth.subject_token_env", variable.as_str()));
    secret.chain(key).chain(token)
}

fn client(table: &McpOauthTable) -> Result<Option<Registered>, String> {
    let Some(id) = table.client_id.clone() else { return Ok(None) };
    let proof = match (&table.client_secret_env, &table.private_key_env) {
        (Some(variable), _) => Proof::Secret(Secret::new(variable_of("oauth.client_secret_env", variable)?)),
        (None, Some(variable)) => Proof::Key(Secret::new(variable_of("oauth.private_key_env", variable)?)),
        (None, None) => Proof::Nothing,
    };
    Ok(Some(Registered { id, proof }))
}

fn grant(table: &McpOauthTable, folder: &Path) -> Grant {
    let subject_token = match (&table.subject_token_env, &table.subject_token_file) {
        (Some(variable), _) => SubjectToken::Variable(variable.clone()),
        (None, file) => SubjectToken::File(folder.join(file.as_deref().unwrap_or_default())),
    };
    match table.grant {
        McpGrant::Login => Grant::AuthorizationCode,
        McpGrant::ClientCredentials => Grant::ClientCredentials,
        McpGrant::TokenExchange => Grant::Exchange(Exchange {
            subject_token,
            subject_token_type: table.subject_token_type.clone().unwrap_or_else(|| ACCESS_TOKEN.to_owned()),
            audience: table.audience.clone(),
        }),
    }
}

/// In the folder of the file that the journal is in; of the usual one where it is in no file.
fn beside_the_journal(journal: Option<&str>) -> Result<PathBuf, String> {
    let file = |url: &str| url.strip_prefix("sqlite:").map(|path| path.trim_start_matches("//").to_owned());
    let path = journal.and_then(file).or_else(|| file(DEFAULT_JOURNAL)).unwrap_or_default();
    let beside = Path::new(&path).with_file_name(CREDENTIALS);
    std::path::absolute(&beside).map_err(|error| format!("`{}` is no path: {error}", beside.display()))
}
