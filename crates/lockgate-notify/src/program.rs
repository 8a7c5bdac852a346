//! To a program: the message on its standard input, no shell, and no environment but what was declared.

use std::path::PathBuf;
use std::time::Duration;

use lockgate_host::children::{Child, Ended, NESTING, nesting};

use crate::error::TargetError;

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    command: Vec<String>,
    /// The variables that it is given, by name.
    environment: Vec<String>,
    timeout: Duration,
    folder: Option<PathBuf>,
    /// Variables with values of their own.
    variables: Vec<(&'static str, String)>,
}

impl Program {
    /// Starts this for each message; it is killed when it takes longer than `timeout`. Of the environment it is given the
    /// variables that are named, and nothing else.
    ///
    /// # Errors
    ///
    /// The command names no program.
    pub fn new(command: Vec<String>, environment: Vec<String>, timeout: Duration) -> Result<Self, TargetError> {
        if command.first().is_none_or(String::is_empty) {
            return Err(TargetError::NoProgram);
        }
        Ok(Self { command, environment, timeout, folder: None, variables: Vec::new() })
    }

    /// The same program, which works in this folder, an absolute path, and is looked up there where it is named by a path. Without:
    /// the folder of this process.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The same program, which is told that it was started for a hook.
    pub(crate) fn of_a_hook(mut self) -> Self {
        self.variables = vec![(NESTING, (nesting() + 1).to_string())];
        self
    }

    pub(crate) async fn send(&self, body: &str) -> Result<(), String> {
        let name = self.command.first().map(String::as_str).unwrap_or_default();
        let child = Child {
            command: &self.command,
            environment: &self.environment,
            variables: &self.variables,
            folder: self.folder.as_deref(),
            input: body.as_bytes(),
        };
        match child.run(self.timeout).await {
            Ok(Ended::Well) => Ok(()),
            Ok(Ended::Badly(status)) => Err(format!("`{name}` ended with {status}")),
            Ok(Ended::TimedOut) => Err(format!("`{name}` took longer than {:?}, and was killed", self.timeout)),
            Err(error) => Err(format!("`{name}` cannot be started: {error}")),
        }
    }
}
