//! `lockgate mcp`: the MCP servers of a run file.

mod login;
mod status;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use lockgate::config::{ConfigError, NewServer, RunFile, add_server, import_servers, remove_server};
use lockgate::host::files;
use serde::Serialize;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::text::padded;

/// Add, list and remove MCP servers of a run file, see how they stand, log in at them
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(Add),
    List(List),
    Status(status::Arguments),
    Login(login::Login),
    Logout(login::Logout),
    Remove(Remove),
    Import(Import),
}

/// Which file.
#[derive(Debug, Args)]
struct FileArgument {
    /// The run file (TOML)
    #[arg(long, value_name = "RUNFILE", default_value = "lockgate.toml")]
    file: PathBuf,
}

/// Add a server: its tools are external and are asked about until the file says otherwise
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv
  lockgate mcp add hub --url https://hub.example.com/mcp --bearer-env HUB_TOKEN")]
struct Add {
    /// Its name: its tools are called `NAME__TOOL`
    name: String,
    /// Its address
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The environment variable with the token that is sent to it
    #[arg(long, value_name = "NAME", requires = "url")]
    bearer_env: Option<String>,
    /// An environment variable that the program is given
    #[arg(long = "env", value_name = "NAME", conflicts_with = "url")]
    env: Vec<String>,
    /// The program, with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    command: Vec<String>,
    #[command(flatten)]
    file: FileArgument,
}

/// List the servers of a run file
#[derive(Debug, Args)]
struct List {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    file: FileArgument,
}

/// Take a server out of a run file
#[derive(Debug, Args)]
struct Remove {
    /// Its name
    name: String,
    #[command(flatten)]
    file: FileArgument,
}

/// Take over servers from the files of Claude, Cursor or VS Code; secrets become references to environment variables
#[derive(Debug, Args)]
struct Import {
    /// JSON files with `mcpServers` or `servers`
    #[arg(required = true, value_name = "FILE")]
    from: Vec<PathBuf>,
    #[command(flatten)]
    file: FileArgument,
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    match arguments.command {
        Command::Add(arguments) => add(arguments, output),
        Command::List(arguments) => list(&arguments, output),
        Command::Status(arguments) => status::execute(arguments, output).await,
        Command::Login(arguments) => login::log_in(&arguments, output).await,
        Command::Logout(arguments) => login::log_out(&arguments, output).await,
        Command::Remove(arguments) => remove(&arguments, output),
        Command::Import(arguments) => import(&arguments, output),
    }
}

fn add(arguments: Add, output: &Output) -> Result<Exit, CliError> {
    let path = &arguments.file.file;
    let server = NewServer {
        command: (!arguments.command.is_empty()).then_some(arguments.command),
        env: arguments.env,
        url: arguments.url,
        bearer_env: arguments.bearer_env,
        ..NewServer::default()
    };
    let before = text_of(path)?;
    let after = add_server(&before, &arguments.name, &server)?;
    replace(path, &before, &after)?;
    output.text(&format!("added `{}` to {}\n", arguments.name, path.display()));
    output.note(&format!(
        "its tools are external and a person is asked about each call: `effect` and `permission` in [mcp.{}] say otherwise\n",
        arguments.name
    ));
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct ServerLine<'f> {
    name: &'f str,
    place: String,
    effect: &'static str,
    required: bool,
}

fn list(arguments: &List, output: &Output) -> Result<Exit, CliError> {
    let file = read(&arguments.file.file)?;
    let lines = file.mcp.iter().map(|(name, table)| ServerLine {
        name,
        place: table.url.clone().unwrap_or_else(|| table.command.clone().unwrap_or_default().join(" ")),
        effect: table.effect.map_or("external", |effect| effect.word()),
        required: table.required,
    });
    let lines: Vec<_> = lines.collect();
    match arguments.format {
        Format::Human => {
            for line in &lines {
                output.text(&format!("{}  {}  {}\n", padded(line.name, 20), padded(line.effect, 8), line.place));
            }
        }
        Format::Json => output.object(&lines),
        Format::Jsonl => lines.iter().for_each(|line| output.line(line)),
    }
    Ok(Exit::Ok)
}

fn remove(arguments: &Remove, output: &Output) -> Result<Exit, CliError> {
    let path = &arguments.file.file;
    let before = text_of(path)?;
    let after = remove_server(&before, &arguments.name)?;
    replace(path, &before, &after)?;
    output.text(&format!("removed `{}` from {}\n", arguments.name, path.display()));
    Ok(Exit::Ok)
}

fn import(arguments: &Import, output: &Output) -> Result<Exit, CliError> {
    let path = &arguments.file.file;
    let before = text_of(path)?;
    let (mut after, mut taken, mut notes) = (before.clone(), BTreeMap::new(), Vec::new());
    for from in &arguments.from {
        let text = files::read_to_string(from).map_err(|cause| CliError::File { path: from.clone(), cause })?;
        let imported = import_servers(&text)?;
        notes.extend(imported.notes);
        for (name, server) in imported.servers {
            match add_server(&after, &name, &server) {
                Ok(text) => {
                    after = text;
                    taken.insert(name, from);
                }
                Err(error) => notes.push(format!("`{name}` is not taken over: {error}")),
            }
        }
    }
    replace(path, &before, &after)?;
    for (name, from) in &taken {
        output.text(&format!("took over `{name}` from {}\n", from.display()));
    }
    for note in &notes {
        output.warning(note);
    }
    Ok(if taken.is_empty() { Exit::Failed } else { Exit::Ok })
}

fn read(path: &Path) -> Result<RunFile, CliError> {
    Ok(RunFile::read(path).map_err(lockgate::assembly::AssemblyError::from)?)
}

/// The text of a run file; one that is not there is empty.
fn text_of(path: &Path) -> Result<String, CliError> {
    let is_there = files::is_there(path).map_err(|cause| CliError::File { path: path.to_owned(), cause })?;
    if !is_there {
        return Ok(String::new());
    }
    files::read_to_string(path).map_err(|cause| CliError::File { path: path.to_owned(), cause })
}

/// Writes a changed file, once it is known to be one that can be read.
fn replace(path: &Path, before: &str, after: &str) -> Result<(), CliError> {
    RunFile::parse(path, after).map_err(|error: ConfigError| lockgate::assembly::AssemblyError::from(error))?;
    files::replace(path, before.as_bytes(), after.as_bytes())
        .map_err(|cause| CliError::File { path: path.to_owned(), cause })
}
