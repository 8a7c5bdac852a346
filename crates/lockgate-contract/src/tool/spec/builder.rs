//! How a [`ToolSpec`] is put together.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::{Audience, BindsFiles, HarmlessWhen, PreCheck, Reconcile, Reconciled, ToolSpec};
use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::document::{Document, Limits};
use crate::effect::{Deferral, Effect, ErrorText, Idempotency, OnDuplicate, OutputForm, Permission, ReplayPolicy};
use crate::tool::{Failure, Handler, ToolContext};

/// Puts a [`ToolSpec`] together. Abilities are values attached here: a forgotten one is visible, not silently absent.
pub struct ToolSpecBuilder {
    name: String,
    description: String,
    input_schema: Option<SchemaSource>,
    replay: Option<ReplayPolicy>,
    completes_run: bool,
    handler: Option<Handler>,
    version: String,
    output_schema: Option<SchemaSource>,
    effect: Effect,
    idempotency: Idempotency,
    permission: Option<Permission>,
    permission_reason: Option<String>,
    scopes: BTreeSet<String>,
    deferral: Deferral,
    timeout: Option<Duration>,
    resource_keys: BTreeSet<String>,
    on_duplicate: OnDuplicate,
    source: String,
    audience: Audience,
    error_text: ErrorText,
    pre_check: Option<PreCheck>,
    harmless_when: Option<HarmlessWhen>,
    binds_files: Option<BindsFiles>,
    reconcile: Option<Reconcile>,
    idempotency_window: Option<Duration>,
    output_form: OutputForm,
    shown_beside: Option<Document>,
}

