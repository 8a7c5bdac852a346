//! Tokens that nobody logs in for.

use super::error::OAuthError;
use super::settings::{Exchange, Grant};
use super::token::{Asking, Token};

/// A token by the configured grant; nothing where a person has to log in.
pub(super) async fn without_a_person(asking: Asking<'_>) -> Result<Option<Token>, OAuthError> {
    let mut fields = match &asking.settings.grant {
        Grant::AuthorizationCode => return Ok(None),
        Grant::ClientCredentials => vec![("grant_type", "client_credentials".into())],
        Grant::Exchange(Exchange { subject_token, subject_token_type, audience }) => {
            let token = subject_token.read().await?;
            // An issuer that says it back says it into an error.
            let told = asking.confidant.told(&token);
            let _hushed = told.map_err(|why| OAuthError::Settings(format!("the token to be exchanged: {why}")))?;
            let mut fields = vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange".into()),
                ("subject_token", token.expose().to_owned().into()),
                ("subject_token_type", subject_token_type.as_str().into()),
                ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token".into()),
            ];
            fields.extend(audience.as_ref().map(|audience| ("audience", audience.as_str().into())));
            fields
        }
    };
    fields.extend(asking.scope());
    asking.send(fields).await.map(Some)
}
