//! Whom the suite looks at.

use std::path::Path;
use std::process::Command;

use super::{REVISIONS, Run, Suite};
use crate::files::write;
use crate::peer::Peer;
use crate::steps::{built, cargo, command};

/// Whom the suite looks at.
pub(super) enum Subject {
    /// Our server fixture, by itself.
    Fixture,
    /// The gateway in front of the fixture, which speaks both eras, or the other one than the caller.
    Gateway,
    /// A server that somebody else started.
    Server(String),
    /// A server that is started, and says its URL on stdout.
    Started(Vec<String>),
    /// A client: a command that is given the URL of a server.
    Client(String),
}

impl Subject {
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => Ok(Self::Fixture),
            ["--through"] => Ok(Self::Gateway),
            ["--server", url] => Ok(Self::Server((*url).to_owned())),
            ["--start", command @ ..] if !command.is_empty() => {
                Ok(Self::Started(command.iter().map(|&word| word.to_owned()).collect()))
            }
            ["--client", command] => Ok(Self::Client((*command).to_owned())),
            _ => {
                Err("xtask: conformance takes nothing (our fixture), --through (the gateway before it), --server URL, \
                      --start COMMAND… (a server that writes its URL to stdout) or --client \"COMMAND\""
                    .to_owned())
            }
        }
    }

    /// Builds what of it is ours.
    pub(super) fn build(&self) -> Result<(), String> {
        let packages: &[&str] = match self {
            Self::Fixture => &["--package", "mcp-peer"],
            Self::Gateway => &["--package", "mcp-peer", "--package", "lockgate-cli"],
            Self::Server(_) | Self::Started(_) | Self::Client(_) => return Ok(()),
        };
        cargo("build", &[packages, &["--locked", "--quiet"]].concat(), &[])
    }

    /// Every run of the suite that it takes.
    pub(super) fn runs(&self, root: &Path, suite: &Suite) -> Result<Vec<Run>, String> {
        let both = |subject: &str, peer: &Peer| {
            REVISIONS.iter().map(|revision| suite.server(subject, revision, peer.url())).collect()
        };
        match self {
            Self::Fixture => both("fixture", &Peer::start(&mut fixture(root))?),
            Self::Started(words) => {
                let (program, arguments) = words.split_first().ok_or("xtask: which command?")?;
                both("server", &Peer::start(command(program).args(arguments))?)
            }
            Self::Server(url) => REVISIONS.iter().map(|revision| suite.server("server", revision, url)).collect(),
            Self::Client(command) => {
                REVISIONS.iter().map(|revision| suite.client("client", revision, command)).collect()
            }
            Self::Gateway => {
                let mut runs: Vec<Run> = both("gateway", &gateway(root, "both")?)?;
                let [modern, legacy] = REVISIONS;
                runs.push(suite.server("gateway legacy", modern, gateway(root, "legacy")?.url())?);
                runs.push(suite.server("gateway modern", legacy, gateway(root, "modern")?.url())?);
                Ok(runs)
            }
        }
    }
}

/// The command that starts the fixture.
fn fixture(root: &Path) -> Command {
    let mut started = command(&built(root, "mcp-peer"));
    started.args(["serve", "--era", "both", "--http", "127.0.0.1:0"]);
    started
}

/// Starts the gateway before a fixture of this era.
fn gateway(root: &Path, era: &str) -> Result<Peer, String> {
    let config = root.join(format!("target/mcp-conformance/gateway-{era}.toml"));
    write(&config, gateway_config(&built(root, "mcp-peer"), era))?;
    let bind = ["--bind", "127.0.0.1:0"];
    Peer::start(command(&built(root, "lockgate")).arg("serve").arg(config).args(bind))
}

/// How the gateway is told of its one server: no prefix before its names, every tool allowed, and its questions passed on.
fn gateway_config(peer: &str, era: &str) -> String {
    format!(
        "[journal]\nurl = \"memory:\"\n\n[mcp.peer]\ncommand = [\"{peer}\", \"serve\", \"--stdio\", \"--era\", \"{era}\"]\n\
         prefix = \"\"\npermission = \"allow\"\nrelay = [\"elicitation\", \"sampling\", \"roots\"]\n"
    )
}
