//! The one definition object of a tool, frozen once built.

mod builder;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

pub use self::builder::{InvalidSpec, ToolSpecBuilder};
use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::document::Document;
use crate::effect::{Deferral, Effect, ErrorText, Idempotency, OnDuplicate, OutputForm, Permission, ReplayPolicy};
use crate::ports::BoxFuture;
use crate::tool::{Failure, Handler, Output, ToolContext};

/// The tool's own check before permission: the fixed sentence with which it rejects, or nothing.
pub type PreCheck = Arc<dyn Fn(&Arguments) -> Result<(), String> + Send + Sync>;

/// Proves that a call with these arguments is harmless. It answers only `bool`, so it cannot tighten.
pub type HarmlessWhen = Arc<dyn Fn(&Arguments) -> bool + Send + Sync>;

/// Looks at the files that a call would use: by the names that the call has for them, and what is in them.
pub type BindsFiles = Arc<dyn Fn(&Arguments) -> Result<BTreeMap<String, Digest>, String> + Send + Sync>;

/// Asks the outside world what became of an attempt whose result was lost.
pub type Reconcile =
    Arc<dyn Fn(Arguments, ToolContext) -> BoxFuture<'static, Result<Reconciled, Failure>> + Send + Sync>;

/// What a tool found out about an attempt whose result was lost.
#[derive(Debug)]
pub enum Reconciled {
    /// It took effect: this is its output.
    Done(Output),
    /// It did not take effect, and will not.
    NotDone,
    /// It cannot be told.
    Unsure,
}

/// Who may see a tool, beyond its scopes. Empty sets leave the question open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Audience {
    /// Tenants for whom the tool exists.
    pub tenants: BTreeSet<String>,
    /// Agents for whom the tool exists.
    pub agents: BTreeSet<String>,
    /// The data domain that the tool reaches.
    pub domain: Option<String>,
}

/// What a tool is. Nobody can change a field of it: there is no setter, and it is shared behind an [`Arc`].
///
/// New fields are appended at the end; the type only grows.
pub struct ToolSpec {
    name: String,
    description: String,
    input_schema: Document,
    replay: ReplayPolicy,
    completes_run: bool,
    handler: Option<Handler>,
    version: String,
    output_schema: Option<Document>,
    effect: Effect,
    idempotency: Idempotency,
    permission: Permission,
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
    definition: Digest,
    reconcile: Option<Reconcile>,
    idempotency_window: Option<Duration>,
    output_form: OutputForm,
    shown_beside: Option<Document>,
}

impl ToolSpec {
    /// Starts a tool. Without more it has effect `external`, asks for permission, takes no arguments and has no handler.
    pub fn builder(name: impl Into<String>) -> ToolSpecBuilder {
        ToolSpecBuilder::new(name.into())
    }

