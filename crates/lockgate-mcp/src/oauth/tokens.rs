//! How the client of MCP comes by tokens.

use lockgate_contract::ports::BoxFuture;

use super::{Authorizer, OAuthError};
use crate::client::{ClientError, Tokens};

impl Tokens for Authorizer {
    fn token(&self) -> Option<String> {
        Self::token(self).map(|token| token.expose().to_owned())
    }

    /// Nothing of a refused request was taken up, so neither was it where there is no other token. Where there is one already, the refusal
    /// came late.
    fn challenged(&self, shown: Option<String>, challenge: Option<String>) -> BoxFuture<'_, Result<bool, ClientError>> {
        Box::pin(async move {
            let now = Tokens::token(self);
            if now.is_some() && now != shown {
                return Ok(true);
            }
            match Self::challenged(self, challenge.as_deref()).await {
                Ok(()) => Ok(true),
                Err(OAuthError::AuthorizationNeeded { url }) => Err(ClientError::AuthorizationNeeded { url }),
                Err(OAuthError::LoginNeeded { .. }) => Err(ClientError::Unauthorized { challenge }),
                Err(error) => Err(ClientError::NotSent(error.to_string())),
            }
        })
    }
}
