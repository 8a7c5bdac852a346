//! Who sits at the terminal.

use std::path::Path;

use lockgate::contract::approval::{Approval, Proof};
use lockgate::host::{files, users};

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

/// Who decides about a question: whoever was named, or else whoever sits here. Whose yes it takes has to be proved, and the
/// environment proves nothing.
pub(crate) fn decider(named: Option<&str>, approval: &Approval) -> Result<String, CliError> {
    match named {
        Some(named) => Ok(named.to_owned()),
        None if approval.approvers.is_some() => system_user().ok_or(CliError::NobodyProves),
        None => session_user(),
    }
}

/// Who this process belongs to, whatever its environment says; by number where the system has no name. In a user namespace
/// of its own a process gives itself any number: there nobody is known.
fn system_user() -> Option<String> {
    if !users::are_the_systems() {
        return None;
    }
    let number = user_number()?;
    let own = |line: &str| line.split(':').nth(2).is_some_and(|uid| number == format!("uid:{uid}"));
    let name = users().lines().find(|line| own(line)).and_then(|line| line.split(':').next().map(str::to_owned));
    Some(name.unwrap_or(number))
}

/// How somebody of this name, who sits here, proves it. One user has one name that is proved: two would be two people.
pub(crate) fn proof(name: &str) -> Proof {
    if system_user().is_some_and(|user| user == name) { Proof::OsUser } else { Proof::Claimed }
}

/// The system's own list of its users, where it is a file.
fn users() -> String {
    files::read_to_string(Path::new("/etc/passwd")).unwrap_or_default()
}
