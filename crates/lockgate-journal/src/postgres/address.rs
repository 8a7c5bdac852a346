//! Where the database is: what a URL says, what it must not say, and how it may be shown.

use std::fmt::Write as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::fault::words;
use crate::error::OpenError;

/// How long sent bytes may stay without an answer, before the network is taken to be broken.
const SILENCE: Duration = Duration::from_secs(30);

/// A database, and its URL without the password.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) shown: String,
}

impl Address {
    /// Reads a URL. A URL that asks for more protection than there is is refused, never taken for less.
    pub(super) fn parse(url: &str, wait: Duration) -> Result<Self, OpenError> {
        let mut config: Config = url.parse().map_err(|error| OpenError::Url { cause: words(&error) })?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(OpenError::Encryption);
        }
        config.ssl_mode(SslMode::Disable);
        // What decides anything is read where it is written: a standby is passed over.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("lockgate");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(wait);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        let shown = shown(&config);
        Ok(Self { config, shown })
    }
}

fn shown(config: &Config) -> String {
    let mut shown = String::from("postgres://");
    if let Some(user) = config.get_user() {
        let _ = write!(shown, "{user}@");
    }
    for (place, host) in config.get_hosts().iter().enumerate() {
        if place > 0 {
            shown.push(',');
        }
        match host {
            Host::Tcp(name) => shown.push_str(name),
            #[cfg(unix)]
            Host::Unix(folder) => shown.push_str(&folder.display().to_string()),
        }
        // One port may stand for all hosts.
        if let Some(port) = config.get_ports().get(place).or_else(|| config.get_ports().first()) {
            let _ = write!(shown, ":{port}");
        }
    }
    if let Some(database) = config.get_dbname() {
        let _ = write!(shown, "/{database}");
    }
    shown
}
