#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_raw_string_hashes, reason = "tests")]

mod agreement;
mod budget;
mod closing;
mod dialects;
mod instance;
mod numbers;
mod plain;
mod references;
mod violations;

use lockgate_contract::document::{Document, Limits};

use super::{Role, Schema, SchemaRefused, UnknownFields, Violations};

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

fn document(text: &str) -> Document {
    Document::parse(text, Limits::OWN).unwrap()
}

fn admit(text: &str) -> Result<Schema, SchemaRefused> {
    Schema::admit(&document(text), Role::Output, UnknownFields::AsDeclared)
}

fn admitted(text: &str) -> Schema {
    admit(text).unwrap_or_else(|refused| panic!("{refused}: {text}"))
}

/// Read as draft-07, which the schema must not declare itself.
fn draft_7(text: &str) -> String {
    let rest = text.strip_prefix('{').unwrap();
    let comma = if rest == "}" { "" } else { "," };
    format!(r#"{{"$schema":"{DRAFT_7}"{comma}{rest}"#)
}

fn word(text: &str) -> &'static str {
    admit(text).map_or_else(|refused| refused.word(), |_| "admitted")
}

fn check(schema: &Schema, instance: &str) -> Result<(), Violations> {
    schema.validate(&document(instance))
}

#[track_caller]
fn fits(schema: &Schema, instance: &str) {
    if let Err(violations) = check(schema, instance) {
        panic!("{instance} should fit {schema:?}: {violations}");
    }
}

/// Checks that an instance does not fit; the keyword of the first violation.
#[track_caller]
fn breaks(schema: &Schema, instance: &str) -> String {
    match check(schema, instance) {
        Ok(()) => panic!("{instance} should not fit {schema:?}"),
        Err(violations) => violations.iter().next().unwrap().keyword.clone(),
    }
}