impl ToolSpecBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            description: String::new(),
            input_schema: None,
            replay: None,
            completes_run: false,
            handler: None,
            version: "1.0".to_owned(),
            output_schema: None,
            effect: Effect::External,
            idempotency: Idempotency::None,
            permission: None,
            permission_reason: None,
            scopes: BTreeSet::new(),
            deferral: Deferral::Never,
            timeout: None,
            resource_keys: BTreeSet::new(),
            on_duplicate: OnDuplicate::RunEach,
            source: "native".to_owned(),
            audience: Audience::default(),
            error_text: ErrorText::Hidden,
            pre_check: None,
            harmless_when: None,
            binds_files: None,
            reconcile: None,
            idempotency_window: None,
            output_form: OutputForm::Value,
            shown_beside: None,
        }
    }

    /// What it does, for the model. Never a place for secrets, addresses or tenant data (R-016).
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: Document) -> Self {
        self.input_schema = Some(SchemaSource::Parsed(schema));
        self
    }

    /// The JSON Schema of its arguments, as text.
    #[must_use]
    pub fn input_schema_text(mut self, schema: impl Into<String>) -> Self {
        self.input_schema = Some(SchemaSource::Text(schema.into()));
        self
    }

    /// The JSON Schema of its output.
    #[must_use]
    pub fn output_schema(mut self, schema: Document) -> Self {
        self.output_schema = Some(SchemaSource::Parsed(schema));
        self
    }

    /// The JSON Schema of its output, as text.
    #[must_use]
    pub fn output_schema_text(mut self, schema: impl Into<String>) -> Self {
        self.output_schema = Some(SchemaSource::Text(schema.into()));
        self
    }

    /// Whether recovery may run it again. Without: `safe` for a read, `never` otherwise.
    #[must_use]
    pub fn replay(mut self, replay: ReplayPolicy) -> Self {
        self.replay = Some(replay);
        self
    }

    /// Its success means that the agent is done.
    #[must_use]
    pub fn completes_run(mut self, completes_run: bool) -> Self {
        self.completes_run = completes_run;
        self
    }

    /// The function behind it.
    #[must_use]
    pub fn handler(mut self, handler: Handler) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Its version; `1.0` without.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Its side-effect class; `external` without.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Who sees to it that a repetition has one effect.
    #[must_use]
    pub fn idempotency(mut self, idempotency: Idempotency) -> Self {
        self.idempotency = idempotency;
        self
    }

    /// The permission it declares. Without: `allow` for a read, `ask` otherwise.
    #[must_use]
    pub fn permission(mut self, permission: Permission) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Why it declares that permission.
    #[must_use]
    pub fn permission_reason(mut self, reason: impl Into<String>) -> Self {
        self.permission_reason = Some(reason.into());
        self
    }

    /// The scopes that a subject needs, all of them.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether it may be left out of the prompt.
    #[must_use]
    pub fn deferral(mut self, deferral: Deferral) -> Self {
        self.deferral = deferral;
        self
    }

    /// Its own time-out for one call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What it must not share with another call at the same time.
    #[must_use]
    pub fn resource_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.resource_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// What identical writes of one turn do.
    #[must_use]
    pub fn on_duplicate(mut self, on_duplicate: OnDuplicate) -> Self {
        self.on_duplicate = on_duplicate;
        self
    }

    /// Which source it comes from; `native` without.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Who may see it, beyond its scopes.
    #[must_use]
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Whether the text of its unexpected errors may reach the model.
    #[must_use]
    pub fn error_text(mut self, error_text: ErrorText) -> Self {
        self.error_text = error_text;
        self
    }

    /// Attaches the tool's own check before permission: local, deterministic, without I/O (Z-04). The error is the fixed
    /// sentence that the model is told.
    #[must_use]
    pub fn pre_check(mut self, check: impl Fn(&Arguments) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.pre_check = Some(Arc::new(check));
        self
    }

    /// Attaches a proof that some arguments are harmless: `true` relaxes `ask` to `allow` for that call, and is recorded.
    #[must_use]
    pub fn harmless_when(mut self, proof: impl Fn(&Arguments) -> bool + Send + Sync + 'static) -> Self {
        self.harmless_when = Some(Arc::new(proof));
        self
    }

    /// Attaches a look at the files that a call would use, such as a script that it runs: by the names that the call has for
    /// them, and what is in them. Where a person is asked they are shown, and a file that is another one by the time that the
    /// call goes on voids the approval. It may block, and changes nothing; the error is the sentence that the model is told.
    #[must_use]
    pub fn binds_files<F>(mut self, look: F) -> Self
    where
        F: Fn(&Arguments) -> Result<BTreeMap<String, Digest>, String> + Send + Sync + 'static,
    {
        self.binds_files = Some(Arc::new(look));
        self
    }

    /// Attaches a question to the outside world: what became of an attempt whose result was lost? It is asked when a run is
    /// recovered, changes nothing, and gets the attempt's own idempotency key.
    #[must_use]
    pub fn reconcile<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(Arguments, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reconciled, Failure>> + Send + 'static,
    {
        self.reconcile = Some(Arc::new(move |arguments, context| Box::pin(ask(arguments, context))));
        self
    }

    /// How long its provider remembers an idempotency key; a day without. It counts from an attempt's start, and only
    /// where the provider recognises keys at all.
    #[must_use]
    pub fn idempotency_window(mut self, window: Duration) -> Self {
        self.idempotency_window = Some(window);
        self
    }

    /// What its output is; a value without.
    #[must_use]
    pub fn output_form(mut self, form: OutputForm) -> Self {
        self.output_form = form;
        self
    }

    /// What clients are shown of it beside name, description and schemas: an object. The same is asked of it as of the
    /// description: it is no place for secrets.
    #[must_use]
    pub fn shown_beside(mut self, members: Document) -> Self {
        self.shown_beside = Some(members);
        self
    }

    /// The finished tool.
    pub fn build(self) -> Result<ToolSpec, InvalidSpec> {
        let no_arguments = || SchemaSource::Text(r#"{"type":"object","additionalProperties":false}"#.to_owned());
        let input_schema = admit(&self.name, "input", self.input_schema.unwrap_or_else(no_arguments))?;
        let output_schema = self.output_schema.map(|schema| admit(&self.name, "output", schema)).transpose()?;
        let replay = self.replay.unwrap_or(match self.idempotency {
            Idempotency::Declared => ReplayPolicy::Safe,
            Idempotency::None | Idempotency::Provider => self.effect.default_replay(),
        });
        if replay == ReplayPolicy::Safe && self.effect.changes_something() && self.idempotency == Idempotency::None {
            return Err(InvalidSpec::UnsafeReplay { tool: self.name, effect: self.effect });
        }
        let mut spec = ToolSpec {
            name: self.name,
            description: self.description,
            input_schema,
            replay,
            completes_run: self.completes_run,
            handler: self.handler,
            version: self.version,
            output_schema,
            effect: self.effect,
            idempotency: self.idempotency,
            permission: self.permission.unwrap_or(self.effect.default_permission()),
            permission_reason: self.permission_reason,
            scopes: self.scopes,
            deferral: self.deferral,
            timeout: self.timeout,
            resource_keys: self.resource_keys,
            on_duplicate: self.on_duplicate,
            source: self.source,
            audience: self.audience,
            error_text: self.error_text,
            pre_check: self.pre_check,
            harmless_when: self.harmless_when,
            binds_files: self.binds_files,
            definition: Digest::of_text("", ""),
            reconcile: self.reconcile,
            idempotency_window: self.idempotency_window.filter(|_| self.idempotency == Idempotency::Provider),
            output_form: self.output_form,
            shown_beside: self.shown_beside,
        };
        spec.definition = spec.digest();
        Ok(spec)
    }
}

/// A schema as it was given.
enum SchemaSource {
    Parsed(Document),
    Text(String),
}

fn admit(tool: &str, which: &'static str, schema: SchemaSource) -> Result<Document, InvalidSpec> {
    match schema {
        SchemaSource::Parsed(document) => Ok(document),
        SchemaSource::Text(text) => Document::parse(text, Limits::ARGUMENTS).map_err(|error| InvalidSpec::Schema {
            tool: tool.to_owned(),
            which,
            detail: error.to_string(),
        }),
    }
}

/// Why a spec cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidSpec {
    /// The schema's text is not JSON.
    #[error("the {which} schema of `{tool}` is not JSON: {detail}")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
        /// What is wrong, and where.
        detail: String,
    },
    /// A tool is said to be safe to repeat although it changes something and promises no idempotency (C-7).
    #[error("`{tool}` has effect {effect} and cannot be replayed as `safe` unless it declares idempotency")]
    UnsafeReplay {
        /// The tool.
        tool: String,
        /// Its effect.
        effect: Effect,
    },
}
