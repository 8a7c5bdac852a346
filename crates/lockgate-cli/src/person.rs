//! Who sits at the terminal.

use crate::error::CliError;

/// A name that names somebody.
pub(crate) fn somebody(typed: &str) -> Result<String, &'static str> {
    if typed.trim().is_empty() { Err("a decision has a name") } else { Ok(typed.to_owned()) }
}

/// Who sits at this terminal, as the system says. Nobody decides without a name.
pub(crate) fn session_user() -> Result<String, CliError> {
    let variables: &[&str] = if cfg!(windows) { &["USERNAME"] } else { &["USER", "LOGNAME"] };
    let set = |variable: &&str| std::env::var(variable).ok().filter(|name| !name.trim().is_empty());
    variables.iter().find_map(set).or_else(user_number).ok_or(CliError::NobodyDecides)
}

/// `uid:1000`: containers often set no name.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn user_number() -> Option<String> {
    Some(format!("uid:{}", rustix::process::getuid().as_raw()))
}

#[cfg(not(unix))]
fn user_number() -> Option<String> {
    None
}
