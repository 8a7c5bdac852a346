//! Who is told that a person is asked.

use std::time::Duration;

use lockgate_sources::mock::TimeSpan;
use schemars::JsonSchema;
use serde::Deserialize;

/// Whom to tell about questions: a webhook, or a program. Being told is no way to answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotifyTable {
    /// Where to send a signed POST: https, or http on this machine.
    pub webhook: Option<String>,
    /// The environment variable with the secret that signs it. A webhook without a secret is not called.
    pub secret_env: Option<String>,
    /// The program, with its arguments, that reads the message from its standard input. No shell is started. It works in the run
    /// file's folder, and is looked up there where it is named by a path, such as `./page.sh`.
    pub command: Option<Vec<String>>,
    /// The environment variables that the program is given. Those that hold secrets are named under `tools.secrets_from_env` too.
    #[serde(default)]
    pub env: Vec<String>,
    /// How long one attempt may take. Without: `5s`.
    pub timeout: Option<TimeSpan>,
}

/// One of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyBy<'t> {
    /// A webhook, and the variable with its secret.
    Webhook {
        /// The URL.
        url: &'t str,
        /// The variable.
        secret_env: &'t str,
    },
    /// A program.
    Command(&'t [String]),
}

impl NotifyTable {
    /// What the table says, or what is wrong with it.
    ///
    /// # Errors
    ///
    /// It says both or neither, or a webhook has no secret.
    pub fn by(&self) -> Result<NotifyBy<'_>, &'static str> {
        match (&self.webhook, &self.secret_env, &self.command) {
            (Some(url), Some(secret_env), None) if self.env.is_empty() => Ok(NotifyBy::Webhook { url, secret_env }),
            (Some(_), None, None) => Err("a `webhook` in `notify` needs `secret_env`: its messages are signed"),
            (Some(_), Some(_), None) => Err("`env` in `notify` is for a `command`"),
            (None, None, Some(command)) if !command.is_empty() => Ok(NotifyBy::Command(command)),
            (None, Some(_), Some(_)) => Err("`secret_env` in `notify` is for a `webhook`"),
            _ => Err("`notify` has one of `webhook` and `command`"),
        }
    }

    /// How long one attempt may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.as_ref().map_or(Duration::from_secs(5), |span| span.as_duration())
    }
}
