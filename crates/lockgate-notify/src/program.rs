//! To a program: the message on its standard input, no shell, and no environment but what was declared.

use std::time::Duration;

use lockgate_host::children::{Child, Ended};

use crate::error::TargetError;

/// One program.
#[derive(Debug, Clone)]
pub struct Program {
    command: Vec<String>,
    /// The variables that it is given, by name.
    environment: Vec<String>,
    timeout: Duration,
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
        Ok(Self { command, environment, timeout })
    }

    pub(crate) async fn send(&self, body: &str) -> Result<(), String> {
        let name = self.command.first().map(String::as_str).unwrap_or_default();
        let child = Child { command: &self.command, environment: &self.environment, input: body.as_bytes() };
        match child.run(self.timeout).await {
            Ok(Ended::Well) => Ok(()),
            Ok(Ended::Badly(status)) => Err(format!("`{name}` ended with {status}")),
            Ok(Ended::TimedOut) => Err(format!("`{name}` took longer than {:?}, and was killed", self.timeout)),
            Err(error) => Err(format!("`{name}` cannot be started: {error}")),
        }
    }
}
