//! `lockgate call`: one call through the gate, without a model.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use lockgate::assembly::{Assembly, AssemblyError, Overrides, entered};
use lockgate::config::{DEFAULT_JOURNAL, RunFile};
use lockgate::contract::ids::ApprovalId;
use lockgate::harness::{DirectAnswer, DirectCall, RunnerOptions};

use crate::commands::TO_BE_TOLD;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::call::{CallView, audit, human, make_whole};
use crate::signals::on_signal;
use crate::stored::{JournalArgument, Stored, commands};

/// Send one call through the gate, without a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lockgate call incident.toml lookup_incident '{\"incident_id\": \"INC-001\"}'
  printf '%s' '{\"title\": \"a\"}' | lockgate call incident.toml create_ticket - --audit
  lockgate call incident.toml create_ticket '{\"title\": \"a\"}' --approval apr-0123456789abcdef

Exit codes:
  0    ok
  1    the tool failed
  2    usage or configuration: nothing was started
  3    a person has to approve it
  5    it is not known whether the call took effect
  7    refused before anything ran
  8    the tool's environment is broken, or it gave no answer in time
  130  cancelled")]
pub(crate) struct Arguments {
    /// The run file (TOML): its tools and its subject
    #[arg(value_name = "RUNFILE")]
    run_file: PathBuf,
    /// The tool
    name: String,
    /// The raw argument text; `-` reads it from standard input, nothing stands for `{}`
    #[arg(value_name = "ARGUMENTS")]
    text: Option<String>,
    /// The approval that was given: the open call goes on under its own id
    #[arg(long, value_name = "ID")]
    approval: Option<String>,
    /// Your own name for this request: sent again under the same key, it gets the first result and has no second effect
    #[arg(long, value_name = "KEY", value_parser = idempotency_key)]
    idempotency_key: Option<String>,
    /// Add the true reason, the policies, the digests and the time of each stage
    #[arg(long)]
    audit: bool,
    /// Print an output over the cap whole
    #[arg(long)]
    full: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: CallFormat,
    #[command(flatten)]
    journal: JournalArgument,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CallFormat {
    /// One object in the wire shape; laid out where a terminal shows it
    #[default]
    Json,
    /// For people
    Human,
}

pub(crate) async fn execute(arguments: Arguments, output: &Arc<Output>) -> Result<Exit, CliError> {
    let text = argument_text(arguments.text.as_deref())?;
    let run_file = RunFile::read(&arguments.run_file).map_err(AssemblyError::from)?;
    let url = arguments.journal.journal.clone().or(run_file.journal.url).unwrap_or_else(|| DEFAULT_JOURNAL.to_owned());
    let (approval, overrides) = match &arguments.approval {
        None => (None, Overrides { journal_url: Some(url.clone()), ..Overrides::default() }),
        Some(typed) => {
            let (approval, overrides) = taken_up(&url, typed).await?;
            (Some(approval), overrides)
        }
    };
    let assembly = Assembly::open(&arguments.run_file, overrides).await?;
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let progress = Arc::clone(output);
    let options =
        RunnerOptions { progress: Some(Arc::new(move |words| progress.progress(words))), ..RunnerOptions::default() };
    let caller = assembly.caller(options);
    let cancel = caller.cancel().clone();
    on_signal(output, "cancelling", move || cancel.cancel());
    output.progress(&format!("{} runs", arguments.name));
    let call = DirectCall {
        approval,
        idempotency_key: arguments.idempotency_key.clone(),
        ..assembly.direct_call(arguments.name.clone(), text)
    };
    let mut answer = caller.call(call).await.map_err(|error| CliError::Call(Box::new(error)))?;
    if arguments.full
        && let Some(artifact) = answer.result.meta.artifact.clone()
        && let Some(whole) = assembly.journal.artifact(&answer.run_id, &artifact).await?
    {
        make_whole(&mut answer.result, &whole);
    }
    print(&arguments, &answer, output);
    let exit = Exit::of_call(&answer.result, answer.status);
    if exit == Exit::Waiting {
        // What the journal does not keep, the screen does not show either.
        let secret = arguments.text.as_deref().is_some_and(|text| assembly.gate.scrub_arguments(text) != text);
        output.note(&next(&arguments, secret, &answer, &url));
    }
    assembly.notifier.flush(TO_BE_TOLD).await;
    Ok(exit)
}

/// A key is a name: short, and all of it can be seen.
fn idempotency_key(text: &str) -> Result<String, String> {
    const LONGEST: usize = 255;
    if text.is_empty() || text.len() > LONGEST {
        Err(format!("a key has 1 to {LONGEST} characters"))
    } else if text.chars().all(|letter| letter.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err("a key holds visible ASCII characters only".to_owned())
    }
}

/// The journal and the state in which a waiting call was left.
async fn taken_up(url: &str, typed: &str) -> Result<(ApprovalId, Overrides), CliError> {
    let stored = Stored::open(Some(url))?;
    let approval = stored.find_approval(typed).await?;
    let (_, state) = stored.state(&approval.run_id).await?;
    let overrides = Overrides { journal: Some(stored.journal), entered: entered(&state), ..Overrides::default() };
    Ok((approval.approval_id, overrides))
}

/// More than any gate takes, and little enough to hold.
const LONGEST_INPUT: u64 = 64 << 20;

/// The raw text. Nothing of it is changed: what is wrong with it is for the gate to say.
fn argument_text(argument: Option<&str>) -> Result<String, CliError> {
    match argument {
        None => Ok(String::new()),
        Some("-") => standard_input(),
        Some(text) => Ok(text.to_owned()),
    }
}

/// Arguments that somebody pipes in.
pub(crate) fn standard_input() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut bytes).map_err(CliError::Stdin)?;
    String::from_utf8(bytes).map_err(|error| CliError::StdinNotText(error.utf8_error().valid_up_to()))
}

fn print(arguments: &Arguments, answer: &DirectAnswer, output: &Output) {
    let view = CallView::of(answer, arguments.audit);
    match arguments.format {
        CallFormat::Json => output.object(&view),
        CallFormat::Human => {
            output.text(&human(answer));
            if arguments.audit {
                output.text(&audit(answer));
            }
        }
    }
}

/// How a waiting call goes on. Arguments with a secret are not repeated.
fn next(arguments: &Arguments, secret: bool, answer: &DirectAnswer, url: &str) -> String {
    let Some(approval) = &answer.result.meta.approval_id else {
        return String::new();
    };
    let (id, run_file) = (approval.as_str(), arguments.run_file.display().to_string());
    let commands = commands(url);
    if let Some(why) = commands.in_memory() {
        return why.to_owned();
    }
    let mut again = vec!["call", &run_file, &arguments.name];
    again.extend(arguments.text.as_deref().map(|text| if secret { "ARGUMENTS" } else { text }));
    if let Some(key) = &arguments.idempotency_key {
        again.extend(["--idempotency-key", key]);
    }
    again.extend(["--approval", id]);
    format!(
        "a person has to decide:\n  {}\n  {}\n  {}\nthen, with the same arguments:\n  {}\n",
        commands.command(&["approvals", "show", id]),
        commands.command(&["approvals", "approve", id]),
        commands.command(&["approvals", "deny", id]),
        commands.command(&again),
    )
}
