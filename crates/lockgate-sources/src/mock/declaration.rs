//! What a tool in a file says about itself: the same keys for a mock and for a catalog row.

use lockgate_contract::document::{Document, Kind};
use lockgate_contract::effect::{Effect, ErrorText, Idempotency, OnDuplicate, Permission, ReplayPolicy};
use lockgate_contract::tool::{Audience, ToolSpec, ToolSpecBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::TimeSpan;
use crate::error::Problem;

/// The keys that every tool has.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Declaration {
    /// The only key by which the tool can be found.
    pub(crate) name: String,
    /// Its version, which results quote.
    #[serde(default = "first_version")]
    version: String,
    /// What it does, for the model. Never a place for secrets.
    #[serde(default)]
    description: String,
    /// What it may do to the world: nothing, change what this installation owns, or reach beyond it.
    #[serde(default = "external")]
    #[schemars(schema_with = "effect_words")]
    effect: Effect,
    /// Whether recovery may run it again. Absent: `safe` for a read, else `never`. `safe` on a tool that changes something
    /// declares that repeating it has one effect.
    #[serde(default)]
    #[schemars(schema_with = "replay_words")]
    replay: Option<ReplayPolicy>,
    /// Who sees to it that a repetition has one effect: nobody, the tool itself, or its provider, which recognises the key
    /// that it is sent.
    #[serde(default)]
    #[schemars(schema_with = "idempotency_words")]
    idempotency: Option<Idempotency>,
    /// With `idempotency = "provider"`: how long the provider remembers a key. Absent: `24h`.
    #[serde(default)]
    idempotency_window: Option<TimeSpan>,
    /// The permission it declares. Absent: `allow` for a read, else `ask`.
    #[serde(default)]
    #[schemars(schema_with = "permission_words")]
    permission: Option<Permission>,
    /// Why it declares that permission, for the person who is asked.
    #[serde(default)]
    permission_reason: Option<String>,
    /// Its success means that the agent is done.
    #[serde(default)]
    completes_run: bool,
    /// What identical writes of one turn do.
    #[serde(default = "run_each")]
    #[schemars(schema_with = "on_duplicate_words")]
    on_duplicate: OnDuplicate,
    /// Whether the text of its unexpected errors may reach the model.
    #[serde(default = "hidden")]
    #[schemars(schema_with = "error_text_words")]
    error_text: ErrorText,
    /// The scopes that a subject needs, all of them.
    #[serde(default)]
    scopes: Vec<String>,
    /// The tenants for whom it exists. Absent: all.
    #[serde(default)]
    tenants: Vec<String>,
    /// The agents for whom it exists. Absent: all.
    #[serde(default)]
    agents: Vec<String>,
    /// The data domain that it reaches.
    #[serde(default)]
    domain: Option<String>,
    /// Its own time-out for one call, such as `2s`.
    #[serde(default)]
    timeout: Option<TimeSpan>,
    /// The JSON Schema of its arguments. Absent: any object.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) input_schema: Option<Document>,
    /// The JSON Schema of its output. Absent: any JSON.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) output_schema: Option<Document>,
}

impl Declaration {
    /// A tool that says this about itself, without a handler yet. Schemas stay as they are written.
    pub(crate) fn builder(&self) -> Result<ToolSpecBuilder, Problem> {
        self.check()?;
        let mut builder = ToolSpec::builder(self.name.as_str())
            .version(self.version.as_str())
            .description(self.description.as_str())
            .effect(self.effect)
            .idempotency(self.idempotency())
            .completes_run(self.completes_run)
            .on_duplicate(self.on_duplicate)
            .error_text(self.error_text)
            .scopes(self.scopes.iter().map(String::as_str))
            .audience(Audience {
                tenants: self.tenants.iter().cloned().collect(),
                agents: self.agents.iter().cloned().collect(),
                domain: self.domain.clone(),
            });
        if let Some(replay) = self.replay {
            builder = builder.replay(replay);
        }
        if let Some(window) = self.idempotency_window {
            builder = builder.idempotency_window(window.as_duration());
        }
        if let Some(permission) = self.permission {
            builder = builder.permission(permission);
        }
        if let Some(reason) = &self.permission_reason {
            builder = builder.permission_reason(reason.as_str());
        }
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout.as_duration());
        }
        builder = match &self.input_schema {
            Some(schema) => builder.input_schema(schema.clone()),
            // What declares nothing refuses nothing: the file's author knows the tool, this program does not.
            None => builder.input_schema_text(r#"{"type":"object"}"#),
        };
        if let Some(schema) = &self.output_schema {
            builder = builder.output_schema(schema.clone());
        }
        Ok(builder)
    }

    fn check(&self) -> Result<(), Problem> {
        if self.name.is_empty() {
            return Err(Problem::EmptyName);
        }
        if self.timeout.is_some_and(|timeout| timeout.as_duration().is_zero()) {
            return Err(Problem::Invalid { detail: "`timeout` is zero, so no call could succeed".to_owned() });
        }
        if self.idempotency_window.is_some() && self.idempotency() != Idempotency::Provider {
            let detail = "`idempotency_window` needs `idempotency = \"provider\"`".to_owned();
            return Err(Problem::Invalid { detail });
        }
        for (which, schema) in [("input", &self.input_schema), ("output", &self.output_schema)] {
            if schema.as_ref().is_some_and(|schema| schema.root().kind() != Kind::Object) {
                return Err(Problem::Schema { which, detail: "it must be a table".to_owned() });
            }
        }
        Ok(())
    }

    /// Who says that a tool which changes something may be repeated, declares that a repetition has one effect (C-7).
    fn idempotency(&self) -> Idempotency {
        match self.idempotency {
            Some(idempotency) => idempotency,
            None if self.replay == Some(ReplayPolicy::Safe) && self.effect.changes_something() => Idempotency::Declared,
            None => Idempotency::None,
        }
    }
}

fn first_version() -> String {
    "1.0".to_owned()
}

fn external() -> Effect {
    Effect::External
}

fn run_each() -> OnDuplicate {
    OnDuplicate::RunEach
}

fn hidden() -> ErrorText {
    ErrorText::Hidden
}

fn effect_words(_: &mut SchemaGenerator) -> Schema {
    one_of(Effect::ALL.iter().map(|value| value.word()))
}

fn replay_words(_: &mut SchemaGenerator) -> Schema {
    one_of(ReplayPolicy::ALL.iter().map(|value| value.word()))
}

fn idempotency_words(_: &mut SchemaGenerator) -> Schema {
    one_of(Idempotency::ALL.iter().map(|value| value.word()))
}

fn permission_words(_: &mut SchemaGenerator) -> Schema {
    one_of(Permission::ALL.iter().map(|value| value.word()))
}

fn on_duplicate_words(_: &mut SchemaGenerator) -> Schema {
    one_of(OnDuplicate::ALL.iter().map(|value| value.word()))
}

fn error_text_words(_: &mut SchemaGenerator) -> Schema {
    one_of(ErrorText::ALL.iter().map(|value| value.word()))
}

/// The schema of a word that stands for one value of an enum of the contract.
pub(super) fn one_of(words: impl Iterator<Item = &'static str>) -> Schema {
    let words: Vec<_> = words.collect();
    json_schema!({ "type": "string", "enum": words })
}
