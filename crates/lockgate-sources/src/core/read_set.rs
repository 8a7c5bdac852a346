//! The read set as tools: what a read-only session installs, and all that it installs.

use std::error::Error as _;
use std::sync::Arc;

use lockgate_contract::effect::Effect;
use lockgate_contract::ids::ArtifactId;
use lockgate_contract::ports::ArtifactError;
use lockgate_contract::tool::{
    Failure, Handler, InvalidSpec, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{
    ArtifactPage, FileText, Glob, GlobPaths, Grep, GrepMatches, ListDir, Listing, ReadArtifact, ReadFailure, ReadFile,
    Root, artifact, descriptions, glob, grep, list_dir, read_file,
};
use crate::typed::{input_schema_of, output_schema_of};

/// Where the tools of this set come from.
const SOURCE: &str = "core:read";

/// `read_file`, `list_dir`, `glob` and `grep` over a root, and `read_artifact` over the run's stored outputs.
pub fn read_tools(root: &Arc<Root>) -> Result<Vec<ToolSpec>, InvalidSpec> {
    use descriptions as text;
    Ok(vec![
        over_root::<ReadFile, FileText>(root, text::READ_FILE_NAME, text::READ_FILE, read_file)?,
        over_root::<ListDir, Listing>(root, text::LIST_DIR_NAME, text::LIST_DIR, list_dir)?,
        over_root::<Glob, GlobPaths>(root, text::GLOB_NAME, text::GLOB, glob)?,
        over_root::<Grep, GrepMatches>(root, text::GREP_NAME, text::GREP, grep)?,
        tool::<ReadArtifact, ArtifactPage>(
            text::READ_ARTIFACT_NAME,
            text::READ_ARTIFACT,
            Handler::typed_with_context(read_stored),
        )?,
    ])
}

/// A tool whose function blocks its thread on the file system.
fn over_root<A, O>(
    root: &Arc<Root>,
    name: &str,
    description: &str,
    function: fn(&Root, A) -> Result<O, ReadFailure>,
) -> Result<ToolSpec, InvalidSpec>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    let root = Arc::clone(root);
    let handler = Handler::typed(move |arguments: A| {
        let root = Arc::clone(&root);
        async move { function(&root, arguments).map_err(|error| failure(&error)) }
    });
    tool::<A, O>(name, description, handler.blocking())
}

fn tool<A: JsonSchema, O: JsonSchema>(
    name: &str,
    description: &str,
    handler: Handler,
) -> Result<ToolSpec, InvalidSpec> {
    ToolSpec::builder(name)
        .description(description)
        .effect(Effect::Read)
        .source(SOURCE)
        .input_schema(input_schema_of::<A>())
        .output_schema(output_schema_of::<O>())
        .handler(handler)
        .build()
}

/// Reads a page of one of the run's own artifacts.
async fn read_stored(arguments: ReadArtifact, context: ToolContext) -> Result<ArtifactPage, Failure> {
    let Some(artifacts) = context.artifacts() else {
        return Err(failure(&ReadFailure::artifact_not_found(&arguments.artifact)));
    };
    match artifacts.read(&ArtifactId::new(arguments.artifact.as_str())).await {
        Ok(full_text) => artifact::page(&full_text, arguments).map_err(|error| failure(&error)),
        Err(ArtifactError::NotFound(_)) => Err(failure(&ReadFailure::artifact_not_found(&arguments.artifact))),
        Err(error @ ArtifactError::Unavailable(_)) => {
            Err(ToolEnvironmentError::new(error.to_string()).nothing_happened().into())
        }
    }
}

/// A failure's cause is for people: it goes to the audit, behind the sentence.
fn failure(failure: &ReadFailure) -> Failure {
    if failure.is_environment() {
        let cause = failure.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        return ToolEnvironmentError::new(format!("{failure}{cause}")).nothing_happened().into();
    }
    ToolExecutionError::new(failure.code(), failure.to_string()).into()
}

#[cfg(test)]
mod tests;
