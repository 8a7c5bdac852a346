//! `lockgate tools`: what a subject sees, and what stands behind it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use lockgate::assembly::{Assembly, Overrides, open_journal};
#[cfg(feature = "cedar")]
use lockgate::config::PolicyMode;
use lockgate::contract::effect::Effect;
use lockgate::contract::nearest::nearest;
use lockgate::registry::Description;

use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::tool::{ToolLine, ToolList, by_the_rules, internal_view, model_view, table, why_empty};

/// List and describe tools
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Describe(Describe),
}

/// List the tools that the run file's subject sees
#[derive(Debug, Args)]
struct List {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Describe the registered tools: what a model may see, and what stays inside
#[derive(Debug, Args)]
struct Describe {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// This tool only
    name: Option<String>,
    /// Which view
    #[arg(long, value_enum, default_value_t)]
    view: View,
    /// How the views are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum View {
    /// What a model may see
    Model,
    /// What stays inside
    Internal,
    /// One after the other
    #[default]
    Both,
}

pub(crate) async fn execute(arguments: Arguments, output: &Output) -> Result<Exit, CliError> {
    match arguments.command {
        Command::List(arguments) => list(&arguments, output).await,
        Command::Describe(arguments) => describe(&arguments, output).await,
    }
}

/// Puts the run file together. Looking at tools makes no journal.
async fn load(run_file: &Path, output: &Output) -> Result<Assembly, CliError> {
    let overrides = Overrides { journal: Some(open_journal("memory:")?), ..Overrides::default() };
    let assembly = Assembly::open(run_file, overrides).await?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    Ok(assembly)
}

async fn list(arguments: &List, output: &Output) -> Result<Exit, CliError> {
    let assembly = load(&arguments.run_file, output).await?;
    let effect_of = |name: &str| assembly.registry.get(name).map_or(Effect::External, |tool| tool.spec().effect());
    let (rules, hidden) = outlooks(&assembly);
    let tools = assembly.discovery.capabilities().into_iter().map(|capability| ToolLine {
        effect: effect_of(&capability.name),
        rules: rules.get(&capability.name).cloned().unwrap_or_default(),
        name: capability.name,
        version: capability.version,
        read_only: capability.read_only,
        summary: capability.summary.lines().next().unwrap_or_default().to_owned(),
    });
    let list = ToolList {
        subject: assembly.run_file.subject.subject().source(),
        standing: assembly.discovery.standing(),
        tools: tools.collect(),
        hidden,
    };
    match (arguments.format, why_empty(list.standing)) {
        (Format::Human, None) => output.text(&format!("{}{}", table(&list), by_the_rules(&list))),
        (Format::Human, Some(why)) => {
            output.note(&format!("{why}\n"));
            output.text(&by_the_rules(&list));
        }
        (Format::Json, _) => output.object(&list),
        (Format::Jsonl, _) => list.tools.iter().for_each(|tool| output.line(tool)),
    }
    Ok(Exit::Ok)
}

/// What the rules that act answer to calls of each tool, as far as it is known before any, by tool; and the tools that they
/// hide.
#[cfg(feature = "cedar")]
fn outlooks(assembly: &Assembly) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let (mut rules, mut hidden) = (BTreeMap::new(), Vec::new());
    let acting = assembly.cedar.as_ref().filter(|_| assembly.run_file.policy.mode == PolicyMode::Enforce);
    let Some(acting) = acting.map(|cedar| cedar.rules()) else { return (rules, hidden) };
    let subject = assembly.run_file.subject.subject();
    for tool in assembly.registry.tools() {
        let (name, outlook) = (tool.spec().name().to_owned(), acting.outlook(&subject, tool.spec()));
        if outlook.is_denied() {
            hidden.push(name);
        } else {
            let words = outlook.words().iter().map(|words| assembly.gate.scrub(words).into_owned());
            rules.insert(name, words.collect());
        }
    }
    (rules, hidden)
}

/// Without rules nothing is known before a call.
#[cfg(not(feature = "cedar"))]
fn outlooks(_: &Assembly) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    (BTreeMap::new(), Vec::new())
}

async fn describe(arguments: &Describe, output: &Output) -> Result<Exit, CliError> {
    let assembly = load(&arguments.run_file, output).await?;
    let mut description = assembly.registry.describe();
    if let Some(name) = &arguments.name {
        only(&mut description, name)?;
    }
    match arguments.format {
        Format::Human => output.text(&human(&description, arguments.view)),
        Format::Json => match arguments.view {
            View::Both => output.object(&description),
            View::Model => output.object(&description.model),
            View::Internal => output.object(&description.internal),
        },
        Format::Jsonl => {
            if arguments.view != View::Internal {
                description.model.iter().for_each(|view| output.line(view));
            }
            if arguments.view != View::Model {
                description.internal.iter().for_each(|view| output.line(view));
            }
        }
    }
    Ok(Exit::Ok)
}

/// Leaves one tool in both views.
fn only(description: &mut Description, name: &str) -> Result<(), CliError> {
    let nearest = nearest(name, description.model.iter().map(|view| view.name.as_str())).map(str::to_owned);
    description.model.retain(|view| view.name == name);
    description.internal.retain(|view| view.name == name);
    if description.model.is_empty() {
        return Err(CliError::NoSuchTool { name: name.to_owned(), nearest });
    }
    Ok(())
}

fn human(description: &Description, view: View) -> String {
    let mut parts = Vec::new();
    for (model, internal) in description.model.iter().zip(&description.internal) {
        if view != View::Internal {
            parts.push(model_view(model));
        }
        if view != View::Model {
            parts.push(internal_view(internal));
        }
    }
    parts.join("\n")
}
