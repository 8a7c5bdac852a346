//! From the validator's errors to violations.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use lockgate_contract::document::{Document, Kind, Node};

use super::budget::Budget;
use super::compile::Compiled;
use super::dialect::excerpt;
use super::exact;
use super::graph::escape;
use super::instance::Place;
use super::violation::{Violation, Violations};

/// Why an instance does not fit; it is known that it does not.
///
/// To collect all errors may take much longer than to find that there is one. So first all are asked for, then only one,
/// each within a budget.
pub(super) fn violations(compiled: &Compiled, instance: &Document) -> Violations {
    let budget = || Budget::for_text(instance.text().len());
    let (first, second) = (budget(), budget());
    let mut found = Vec::new();
    for error in compiled.validator.iter_errors(Place::root(instance, &first)) {
        if found.len() >= Violations::MOST {
            break;
        }
        explain(compiled, &error, &mut found);
    }
    if first.is_spent() || found.is_empty() {
        found.clear();
        if let Err(error) = compiled.validator.validate(Place::root(instance, &second)) {
            explain(compiled, &error, &mut found);
        }
    }
    if second.is_spent() || found.is_empty() {
        return Violations::unexplained(
            "the value does not fit the schema; to say where takes too many steps".to_owned(),
        );
    }
    let declared = found.first().map(|violation| declared(compiled, instance.root(), violation));
    Violations::new(found, declared)
}

fn explain(compiled: &Compiled, error: &ValidationError<'_>, found: &mut Vec<Violation>) {
    let place = error.instance_path().as_str();
    let keyword = match error.kind() {
        ValidationErrorKind::FalseSchema => "false",
        kind => kind.keyword().trim_start_matches(exact::PREFIX),
    };
    let mut schema_pointer = compiled.origins.original(error.schema_path().as_str());
    if let Some(above) = schema_pointer.strip_suffix(error.kind().keyword()).filter(|above| above.ends_with('/')) {
        schema_pointer = format!("{above}{keyword}");
    }
    let mut add = |instance_pointer: String, message: String| {
        found.push(Violation {
            instance_pointer,
            schema_pointer: schema_pointer.clone(),
            keyword: keyword.to_owned(),
            message: excerpt(&message),
        });
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected.iter().take(Violations::MOST) {
                add(format!("{place}/{}", escape(name)), "the property is not declared".to_owned());
            }
        }
        ValidationErrorKind::Custom { keyword, message } if keyword == exact::CLOSED => {
            let names: Vec<String> = serde_json::from_str(message).unwrap_or_default();
            for name in names.iter().take(Violations::MOST) {
                add(format!("{place}/{}", escape(name)), "the property is not declared".to_owned());
            }
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            add(format!("{place}/{}", escape(name)), "the property is required".to_owned());
        }
        ValidationErrorKind::PropertyNames { .. } => {
            add(place.to_owned(), "the name of a property does not fit".to_owned());
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            add(place.to_owned(), format!("the value fits none of {} alternatives", context.len()));
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            add(place.to_owned(), "the value fits more than one of the alternatives".to_owned());
        }
        ValidationErrorKind::Not { .. } => {
            add(place.to_owned(), "the value fits a schema that it must not fit".to_owned());
        }
        ValidationErrorKind::AdditionalItems { .. } | ValidationErrorKind::UnevaluatedItems { .. } => {
            add(place.to_owned(), "the array has more items than the schema describes".to_owned());
        }
        ValidationErrorKind::Contains => {
            add(place.to_owned(), "too few or too many items fit the schema of `contains`".to_owned());
        }
        ValidationErrorKind::FalseSchema => add(place.to_owned(), "no value fits here".to_owned()),
        _ => add(place.to_owned(), error.masked_with("the value").to_string()),
    }
}

/// The part of a violation that holds nothing which is not in the schema.
fn declared(compiled: &Compiled, root: Node<'_>, violation: &Violation) -> (String, String) {
    let mut pointer = String::new();
    let mut node = Some(root);
    for token in violation.instance_pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let here = node.take();
        let is_index = here.is_some_and(|node| node.kind() == Kind::Array);
        if !is_index && !compiled.declared.contains(name.as_str()) {
            break;
        }
        node = here.and_then(|here| here.pointer(&format!("/{token}")));
        pointer.push('/');
        pointer.push_str(token);
    }
    (pointer, violation.keyword.clone())
}
