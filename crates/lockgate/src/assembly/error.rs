//! Why a run file does not become a gate.

use std::path::PathBuf;

use lockgate_config::ConfigError;
use lockgate_contract::tool::InvalidSpec;
use lockgate_executor::GateError;
use lockgate_journal::InvalidKey;
use lockgate_journal::OpenError;
use lockgate_models::OptionsError;
use lockgate_models::ScriptError;
use lockgate_notify::TargetError;
#[cfg(feature = "http-policy")]
use lockgate_policy::DecisionPointError;
#[cfg(feature = "cedar")]
use lockgate_policy::cedar::RulesRefused;
use lockgate_redact::RedactError;
use lockgate_registry::RegisterError;
use lockgate_sources::core::RootError;
use lockgate_sources::error::SourceError;
use thiserror::Error;

/// Why a run file does not become a gate. Nothing was started.
#[derive(Debug, Error)]
pub enum AssemblyError {
    /// The file itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// A catalog or a mock.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The root of the core tools.
    #[error("the root of the core tools cannot be used: {0}")]
    Root(#[from] RootError),
    /// A tool that cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A tool that cannot be.
    #[error(transparent)]
    Spec(#[from] InvalidSpec),
    /// A gate that would not hold.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Rules that do not load.
    #[cfg(feature = "cedar")]
    #[error(transparent)]
    Rules(#[from] RulesRefused),
    /// A decision point that cannot be asked.
    #[cfg(feature = "http-policy")]
    #[error(transparent)]
    DecisionPoint(#[from] DecisionPointError),
    /// An engine that this build does not have.
    #[error("`policy.engine` is `{engine}`, and this build has no such engine")]
    NoEngine {
        /// The engine.
        engine: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// A secret that cannot be kept.
    #[error("the secret in `{variable}` cannot be kept from leaving: {cause}")]
    Secret {
        /// The environment variable.
        variable: String,
        /// Why.
        #[source]
        cause: RedactError,
    },
    /// A tool that would show a secret to the model.
    #[error("what a model is shown of tool `{tool}`, from {source_of_tool}, holds a secret")]
    SecretShown {
        /// The tool.
        tool: String,
        /// Where it came from.
        source_of_tool: String,
    },
    /// Somebody who cannot be told.
    #[error("`notify` in the run file cannot be used: {0}")]
    Notify(#[from] TargetError),
    /// The redaction rules.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// A file with redaction rules that is not there.
    #[error("the redaction rules in `{}` cannot be read: {cause}", .path.display())]
    RedactionRules {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The key that signs decisions is not there.
    #[error("the key that signs decisions cannot be read from `{place}`: {cause}")]
    NoSignKey {
        /// The environment variable or the file.
        place: String,
        /// Why.
        cause: String,
    },
    /// The key that signs decisions is none.
    #[error("what signs decisions, in `{place}`, is no key: {cause}")]
    InvalidSignKey {
        /// The environment variable or the file.
        place: String,
        /// What a key looks like.
        #[source]
        cause: InvalidKey,
    },
    /// A rule that would be about nothing: a pin of `subject.versions`, a `[[quota]]`, or the tools of a `[[hook]]`.
    #[error("`{rule}` names `{tool}`, and no tool has this name")]
    UnknownTool {
        /// Where the name stands.
        rule: &'static str,
        /// The name.
        tool: String,
        /// The registered name that is spelled most like it, if any is close.
        nearest: Option<String>,
    },
    /// An MCP server without which nothing is to start.
    #[error("MCP server `{name}` is `required` and cannot be used: {why}")]
    Server {
        /// The server.
        name: String,
        /// Why.
        why: String,
    },
    /// Nobody can log in at an MCP server, or out.
    #[error("MCP server `{name}`: {why}")]
    Login {
        /// The server.
        name: String,
        /// Why.
        why: String,
    },
    /// The scripted model's file.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The model's options.
    #[error(transparent)]
    Model(#[from] OptionsError),
    /// Something that the run file must say.
    #[error("`{}` has no `{key}`", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
    },
}

impl AssemblyError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint(),
            Self::Journal(error) => Some(error.hint().to_owned()),
            Self::Source(error) => error.hint(),
            Self::Script(error) => error.hint().map(str::to_owned),
            Self::Model(error) => error.hint().map(str::to_owned),
            #[cfg(feature = "cedar")]
            Self::Rules(error) => error.hint().map(str::to_owned),
            #[cfg(feature = "http-policy")]
            Self::DecisionPoint(error) => error.hint().map(str::to_owned),
            Self::NoEngine { feature, .. } => Some(format!("build it with the feature `{feature}`")),
            Self::Secret { variable, .. } => {
                Some(format!("use a longer secret, or take `{variable}` out of the run file"))
            }
            Self::SecretShown { .. } => Some("take it out of the name, the description and the schema".to_owned()),
            Self::UnknownTool { nearest, .. } => nearest.as_ref().map(|near| format!("did you mean `{near}`?")),
            Self::Missing { key: "model", .. } => {
                Some("add a table [model], such as provider = \"scripted\" with a script".to_owned())
            }
            Self::Missing { key, .. } => Some(format!("add `{key}`")),
            Self::Register(RegisterError::Duplicate { .. }) => Some("rename one of them".to_owned()),
            Self::NoSignKey { .. } | Self::InvalidSignKey { .. } => {
                Some("`lockgate journal keygen FILE` makes a key".to_owned())
            }
            Self::Server { name, .. } => {
                Some(format!("`lockgate mcp status` says more; without `mcp.{name}.required` the rest starts"))
            }
            Self::Redact(error) => error.hint().map(str::to_owned),
            Self::Root(_)
            | Self::Register(_)
            | Self::Notify(_)
            | Self::Spec(_)
            | Self::Gate(_)
            | Self::Login { .. }
            | Self::RedactionRules { .. } => None,
        }
    }
}
