//! `lockgate policy check`: whether rules load.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lockgate::assembly::{Assembly, AssemblyError, Overrides};
use lockgate::config::{PolicyEngineWord, PolicyMode};
use lockgate::contract::digest::Digest;
use lockgate::policy::NativePolicy;
use lockgate::policy::cedar::Rules;
use serde::Serialize;

use super::looking;
use crate::arguments::Format;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::style::{GOOD, styled};
use crate::render::text::counted;

/// Read the rules of a run file, check them against its tools, and try their examples
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate policy check run.toml
  lockgate policy check run.toml --schema > tools.cedarschema")]
pub(super) struct Arguments {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// Print what rules may look at, which is generated from the tools, and check nothing
    #[arg(long)]
    schema: bool,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was checked.
#[derive(Serialize)]
struct CheckView {
    engine: &'static str,
    mode: &'static str,
    /// Where a decision point is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    files: Vec<String>,
    rules: usize,
    examples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
    warnings: Vec<String>,
}

pub(super) async fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    if arguments.schema { schema(arguments, output).await } else { check(arguments, output).await }
}

async fn check(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let assembly = Assembly::open(&arguments.run_file, looking()?).await?;
    let view = CheckView::of(&assembly);
    match arguments.format {
        Format::Human => {
            view.warnings.iter().for_each(|warning| output.warning(warning));
            output.text(&view.text());
        }
        Format::Json => output.object(&view),
        Format::Jsonl => output.line(&view),
    }
    Ok(Exit::Ok)
}

/// The schema needs no rules, so that it can be read while they do not load.
async fn schema(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let overrides = Overrides { policy: Some(Arc::new(NativePolicy::new())), ..looking()? };
    let tools = Assembly::open(&arguments.run_file, overrides).await?.registry.tools();
    let none = Rules::load(tools.iter().map(|tool| tool.spec()), &[]).map_err(AssemblyError::from)?;
    match arguments.format {
        Format::Human => output.text(none.schema()),
        Format::Json => output.object(&none.schema()),
        Format::Jsonl => output.line(&none.schema()),
    }
    Ok(Exit::Ok)
}

impl CheckView {
    fn of(assembly: &Assembly) -> Self {
        let table = &assembly.run_file.policy;
        let rules = assembly.cedar.as_ref().map(|cedar| cedar.rules());
        Self {
            engine: match table.engine {
                PolicyEngineWord::Native => "native",
                PolicyEngineWord::Cedar => "cedar",
                PolicyEngineWord::Http => "http",
            },
            mode: match table.mode {
                PolicyMode::Enforce => "enforce",
                PolicyMode::Shadow => "shadow",
            },
            url: table.url.as_deref().map(|url| url.split('?').next().unwrap_or_default().to_owned()),
            files: rules.as_ref().map(|rules| rules.files().to_vec()).unwrap_or_default(),
            rules: rules.as_ref().map_or(0, |rules| rules.len()),
            examples: rules.as_ref().map_or(0, |rules| rules.examples()),
            digest: rules.as_ref().map(|rules| rules.digest()),
            warnings: assembly.warnings.clone(),
        }
    }

    fn text(&self) -> String {
        if let Some(url) = &self.url {
            let acts = if self.mode == "shadow" { ", and is only tried" } else { "" };
            return format!("the decision point at {url} is asked{acts}: there are no rules to check here\n");
        }
        let Some(digest) = self.digest else {
            return "the permissions that the tools declare decide: there are no rules to check\n".to_owned();
        };
        let files: String = self.files.iter().flat_map(|file| ["  ", file, "\n"]).collect();
        let examples = match self.examples {
            0 => "no examples".to_owned(),
            1 => "1 example, which holds".to_owned(),
            more => format!("{more} examples, which hold"),
        };
        let rules = counted(self.rules as u64, "rule");
        let acts = if self.mode == "shadow" { "shadow mode: they are only tried, and decide nothing\n" } else { "" };
        format!("{}  {rules}, {examples}\n{files}set {digest}\n{acts}", styled(GOOD, "ok"))
    }
}
