//! `lockgate journal keygen`: a key that signs decisions.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use lockgate::host::files::NewFile;
use lockgate::host::randomness;
use lockgate::journal::SigningKey;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Make a key that signs the decisions of policies and people
#[derive(Debug, Args)]
#[command(after_help = "\
The secret key goes to FILE, for its owner alone, and the public one to FILE.pub.

A run is signed whose run file names the key: `sign_key_file = \"FILE\"` or `sign_key_env = \"NAME\"` in
`[journal]`. Who answers its questions names it with LOCKGATE_SIGN_KEY_FILE.

Examples:
  lockgate journal keygen sign.key
  LOCKGATE_SIGN_KEY_FILE=sign.key lockgate approvals approve apr-0123456789abcdef
  lockgate journal check --public-key sign.key.pub")]
pub(super) struct Arguments {
    /// Where the secret key goes; there is no file yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let bytes = randomness::secret_bytes().map_err(|error| CliError::NoRandomness(error.to_string()))?;
    let key = SigningKey::from_bytes(&bytes);
    let mut public = arguments.file.clone().into_os_string();
    public.push(".pub");
    write(&arguments.file, &key.to_text())?;
    write(Path::new(&public), &key.public().to_string())?;
    output.text(&format!("{}\n", key.public()));
    Ok(Exit::Ok)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let written = |cause: std::io::Error| match cause.kind() {
        ErrorKind::AlreadyExists => CliError::FileThere(path.to_owned()),
        _ => CliError::Write { path: path.to_owned(), cause },
    };
    let mut file = NewFile::create(path).map_err(written)?;
    file.write(format!("{text}\n").as_bytes()).map_err(written)?;
    file.finish().map_err(written)
}
