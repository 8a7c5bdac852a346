//! `lockgate redact`: takes secrets out of any text, as a filter.

use std::env::VarError;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use clap::Args;
use lockgate::host::files;
use lockgate::redact::{Scrubber, ScrubberBuilder, SecretValue};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// What is read at once.
const PIECE: usize = 64 * 1024;

/// Take secrets out of a text
#[derive(Debug, Args)]
#[command(after_help = "\
What may be the beginning of a secret is held back until it is decided, so a line is mostly printed when it is whole.
docs/redaction.md says what is found and how rules are written.

Examples:
  kubectl logs api | lockgate redact
  lockgate redact build.log --secrets-from-env DEPLOY_TOKEN > build-clean.log
  git diff | lockgate redact --check --rules acme-rules.toml

Exit codes:
  0  the text was printed; with `--check`, nothing was found
  1  with `--check`, something was found
  2  usage, or the text cannot be read")]
pub(crate) struct Arguments {
    /// The text; without, standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A file with token rules, beside the built-in ones
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Environment variables whose values go, in any encoding
    #[arg(long, value_name = "NAME", num_args = 1..)]
    secrets_from_env: Vec<String>,
    /// Print nothing, and exit with 1 if there is a secret
    #[arg(long)]
    check: bool,
}

pub(crate) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let scrubber = scrubber(arguments)?;
    let found = match &arguments.file {
        Some(path) => {
            let unreadable = |cause| CliError::File { path: path.clone(), cause };
            let file = files::open(path).map_err(unreadable)?;
            filter(&scrubber, file, arguments.check, output).map_err(unreadable)?
        }
        None => filter(&scrubber, std::io::stdin().lock(), arguments.check, output).map_err(CliError::Input)?,
    };
    if arguments.check && found {
        output.note("a secret was found: `lockgate redact` without `--check` shows where\n");
        return Ok(Exit::Failed);
    }
    Ok(Exit::Ok)
}

fn scrubber(arguments: &Arguments) -> Result<Scrubber, CliError> {
    let mut builder = ScrubberBuilder::new();
    for path in &arguments.rules {
        let text = files::read_to_string(path).map_err(|cause| CliError::File { path: path.clone(), cause })?;
        builder.rules(&path.display().to_string(), &text)?;
    }
    for variable in &arguments.secrets_from_env {
        // A secret that is not known would stay in the text.
        let unusable = |problem| CliError::Secret { variable: variable.clone(), problem };
        let value = match std::env::var(variable) {
            Ok(value) if value.is_empty() => return Err(unusable("empty")),
            Ok(value) => value,
            Err(VarError::NotPresent) => return Err(unusable("not set")),
            Err(VarError::NotUnicode(_)) => return Err(unusable("not UTF-8")),
        };
        builder.secret(variable, SecretValue::new(value))?;
    }
    Ok(builder.build()?)
}

/// Prints the text without its secrets, or nothing where it is only checked; whether there was one.
fn filter(scrubber: &Scrubber, mut text: impl Read, check: bool, output: &Output) -> std::io::Result<bool> {
    let mut stream = scrubber.stream();
    let mut piece = vec![0; PIECE];
    while check && !stream.has_found() || !check && output.has_reader() {
        let length = match text.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let clean = stream.push(&piece[..length]);
        if !check && !clean.is_empty() {
            output.raw(&clean);
        }
    }
    let clean = stream.finish();
    if !check && !clean.is_empty() {
        output.raw(&clean);
    }
    Ok(stream.has_found())
}
