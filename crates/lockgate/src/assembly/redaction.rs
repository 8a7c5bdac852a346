//! What must never leave, and the redactor that knows it.

use std::collections::BTreeSet;
use std::path::Path;

use lockgate_config::RunFile;
use lockgate_contract::ports::Redactor;
use lockgate_contract::tool::ToolSpec;
use lockgate_journal::SigningKey;
use lockgate_redact::{LearnedSecrets, MINIMUM_LENGTH, Scrubber, ScrubberBuilder, SecretValue, is_secret_name};

use super::error::AssemblyError;
use super::servers;

/// The redactor, with the values that must never leave.
pub(super) fn scrubber(
    file: &RunFile,
    folder: &Path,
    sign_key: Option<&SigningKey>,
    learned: Option<&LearnedSecrets>,
    warnings: &mut Vec<String>,
) -> Result<Scrubber, AssemblyError> {
    let mut builder = ScrubberBuilder::new();
    if let Some(key) = sign_key {
        // Also where only the digits are shown.
        let text = key.to_text();
        let digits = text.rsplit(':').next().unwrap_or_default();
        builder.secret("journal.sign_key", SecretValue::new(digits))?;
    }
    for name in &file.redaction.rules {
        let path = folder.join(name);
        let text = lockgate_host::files::read_to_string(&path)
            .map_err(|cause| AssemblyError::RedactionRules { path: path.clone(), cause })?;
        builder.rules(name, &text)?;
    }
    for digest in &file.redaction.allow {
        builder.allow_digest(digest)?;
    }
    for (key, variable) in secrets(file) {
        match std::env::var(variable) {
            Ok(value) if !value.is_empty() => {
                builder
                    .secret(variable, SecretValue::new(value))
                    .map_err(|cause| AssemblyError::Secret { variable: variable.to_owned(), cause })?;
            }
            _ => warnings.push(format!("`{key}` names `{variable}`, which is not set")),
        }
    }
    let known: BTreeSet<&str> = secrets(file).into_iter().map(|(_, variable)| variable).collect();
    for (key, variable) in servers::handed_on(file).into_iter().filter(|(_, variable)| !known.contains(variable)) {
        // What is not set is not handed on, or is missed where it is looked up.
        let Ok(value) = std::env::var(variable) else { continue };
        // Where something is, is no secret, and stands in many texts.
        if value.starts_with('/') && !is_secret_name(variable) {
            continue;
        }
        if value.trim().chars().count() >= MINIMUM_LENGTH {
            let added = builder.secret(variable, SecretValue::new(value));
            added.map_err(|cause| AssemblyError::Secret { variable: variable.to_owned(), cause })?;
        } else if is_secret_name(variable) && !value.is_empty() {
            warnings.push(format!("`{key}` names `{variable}`, which is too short to be kept out of texts"));
        }
    }
    if let Some(learned) = learned {
        builder.learned(learned);
    }
    Ok(builder.build()?)
}

/// The variables whose values must never leave, each with the key that names it.
fn secrets(file: &RunFile) -> Vec<(&'static str, &str)> {
    let of_tools = file.tools.secrets_from_env.iter().map(|variable| ("tools.secrets_from_env", variable.as_str()));
    let of_webhooks = file.notify.iter().filter_map(|table| Some(("notify.secret_env", table.secret_env.as_deref()?)));
    let of_policy = file.policy.token_env.iter().map(|variable| ("policy.token_env", variable.as_str()));
    of_tools.chain(of_webhooks).chain(of_policy).chain(servers::secrets(file)).collect()
}

/// What a model is shown of a tool holds no secret: a description is no place to keep one.
pub(super) fn check_shown(spec: &ToolSpec, redactor: &dyn Redactor) -> Result<(), AssemblyError> {
    let shown = [spec.name(), spec.description()];
    let held = shown.iter().any(|text| redactor.scrub(text) != *text)
        || [Some(spec.input_schema()), spec.output_schema(), spec.shown_beside()]
            .into_iter()
            .flatten()
            .any(|document| redactor.scrub_document(document).is_some());
    if held {
        let tool = redactor.scrub(spec.name()).into_owned();
        return Err(AssemblyError::SecretShown { tool, source_of_tool: spec.source().to_owned() });
    }
    Ok(())
}
