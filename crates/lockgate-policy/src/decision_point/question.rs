//! What a decision point is asked: facts of the runtime, and the arguments without secrets.

use std::collections::BTreeSet;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{PolicyRequest, Redactor};
use lockgate_contract::run::RunFacts;
use lockgate_contract::time::Timestamp;
use serde::Serialize;

/// The body. Keys are only ever added.
#[derive(Serialize)]
struct Body<'a> {
    input: Input<'a>,
}

#[derive(Serialize)]
struct Input<'a> {
    v: u32,
    subject: Subject<'a>,
    tool: Tool<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Document>,
    /// Whether a secret was taken out of the arguments: then they are not what would run.
    arguments_scrubbed: bool,
    /// Of the arguments as they would run.
    arguments_digest: Digest,
    step: u32,
    run: RunFacts,
    now: Timestamp,
    shadow: bool,
}

#[derive(Serialize)]
struct Subject<'a> {
    tenant: &'a str,
    user: &'a str,
    agent: &'a str,
    scopes: &'a BTreeSet<String>,
    domains: &'a BTreeSet<String>,
    level: Effect,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    version: &'a str,
    effect: Effect,
    definition: Digest,
    permission: Permission,
}

/// The question as it is sent.
///
/// # Errors
///
/// It would hold a secret elsewhere than in the arguments: scrubbed, it would be a question about something else.
pub(super) fn text(
    request: &PolicyRequest<'_>,
    redactor: &dyn Redactor,
    now: Timestamp,
    shadow: bool,
) -> Result<String, String> {
    let scrubbed = redactor.scrub_document(request.arguments.document());
    let (subject, tool) = (request.subject, request.tool);
    let mut body = Body {
        input: Input {
            v: 1,
            subject: Subject {
                tenant: &subject.tenant,
                user: &subject.user,
                agent: &subject.agent,
                scopes: &subject.scopes,
                domains: &subject.domains,
                level: subject.level,
            },
            tool: Tool {
                name: tool.name(),
                version: tool.version(),
                effect: tool.effect(),
                definition: tool.definition(),
                permission: request.permission,
            },
            arguments: None,
            arguments_scrubbed: scrubbed.is_some(),
            arguments_digest: request.arguments_digest,
            step: request.step,
            run: request.run,
            now,
            shadow,
        },
    };
    let written = |body: &Body<'_>| {
        Document::from_serialize(body).map_err(|error| format!("the question cannot be written: {error}"))
    };
    if redactor.scrub_document(&written(&body)?).is_some() {
        return Err("the subject or the tool holds a secret, and a decision point is not told one".to_owned());
    }
    body.input.arguments = Some(scrubbed.as_ref().unwrap_or(request.arguments.document()));
    Ok(written(&body)?.text().to_owned())
}