    /// The only key by which the tool can be found.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> &Document {
        &self.input_schema
    }

    /// Whether recovery may run it again.
    pub fn replay(&self) -> ReplayPolicy {
        self.replay
    }

    /// Whether its success means that the agent is done.
    pub fn completes_run(&self) -> bool {
        self.completes_run
    }

    /// Its handler, where it has one.
    pub fn handler(&self) -> Option<&Handler> {
        self.handler.as_ref()
    }

    /// Its version, which results quote.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The JSON Schema of its output.
    pub fn output_schema(&self) -> Option<&Document> {
        self.output_schema.as_ref()
    }

    /// Its side-effect class.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Who sees to it that a repetition has one effect.
    pub fn idempotency(&self) -> Idempotency {
        self.idempotency
    }

    /// The permission it declares.
    pub fn permission(&self) -> Permission {
        self.permission
    }

    /// Why it declares that permission.
    pub fn permission_reason(&self) -> Option<&str> {
        self.permission_reason.as_deref()
    }

    /// The scopes that a subject needs, all of them.
    pub fn scopes(&self) -> &BTreeSet<String> {
        &self.scopes
    }

    /// Whether it may be left out of the prompt.
    pub fn deferral(&self) -> Deferral {
        self.deferral
    }

    /// Its own time-out for one call.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// What it must not share with another call at the same time.
    pub fn resource_keys(&self) -> &BTreeSet<String> {
        &self.resource_keys
    }

    /// What identical writes of one turn do.
    pub fn on_duplicate(&self) -> OnDuplicate {
        self.on_duplicate
    }

    /// Which source it came from, such as `native`, `catalog:tools.toml` or `core:read`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Who may see it, beyond its scopes.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Whether the text of its unexpected errors may reach the model.
    pub fn error_text(&self) -> ErrorText {
        self.error_text
    }

    /// Its own check before permission.
    pub fn pre_check(&self) -> Option<&PreCheck> {
        self.pre_check.as_ref()
    }

    /// Its proof that some arguments are harmless.
    pub fn harmless_when(&self) -> Option<&HarmlessWhen> {
        self.harmless_when.as_ref()
    }

    /// How it finds the files that a call would use.
    pub fn binds_files(&self) -> Option<&BindsFiles> {
        self.binds_files.as_ref()
    }

    /// The digest of everything that a model or a policy can see.
    pub fn definition(&self) -> Digest {
        self.definition
    }

    /// How it finds out what became of an attempt whose result was lost.
    pub fn reconcile(&self) -> Option<&Reconcile> {
        self.reconcile.as_ref()
    }

    /// How long its provider remembers an idempotency key, where its provider does.
    pub fn idempotency_window(&self) -> Option<Duration> {
        const A_DAY: Duration = Duration::from_hours(24);
        (self.idempotency == Idempotency::Provider).then(|| self.idempotency_window.unwrap_or(A_DAY))
    }

    /// What its output is.
    pub fn output_form(&self) -> OutputForm {
        self.output_form
    }

    /// What clients are shown of it beside name, description and schemas: an object, such as `{"title", "annotations"}`. A
    /// hint for people, which decides nothing.
    pub fn shown_beside(&self) -> Option<&Document> {
        self.shown_beside.as_ref()
    }

    /// The abilities that were attached when the tool was built, by name.
    pub fn abilities(&self) -> Vec<&'static str> {
        let mut abilities = Vec::new();
        if self.pre_check.is_some() {
            abilities.push("pre_check");
        }
        if self.harmless_when.is_some() {
            abilities.push("harmless_when");
        }
        if self.reconcile.is_some() {
            abilities.push("reconcile");
        }
        if self.binds_files.is_some() {
            abilities.push("binds_files");
        }
        abilities
    }

    fn digest(&self) -> Digest {
        let visible = Visible {
            abilities: self.abilities(),
            audience: &self.audience,
            completes_run: self.completes_run,
            deferral: self.deferral,
            description: &self.description,
            effect: self.effect,
            error_text: self.error_text,
            idempotency: self.idempotency,
            idempotency_window_ms: self.idempotency_window.map(millis),
            input_schema: &self.input_schema,
            name: &self.name,
            on_duplicate: self.on_duplicate,
            output_form: Some(self.output_form).filter(|form| *form != OutputForm::Value),
            output_schema: self.output_schema.as_ref(),
            permission: self.permission,
            permission_reason: self.permission_reason.as_deref(),
            replay: self.replay,
            resource_keys: &self.resource_keys,
            scopes: &self.scopes,
            shown_beside: self.shown_beside.as_ref(),
            source: &self.source,
            timeout_ms: self.timeout.map(millis),
            version: &self.version,
        };
        // Only a schema at the very limit of depth cannot be wrapped once more; the registry refuses it, and until then
        // its text stands for it.
        Document::from_serialize(&visible).map_or_else(
            |_| Digest::of_text("lockgate.definition.text.v1", &format!("{visible:?}")),
            |document| Digest::of("lockgate.definition.v1", &document),
        )
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What the definition digest covers.
#[derive(Debug, Serialize)]
struct Visible<'a> {
    abilities: Vec<&'static str>,
    audience: &'a Audience,
    completes_run: bool,
    deferral: Deferral,
    description: &'a str,
    effect: Effect,
    error_text: ErrorText,
    idempotency: Idempotency,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_window_ms: Option<u64>,
    input_schema: &'a Document,
    name: &'a str,
    on_duplicate: OnDuplicate,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_form: Option<OutputForm>,
    output_schema: Option<&'a Document>,
    permission: Permission,
    permission_reason: Option<&'a str>,
    replay: ReplayPolicy,
    resource_keys: &'a BTreeSet<String>,
    scopes: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown_beside: Option<&'a Document>,
    source: &'a str,
    timeout_ms: Option<u64>,
    version: &'a str,
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("effect", &self.effect)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
