//! `lockgate policy prove`: what no call can do, whoever makes it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use lockgate::assembly::{Assembly, AssemblyError};
use lockgate::config::{PolicyEngineWord, QuotaTable, RunFile};
use lockgate::contract::digest::Digest;
use lockgate::contract::nearest::nearest;
use lockgate::contract::ports::{Count, PolicyDecision};
use lockgate::contract::time::read_span;
use lockgate::policy::cedar::{Counterexample, Open, Proof, Property, Prover, RuleFiles, Rules, Standing};
use serde::Serialize;

use crate::arguments::Format;
use crate::commands::policy::looking;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::style::{BAD, FAINT, GOOD, OPEN, styled};
use crate::render::text::{counted, hanging};

/// Prove of the rules of a run file what no call can do, with the solver cvc5
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate policy prove run.toml
  lockgate policy prove run.toml --against old.cedar
  lockgate policy prove run.toml --allow-external search

Exits with 1 where a property is refuted or not proved.")]
pub(super) struct Arguments {
    /// The run file (TOML)
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// The rules before: another run file (TOML), or files of rules
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<String>,
    /// An external tool that may be called without an approval
    #[arg(long, value_name = "TOOL")]
    allow_external: Vec<String>,
    /// How long the solver may take for one answer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    time_limit: Duration,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What became of all properties.
#[derive(Serialize)]
struct View {
    standing: &'static str,
    files: Vec<String>,
    digest: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Digest>,
    properties: Vec<PropertyView>,
}

#[derive(Serialize)]
struct PropertyView {
    property: &'static str,
    standing: &'static str,
    tools: Vec<String>,
    set_apart: Vec<SetApartView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    refuted: Vec<CounterexampleView>,
    open: Vec<OpenView>,
    #[serde(skip)]
    sentence: &'static str,
}

#[derive(Serialize)]
struct SetApartView {
    tool: String,
    why: &'static str,
}

#[derive(Serialize)]
struct CounterexampleView {
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'static str>,
    reason: String,
    rules: Vec<String>,
}

#[derive(Serialize)]
struct OpenView {
    tool: String,
    why: String,
}

pub(super) async fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let assembly = Assembly::open(&arguments.run_file, looking()?).await?;
    assembly.warnings.iter().for_each(|warning| output.warning(warning));
    for name in &arguments.allow_external {
        if assembly.registry.get(name).is_none() {
            let tools = assembly.registry.tools();
            let nearest = nearest(name, tools.iter().map(|tool| tool.spec().name())).map(str::to_owned);
            return Err(CliError::NoSuchTool { name: name.clone(), nearest });
        }
    }
    let rules = rules(&assembly)?;
    let (before, counts_before) = match arguments.against.as_slice() {
        [] => (None, None),
        files => {
            let (files, counts) = before(files)?;
            let files = files.read().map_err(AssemblyError::from)?;
            (Some(rules.reload(&files).map_err(AssemblyError::from)?), counts)
        }
    };
    let prover =
        Prover::find()?.with_limit(arguments.time_limit).with_exceptions(arguments.allow_external.iter().cloned());
    let prover = match counts_before {
        Some(counts) => prover.with_counts_before(counts),
        None => prover,
    };
    let proofs = prover.prove(&rules, before.as_ref())?;
    let view = View::of(&rules, before.as_ref(), proofs);
    match arguments.format {
        Format::Human => output.text(&view.text()),
        Format::Json => output.object(&view),
        Format::Jsonl => output.line(&view),
    }
    Ok(if view.standing == word(Standing::Proved) { Exit::Ok } else { Exit::Failed })
}

/// The rules that decide: those of the run file, or those that answer as its tools declare.
fn rules(assembly: &Assembly) -> Result<Arc<Rules>, CliError> {
    if let Some(cedar) = &assembly.cedar {
        return Ok(cedar.rules());
    }
    if assembly.run_file.policy.engine == PolicyEngineWord::Http {
        return Err(CliError::RulesElsewhere);
    }
    let tools = assembly.registry.tools();
    let files = RuleFiles::new("", []).read().map_err(AssemblyError::from)?;
    let rules = Rules::load(tools.iter().map(|tool| tool.spec()), &files).map_err(AssemblyError::from)?;
    Ok(Arc::new(rules))
}

