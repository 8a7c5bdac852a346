//! Two views of every tool: what a model may see, and what only the executor needs. Their fields do not overlap.

use std::collections::BTreeSet;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{
    Deferral, Effect, ErrorText, Idempotency, OnDuplicate, OutputForm, Permission, ReplayPolicy,
};
use lockgate_contract::tool::{Audience, ToolSpec};
use serde::Serialize;

/// Both views, sorted by name, over exactly the same names: they are made in one pass.
#[derive(Debug, Clone, Serialize)]
pub struct Description {
    /// What a model may see.
    pub model: Vec<ModelView>,
    /// What stays inside.
    pub internal: Vec<InternalView>,
}

/// What a model may see of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ModelView {
    /// The name, by which the views are joined.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub input_schema: Document,
    /// What clients are shown beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_beside: Option<Document>,
}

/// What only the executor and people need of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct InternalView {
    /// The name, by which the views are joined.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its side-effect class.
    pub effect: Effect,
    /// Whether recovery may run it again.
    pub replay: ReplayPolicy,
    /// Who sees to it that a repetition has one effect.
    pub idempotency: Idempotency,
    /// The permission it declares.
    pub permission: Permission,
    /// Why.
    pub permission_reason: Option<String>,
    /// The scopes that a subject needs.
    pub scopes: BTreeSet<String>,
    /// Whether its success means that the agent is done.
    pub completes_run: bool,
    /// What identical writes of one turn do.
    pub on_duplicate: OnDuplicate,
    /// Whether it may be left out of the prompt.
    pub deferral: Deferral,
    /// Whether the text of its unexpected errors may reach the model.
    pub error_text: ErrorText,
    /// Its own time-out, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// What it must not share with another call at the same time.
    pub resource_keys: BTreeSet<String>,
    /// The abilities that were attached to it.
    pub abilities: Vec<&'static str>,
    /// Whether it can be dispatched.
    pub has_handler: bool,
    /// The schema of its output.
    pub output_schema: Option<Document>,
    /// What its output is.
    pub output_form: OutputForm,
    /// Which source it came from.
    pub source: String,
    /// Its definition digest.
    pub definition: Digest,
    /// For whom it exists, beyond its scopes.
    pub audience: Audience,
}

impl Description {
    pub(crate) fn of<'t>(specs: impl Iterator<Item = &'t ToolSpec>) -> Self {
        let (model, internal) = specs.map(|spec| (ModelView::of(spec), InternalView::of(spec))).unzip();
        Self { model, internal }
    }
}

impl ModelView {
    fn of(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name().to_owned(),
            description: spec.description().to_owned(),
            input_schema: spec.input_schema().clone(),
            shown_beside: spec.shown_beside().cloned(),
        }
    }
}

impl InternalView {
    fn of(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name().to_owned(),
            version: spec.version().to_owned(),
            effect: spec.effect(),
            replay: spec.replay(),
            idempotency: spec.idempotency(),
            permission: spec.permission(),
            permission_reason: spec.permission_reason().map(str::to_owned),
            scopes: spec.scopes().clone(),
            completes_run: spec.completes_run(),
            on_duplicate: spec.on_duplicate(),
            deferral: spec.deferral(),
            error_text: spec.error_text(),
            timeout_ms: spec.timeout().map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            resource_keys: spec.resource_keys().clone(),
            abilities: spec.abilities(),
            has_handler: spec.handler().is_some(),
            output_schema: spec.output_schema().cloned(),
            output_form: spec.output_form(),
            source: spec.source().to_owned(),
            definition: spec.definition(),
            audience: spec.audience().clone(),
        }
    }
}
