//! A veto hook that is a program: the call on its standard input, its exit code for an answer.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::effect::Effect;
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{BoxFuture, HookAnswer, HookedCall, Redactor, VetoHook};
use lockgate_contract::subject::Subject;
use lockgate_host::children::{Answer, Child, Ended, NESTING, nesting};
use serde::Serialize;

/// A program that may stop calls. It is started for each, without a shell, and with no environment but what was declared.
///
/// It reads one JSON object and lets the call pass with exit code 0. Every other end blocks the call: another exit code, a
/// signal, no end in time, a program that cannot be started. What it prints is the reason of a veto, and means nothing else.
pub struct ProgramHook {
    command: Vec<String>,
    environment: Vec<String>,
    folder: Option<PathBuf>,
    redactor: Arc<dyn Redactor>,
    /// How many hooks stand above this process.
    nesting: u32,
}

/// The most bytes that are read of each output of a program.
const MOST_PRINTED: usize = 64 * 1024;

/// What the program reads. Keys are only ever added.
#[derive(Serialize)]
struct Told<'a> {
    v: u32,
    r#type: &'static str,
    run_id: &'a RunId,
    call_id: &'a CallId,
    step: u32,
    subject: &'a Subject,
    tool: ToldTool<'a>,
    arguments: &'a Document,
    /// Whether a secret was taken out of the arguments: then they are not what would run.
    arguments_scrubbed: bool,
    /// Of the arguments as they would run.
    arguments_digest: Digest,
    /// How long the answer is waited for.
    timeout_ms: u64,
}

#[derive(Serialize)]
struct ToldTool<'a> {
    name: &'a str,
    version: &'a str,
    effect: Effect,
    definition: Digest,
}

impl ProgramHook {
    /// Starts this for each call. Of the environment it is given the variables that are named, and nothing else; of the call
    /// nothing that the redactor knows as a secret. A command without a program cannot be started, and blocks every call.
    pub fn new(command: Vec<String>, environment: Vec<String>, redactor: Arc<dyn Redactor>) -> Self {
        Self { command, environment, folder: None, redactor, nesting: nesting() }
    }

    /// The same program, which works in this folder, an absolute path, and is looked up there where it is named by a path. Without:
    /// the folder of this process.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    async fn answer(&self, call: HookedCall<'_>) -> Result<HookAnswer, String> {
        if self.nesting > 0 {
            return Err("its program is not started: a hook started this process".to_owned());
        }
        let told = self.told(&call)?;
        let depth = (self.nesting + 1).to_string();
        let child = Child {
            command: &self.command,
            environment: &self.environment,
            variables: &[(NESTING, depth)],
            folder: self.folder.as_deref(),
            input: told.text().as_bytes(),
        };
        let Answer { ended, printed } = child
            .run_and_read(call.timeout, MOST_PRINTED)
            .await
            .map_err(|error| format!("its program cannot be started: {error}"))?;
        match ended {
            Ended::Well => Ok(HookAnswer::Pass),
            Ended::Badly(how) => Ok(HookAnswer::Veto(match printed.as_deref().map(str::trim) {
                None => format!("({how}; what it printed is too long to be shown)"),
                Some("") => format!("({how})"),
                Some(printed) => format!("{printed} ({how})"),
            })),
            Ended::TimedOut => Err("no answer in time".to_owned()),
        }
    }

    fn told(&self, call: &HookedCall<'_>) -> Result<Document, String> {
        let told = Document::from_serialize(&Told {
            v: 1,
            r#type: "call.before",
            run_id: call.run_id,
            call_id: call.call_id,
            step: call.step,
            subject: call.subject,
            tool: ToldTool {
                name: call.tool.name(),
                version: call.tool.version(),
                effect: call.tool.effect(),
                definition: call.tool.definition(),
            },
            arguments: call.arguments.document(),
            arguments_scrubbed: self.redactor.scrub_document(call.arguments.document()).is_some(),
            arguments_digest: call.arguments_digest,
            timeout_ms: u64::try_from(call.timeout.as_millis()).unwrap_or(u64::MAX),
        })
        .map_err(|error| format!("it cannot be told of the call: {error}"))?;
        Ok(self.redactor.scrub_document(&told).unwrap_or(told))
    }
}

impl VetoHook for ProgramHook {
    fn before<'a>(&'a self, call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        Box::pin(self.answer(call))
    }
}

/// Shows what is started.
impl fmt::Debug for ProgramHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ProgramHook").field("command", &self.command).finish_non_exhaustive()
    }
}