/// Where the rules before stand, and what their counts were, where a run file says so.
fn before(files: &[String]) -> Result<(RuleFiles, Option<Vec<Count>>), CliError> {
    let [run_file] = files else {
        return Ok((RuleFiles::new("", files.iter().cloned()), None));
    };
    let path = Path::new(run_file);
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Ok((RuleFiles::new("", files.iter().cloned()), None));
    }
    let file = RunFile::read(path).map_err(AssemblyError::from)?;
    let (table, counts) = (file.policy, file.quota.iter().filter_map(QuotaTable::count).collect());
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = match table.engine {
        PolicyEngineWord::Cedar => RuleFiles::new(folder, table.files),
        PolicyEngineWord::Native | PolicyEngineWord::Http => RuleFiles::new(folder, []),
    };
    Ok((files, Some(counts)))
}

fn span(text: &str) -> Result<Duration, String> {
    read_span(text)
        .filter(|span| !span.is_zero())
        .ok_or_else(|| "write a whole number and its unit, such as `10s`".to_owned())
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Proved => "proved",
        Standing::Refuted => "refuted",
        Standing::NotProved => "not_proved",
    }
}

impl View {
    fn of(rules: &Rules, before: Option<&Rules>, proofs: Vec<Proof>) -> Self {
        let standings = || proofs.iter().map(Proof::standing);
        let worst = [Standing::Refuted, Standing::NotProved].into_iter().find(|bad| standings().any(|it| it == *bad));
        Self {
            standing: word(worst.unwrap_or(Standing::Proved)),
            files: rules.files().to_vec(),
            digest: rules.digest(),
            before: before.map(Rules::digest),
            properties: proofs.into_iter().map(PropertyView::of).collect(),
        }
    }

    fn text(&self) -> String {
        // A `String` takes whatever is written to it, here and below.
        let mut text: String = self.properties.iter().map(PropertyView::text).collect();
        let _ = writeln!(text, "set {}", self.digest);
        if let Some(before) = self.before {
            let _ = writeln!(text, "before {before}");
        }
        text
    }
}

impl PropertyView {
    fn of(proof: Proof) -> Self {
        Self {
            property: proof.property.word(),
            standing: word(proof.standing()),
            sentence: sentence(proof.property),
            set_apart: proof.set_apart.into_iter().map(|(tool, why)| SetApartView { tool, why }).collect(),
            left_out: proof.left_out,
            refuted: proof.refuted.into_iter().map(CounterexampleView::of).collect(),
            open: proof.open.into_iter().map(|Open { tool, why, .. }| OpenView { tool, why }).collect(),
            tools: proof.tools,
        }
    }

    fn text(&self) -> String {
        let (style, standing) = match self.standing {
            "proved" => (GOOD, "proved"),
            "refuted" => (BAD, "refuted"),
            _ => (OPEN, "not proved"),
        };
        let mut text = format!(
            "{}{}  {} ({})\n",
            styled(style, standing),
            " ".repeat(10 - standing.len()),
            self.sentence,
            counted(self.tools.len() as u64, "tool")
        );
        for apart in &self.set_apart {
            // Most tools are not external, and nobody has to be told.
            if apart.why != "is not external" {
                let _ = writeln!(text, "  {}", styled(FAINT, format!("set apart: {} {}", apart.tool, apart.why)));
            }
        }
        for rule in &self.left_out {
            let _ = writeln!(text, "  {}", styled(FAINT, format!("left out: {}", hanging(rule, 4))));
        }
        text.extend(self.refuted.iter().map(CounterexampleView::text));
        for open in &self.open {
            let _ = writeln!(text, "  {}: {}", open.tool, hanging(&open.why, 4));
        }
        text
    }
}

impl CounterexampleView {
    fn of(counterexample: Counterexample) -> Self {
        let Counterexample { tool, example, before, reason, rules, .. } = counterexample;
        Self { tool, example, before: before.map(PolicyDecision::word), reason, rules }
    }

    fn text(&self) -> String {
        let mut text = format!("  {}\n", hanging(&self.reason, 4));
        if !self.rules.is_empty() {
            let _ = writeln!(text, "    by {}", self.rules.join(", "));
        }
        if let Some(before) = self.before {
            let _ = writeln!(text, "    before: {before}");
        }
        if let Some(example) = &self.example {
            let _ = writeln!(text, "    // expect: {}", hanging(example, 4));
        }
        text
    }
}

fn sentence(property: Property) -> &'static str {
    match property {
        Property::NeverFails => "every rule can be evaluated for every call",
        Property::ExternalAsks => "no external call that a person is to be asked about is allowed without an approval",
        Property::Reachable => "some call of every tool is allowed, or asked about",
        _ => "nothing is allowed, or asked about, that was not before",
    }
}
