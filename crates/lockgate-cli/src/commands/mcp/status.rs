//! How MCP servers stand: as a running `lockgate serve` says, or as they are found from here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lockgate::assembly::{Assembly, Overrides, open_journal};
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::read;
use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::{hanging, padded};

/// See how the servers of a run file stand
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every server is ready
  1  one is not")]
pub(super) struct Arguments {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE", default_value = "lockgate.toml")]
    run_file: PathBuf,
    /// Ask the `lockgate serve` of this file that runs on this machine, in place of reaching the servers from here
    #[arg(long)]
    running: bool,
    /// The environment variable with the token that a running one is asked with
    #[arg(long, value_name = "NAME", requires = "running")]
    token_env: Option<String>,
    /// How the states are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How long a running server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const LONGEST: u64 = 4 << 20;

#[derive(Serialize)]
struct ServerState {
    name: String,
    #[serde(flatten)]
    status: Value,
}

pub(super) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    let servers = if arguments.running { as_told(&arguments).await? } else { as_found(&arguments).await? };
    let servers: Vec<_> = servers.into_iter().map(|(name, status)| ServerState { name, status }).collect();
    match arguments.format {
        Format::Human => servers.iter().for_each(|server| output.text(&lines(server))),
        Format::Json => output.object(&servers),
        Format::Jsonl => servers.iter().for_each(|server| output.line(server)),
    }
    let ready = servers.iter().all(|server| server.status["state"] == "ready");
    Ok(if ready { Exit::Ok } else { Exit::Failed })
}

/// Reaches each server.
async fn as_found(arguments: &Arguments) -> Result<BTreeMap<String, Value>, CliError> {
    let overrides = Overrides { journal: Some(open_journal("memory:")?), ..Overrides::default() };
    let assembly = Assembly::open(&arguments.run_file, overrides).await?;
    let Some(servers) = &assembly.servers else { return Ok(BTreeMap::new()) };
    let statuses = servers.statuses();
    servers.stop().await;
    let value = |status| serde_json::to_value(status).unwrap_or_default();
    Ok(statuses.into_iter().map(|(name, status)| (name, value(status))).collect())
}

/// Asks the server that runs.
async fn as_told(arguments: &Arguments) -> Result<BTreeMap<String, Value>, CliError> {
    let address = read(&arguments.run_file)?.server.unwrap_or_default().bind().to_owned();
    let token = arguments.token_env.as_deref().and_then(|variable| std::env::var(variable).ok());
    let answer = tokio::time::timeout(PATIENCE, asked(&address, token.as_deref())).await;
    let answer = answer.unwrap_or_else(|_| Err("no answer in time".to_owned()));
    answer.map_err(|cause| CliError::NoStatus { address, cause })
}

async fn asked(address: &str, token: Option<&str>) -> Result<BTreeMap<String, Value>, String> {
    let mut stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    // By the one name that every server knows, whatever it listens on.
    let request = format!("GET /status HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    (&mut stream).take(LONGEST).read_to_end(&mut answer).await.map_err(|error| error.to_string())?;
    let answer = String::from_utf8(answer).map_err(|_| "its answer is no text".to_owned())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("its answer is no HTTP")?;
    let status = head.lines().next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    if status != "200" {
        return Err(format!("it answers {status}: {}", body.trim()));
    }
    let mut value: Value = serde_json::from_str(body).map_err(|_| "its answer is no JSON".to_owned())?;
    serde_json::from_value(value["servers"].take()).map_err(|_| "its answer names no servers".to_owned())
}

fn lines(server: &ServerState) -> String {
    let said = |key: &str| server.status[key].as_str().unwrap_or_default().to_owned();
    let tools = server.status["tools"].as_u64().unwrap_or_default();
    let about = match (said("reason").as_str(), said("protocol").as_str()) {
        ("", protocol) => format!("{tools} tools, {protocol}"),
        (reason, _) => reason.to_owned(),
    };
    let mut lines = format!("{}  {}  {}\n", padded(&server.name, 20), padded(&said("state"), 11), hanging(&about, 35));
    for (tool, why) in server.status["quarantined"].as_object().into_iter().flatten() {
        let why = why.as_str().unwrap_or_default();
        let _ = writeln!(lines, "{:22}{}  {}", "", tool, hanging(why, 35));
    }
    for warning in server.status["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(lines, "{:22}{}", "", hanging(warning, 35));
    }
    lines
}
