//! `lockgate token create`: a token for an agent, or for a person.

use clap::{Args, ValueEnum};
use lockgate::contract::digest::Digest;
use lockgate::contract::effect::Effect;
use lockgate::contract::ports::Clock as _;
use lockgate::host::clock::SystemClock;
use lockgate::sources::mock::TimeSpan;
use lockgate_server::tokens::{Token, TokenFile};

use super::TokensArgument;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Make a token, and print it once
#[derive(Debug, Args)]
#[command(after_help = "\
With --agent it is an agent's: it calls, and decides nothing. Without, it is a person's: it answers questions on the approvals
page, and calls nothing. The token is printed to standard output and kept nowhere; the file has its digest.

Examples:
  lockgate token create ci --user alice --agent ci-bot --scope tickets:write --level write
  lockgate token create alice-phone --user alice --role sre --expires 30d")]
pub(super) struct Arguments {
    /// What it is called: lower-case letters, digits and hyphens
    id: String,
    /// The person: on whose behalf the agent works, or who decides
    #[arg(long, value_name = "NAME")]
    user: String,
    /// The agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The tenant
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: String,
    /// A scope that the agent has; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", requires = "agent")]
    scopes: Vec<String>,
    /// A data domain that the agent may see; may be repeated
    #[arg(long = "domain", value_name = "DOMAIN", requires = "agent")]
    domains: Vec<String>,
    /// The strongest effect that the agent may cause [default: external]
    #[arg(long, value_enum, requires = "agent")]
    level: Option<LevelWord>,
    /// A role that the person has, beside those of a run's own file; may be repeated
    #[arg(long = "role", value_name = "ROLE", conflicts_with = "agent")]
    roles: Vec<String>,
    /// How long it is good
    #[arg(long, value_name = "TIME", default_value = "90d", conflicts_with = "never_expires")]
    expires: TimeSpan,
    /// It is good until it is revoked
    #[arg(long)]
    never_expires: bool,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    file: TokensArgument,
}

/// An effect.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LevelWord {
    Read,
    Write,
    External,
}

impl From<LevelWord> for Effect {
    fn from(word: LevelWord) -> Self {
        match word {
            LevelWord::Read => Self::Read,
            LevelWord::Write => Self::Write,
            LevelWord::External => Self::External,
        }
    }
}

pub(super) fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let now = SystemClock.now();
    if arguments.expires.as_duration().is_zero() {
        return Err(CliError::NoTimeToLast);
    }
    let issued = Token::issue(Token {
        id: arguments.id,
        sha256: Digest::from_bytes([0; 32]),
        tenant: arguments.tenant,
        user: arguments.user,
        agent: arguments.agent,
        scopes: arguments.scopes.into_iter().collect(),
        domains: arguments.domains.into_iter().collect(),
        level: arguments.level.map(Effect::from),
        roles: arguments.roles.into_iter().collect(),
        created_at: now,
        expires_at: (!arguments.never_expires).then(|| now.after(arguments.expires.as_duration())),
        note: arguments.note,
    })?;
    let (id, path) = (issued.token.id.clone(), arguments.file.tokens);
    let until = issued.token.expires_at.map_or_else(|| "it is revoked".to_owned(), |at| at.to_string());
    // It is said only once it is kept.
    TokenFile::add(&path, issued.token)?;
    output.text(&format!("{}\n", issued.secret));
    output.note(&format!("token {id} is good until {until}; this is the only time that it is shown\n"));
    Ok(Exit::Ok)
}
