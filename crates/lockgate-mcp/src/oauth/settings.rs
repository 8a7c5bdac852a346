//! What an operator says about credentials for one server.

use std::path::PathBuf;
use std::time::Duration;

use super::web::check_form;
use super::{OAuthError, Secret};

/// What an operator says about credentials for one server. The default asks the server for everything, and a person to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who gives tokens: the only one that is asked, exactly as it writes itself.
    pub issuer: Option<String>,
    /// Who we are there; without, we register ourselves. Needs `issuer`, for credentials are shown to nobody else.
    pub client: Option<Registered>,
    /// The URL of a document about this program, which is who we are where an issuer reads such documents.
    pub client_metadata_url: Option<String>,
    /// How a token is got.
    pub grant: Grant,
    /// Whether issuers are reached at addresses of private networks and of this machine, wherever the server is.
    pub private_addresses: bool,
    /// How long one request to an issuer may take.
    pub patience: Duration,
}

/// A client that somebody registered by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// Its id.
    pub id: String,
    /// How it proves who it is.
    pub proof: Proof,
}

/// How a client proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Not at all: a program that keeps no secret.
    Nothing,
    /// By a secret (`client_secret_basic`, else `client_secret_post`).
    Secret(Secret),
    /// By a private key for ES256, in PEM and PKCS #8 (`private_key_jwt`, RFC 7523).
    Key(Secret),
}

/// How a token is got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in.
    #[default]
    AuthorizationCode,
    /// The client itself is known: nobody logs in. Needs a `client`.
    ClientCredentials,
    /// Another token is exchanged (RFC 8693).
    Exchange(Exchange),
}

/// Which token is exchanged for which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The token that is given.
    pub subject_token: SubjectToken,
    /// What kind of token that is: a URN.
    pub subject_token_type: String,
    /// For whom the new one is, where the issuer wants to know it by name.
    pub audience: Option<String>,
}

/// Where the token that is given is found, each time that it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectToken {
    /// In an environment variable.
    Variable(String),
    /// In a file, such as the one in which an orchestrator keeps a machine's identity.
    File(PathBuf),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            issuer: None,
            client: None,
            client_metadata_url: None,
            grant: Grant::default(),
            private_addresses: false,
            patience: Duration::from_secs(15),
        }
    }
}

impl Settings {
    /// Whether they fit together.
    ///
    /// # Errors
    ///
    /// What does not.
    pub fn check(&self) -> Result<(), OAuthError> {
        let wrong = |what: &str| Err(OAuthError::Settings(what.to_owned()));
        if self.client.is_some() && self.issuer.is_none() {
            return wrong("a `client_id` needs an `issuer`: it is shown to nobody else");
        }
        if self.grant != Grant::AuthorizationCode && self.client.is_none() {
            return wrong("without a person there has to be a `client_id`");
        }
        let key = |client: &Registered| matches!(client.proof, Proof::Nothing);
        if self.grant == Grant::ClientCredentials && self.client.as_ref().is_some_and(key) {
            return wrong("the grant `client_credentials` needs a secret or a key");
        }
        if let Some(url) = &self.client_metadata_url {
            let url = check_form("document about this client", url)?;
            if url.scheme() != "https" || url.path() == "/" {
                return wrong("`client_metadata_url` has to be https, with a path");
            }
        }
        Ok(())
    }
}

impl SubjectToken {
    /// The token as it is now.
    pub(super) async fn read(&self) -> Result<Secret, OAuthError> {
        let wrong = |what: String| Err(OAuthError::Settings(what));
        let text = match self {
            Self::Variable(name) => match std::env::var(name) {
                Ok(text) => text,
                Err(_) => return wrong(format!("the environment variable `{name}` has no token")),
            },
            Self::File(path) => {
                let from = path.clone();
                let read = tokio::task::spawn_blocking(move || lockgate_host::files::read_start(&from, 64 << 10)).await;
                match read.map_err(std::io::Error::other).flatten().map(String::from_utf8) {
                    Ok(Ok(text)) => text,
                    Ok(Err(_)) => return wrong(format!("`{}` holds no token", path.display())),
                    Err(error) => return wrong(format!("`{}` cannot be read: {error}", path.display())),
                }
            }
        };
        match text.trim() {
            "" => wrong("the token to be exchanged is empty".to_owned()),
            text => Ok(Secret::new(text)),
        }
    }
}
