//! Arguments as conditions that hold for these values and for no others.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Limits, Node};

use super::{NotRemembered, literal};
use crate::cedar::input::{self, Unfit};
use crate::cedar::shape::{Field, Shape, Type};

/// What a rule cannot see is not compared.
const UNDECLARED: &str = "the tool does not declare it";
const ORDER: &str = "it holds a list, and rules do not see the order of one";

/// One condition a value, and one for each argument that is absent. Those that may have any value have none.
pub(super) fn comparisons(shape: &Shape, arguments: Node<'_>, any: &[String]) -> Result<Vec<String>, NotRemembered> {
    let is_any = |name: &str| any.iter().any(|any| any == name);
    if let Some(left_out) = shape.left_out.iter().find(|left_out| {
        let mut path = left_out.path.split('.');
        let top = path.next().unwrap_or_default();
        !is_any(top) && path.try_fold(arguments.get(top), |node, name| Some(node?.get(name))).flatten().is_some()
    }) {
        return Err(unfit(&left_out.path, left_out.why));
    }
    let mut conditions = Vec::new();
    let fields = shape.fields.iter().filter(|field| !is_any(&field.name));
    let undeclared = |name: &str| !is_any(name) && !shape.declared().any(|declared| declared == name);
    if let Some((name, _)) = arguments.members().find(|(name, _)| undeclared(name)) {
        return Err(unfit(&name, UNDECLARED));
    }
    compare("context.input", "", fields, arguments, &mut conditions)?;
    Ok(conditions)
}

fn compare<'f>(
    of: &str,
    path: &str,
    fields: impl Iterator<Item = &'f Field>,
    object: Node<'_>,
    conditions: &mut Vec<String>,
) -> Result<(), NotRemembered> {
    for field in fields {
        let name = literal(&field.name);
        let at = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        let node = object.get(&field.name).filter(|node| field.required || !node.is_null());
        let Some(node) = node else {
            if field.required {
                return Err(unfit(&at, input::OF_ANOTHER_TYPE));
            }
            conditions.push(format!("!({of} has {name})"));
            continue;
        };
        if !field.required {
            conditions.push(format!("{of} has {name}"));
        }
        let value = format!("{of}[{name}]");
        // The same check that a call's arguments pass on their way to the rules.
        input::value(&field.kind, node).map_err(|Unfit { why, .. }| unfit(&at, why))?;
        let written = match &field.kind {
            Type::Bool => node.as_bool().map(|value| value.to_string()),
            Type::Long => node.as_number().and_then(|number| number.as_i64()).map(|number| number.to_string()),
            Type::Decimal => node.as_number().and_then(input::decimal).map(|text| format!("decimal(\"{text}\")")),
            Type::String => node.as_str().map(|text| literal(&text)),
            Type::Set(_) => return Err(unfit(&at, ORDER)),
            Type::Record(inner) => {
                if let Some((other, _)) =
                    node.members().find(|(other, _)| !inner.iter().any(|field| field.name == *other))
                {
                    return Err(unfit(&format!("{at}.{other}"), UNDECLARED));
                }
                compare(&value, &at, inner.iter(), node, conditions)?;
                continue;
            }
        };
        let written = written.ok_or_else(|| unfit(&at, input::OF_ANOTHER_TYPE))?;
        conditions.push(format!("{value} == {written}"));
    }
    Ok(())
}

fn unfit(path: &str, why: &'static str) -> NotRemembered {
    NotRemembered::Argument { path: path.to_owned(), why }
}

/// Arguments that differ from these in one place each.
pub(super) fn others(shape: &Shape, arguments: Node<'_>, any: &[String]) -> Vec<Arguments> {
    let fields = shape.fields.iter().filter(|field| !any.contains(&field.name));
    let texts = changed(fields, arguments);
    texts.iter().filter_map(|text| Arguments::parse(text, Limits::ARGUMENTS).ok()).collect()
}

/// The object with one of these fields changed, or added where it is absent.
fn changed<'f>(fields: impl Iterator<Item = &'f Field>, object: Node<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    for field in fields {
        for value in other_values(&field.kind, object.get(&field.name)) {
            let kept = object.members().filter(|(name, _)| *name != field.name);
            let mut members: Vec<String> =
                kept.map(|(name, node)| format!("{}:{}", text(&name), node.to_document().text())).collect();
            members.push(format!("{}:{value}", text(&field.name)));
            texts.push(format!("{{{}}}", members.join(",")));
        }
    }
    texts
}

fn other_values(kind: &Type, node: Option<Node<'_>>) -> Vec<String> {
    match kind {
        Type::Bool => {
            let value = node.and_then(|node| node.as_bool()).unwrap_or(false);
            vec![(!value).to_string()]
        }
        Type::Long => {
            let value = node.and_then(|node| node.as_number()?.as_i64()).unwrap_or(0);
            [value.checked_add(1), value.checked_sub(1)]
                .into_iter()
                .flatten()
                .map(|number| number.to_string())
                .collect()
        }
        Type::Decimal => {
            let is_one = node.and_then(|node| node.as_number()?.as_i64()) == Some(1);
            vec![if is_one { "2" } else { "1" }.to_owned()]
        }
        Type::String => {
            let value = node.and_then(|node| node.as_str()).unwrap_or_default();
            vec![text(&format!("{value}x")), text(&format!("x{value}"))]
        }
        Type::Record(fields) => node.map_or_else(Vec::new, |node| changed(fields.iter(), node)),
        Type::Set(_) => Vec::new(),
    }
}

/// A text as JSON.
fn text(value: &str) -> String {
    // Texts can always be written as JSON.
    Document::from_serialize(&value).map_or_else(|_| "\"\"".to_owned(), |document| document.text().to_owned())
}
