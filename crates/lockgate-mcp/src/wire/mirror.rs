//! Arguments that HTTP requests say again in headers (`x-mcp-header`, MCP 2026-07-28 §tools), so that whoever stands between need not
//! read bodies: which they are, as a tool's input schema says it. Clients write them, servers compare them.

use lockgate_contract::document::{Kind, Node};

/// The arguments of one tool that are said in headers too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrors(Vec<Mirror>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// The whole header's name, in lower case.
    pub(crate) header: String,
    /// The keys that lead to the argument.
    path: Vec<String>,
}

/// Why an input schema's annotations cannot be followed: over HTTP clients drop such a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`x-mcp-header` of `{property}`: {what}")]
pub struct InvalidMirror {
    /// Where in the schema, by its keys with dots between.
    pub property: String,
    /// What is wrong.
    pub what: &'static str,
}

/// What the annotation is called.
const ANNOTATION: &str = "x-mcp-header";
/// The header of an argument begins so.
const PREFIX: &str = "mcp-param-";
/// The largest integer that every reader of numbers reads right.
const LARGEST: i128 = (1 << 53) - 1;
/// Bytes of a place in a schema that are repeated.
const LONGEST_PLACE: usize = 128;

impl Mirrors {
    /// What an input schema wants said in headers; nothing where it wants nothing.
    ///
    /// # Errors
    ///
    /// An annotation is not as the protocol asks: no name of a header, one that comes twice, a property that is neither a text, an
    /// integer nor a boolean, or a place that more than `properties` lead to.
    pub fn of(input_schema: Node<'_>) -> Result<Option<Self>, InvalidMirror> {
        // Most schemas have none, and need no walk.
        if !input_schema.raw().contains(ANNOTATION) {
            return Ok(None);
        }
        let mut mirrors = Vec::new();
        collect(input_schema, &mut Vec::new(), true, &mut mirrors)?;
        Ok((!mirrors.is_empty()).then_some(Self(mirrors)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mirror> {
        self.0.iter()
    }
}

impl Mirror {
    /// The argument, where it is there.
    pub(crate) fn argument<'a>(&self, arguments: Node<'a>) -> Option<Node<'a>> {
        let argument = self.path.iter().try_fold(arguments, |object, key| object.get(key))?;
        (!argument.is_null()).then_some(argument)
    }
}

/// A number's value, where it is an integer that every reader of JSON reads alike: `7`, `7.0` and `7e0` are one.
pub(crate) fn integer(number: &lockgate_contract::document::Number<'_>) -> Option<i128> {
    number.as_i128().filter(|value| value.abs() <= LARGEST)
}

/// `is_reachable`: whether only `properties` lead here.
fn collect(
    schema: Node<'_>,
    path: &mut Vec<String>,
    is_reachable: bool,
    mirrors: &mut Vec<Mirror>,
) -> Result<(), InvalidMirror> {
    if let Some(annotation) = schema.get(ANNOTATION).filter(|_| schema.kind() == Kind::Object) {
        let header = header_of(schema, annotation, is_reachable && !path.is_empty(), mirrors);
        let header = header.map_err(|what| {
            let mut property = path.join(".");
            property.truncate(property.floor_char_boundary(LONGEST_PLACE));
            InvalidMirror { property, what }
        })?;
        mirrors.push(Mirror { header, path: path.clone() });
    }
    for (key, inner) in schema.members() {
        if key == "properties" && inner.kind() == Kind::Object {
            for (name, property) in inner.members() {
                path.push(name.into_owned());
                collect(property, path, is_reachable, mirrors)?;
                path.pop();
            }
        } else if !matches!(&*key, "default" | "const" | "enum" | "examples") {
            collect(inner, path, false, mirrors)?;
        }
    }
    for inner in schema.elements() {
        collect(inner, path, false, mirrors)?;
    }
    Ok(())
}

/// The header's name, or what is wrong.
fn header_of(
    schema: Node<'_>,
    annotation: Node<'_>,
    is_reachable: bool,
    others: &[Mirror],
) -> Result<String, &'static str> {
    let name = annotation.as_str().unwrap_or_default();
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("it is no name of a header");
    }
    if !is_reachable {
        return Err("more than `properties` lead there");
    }
    let kind = schema.get("type").and_then(|kind| kind.as_str());
    if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
        return Err("the property is neither a string, an integer nor a boolean");
    }
    let header = format!("{PREFIX}{}", name.to_ascii_lowercase());
    if others.iter().any(|other| other.header == header) {
        return Err("another property has the same");
    }
    Ok(header)
}

/// A character of a header's name (RFC 9110, `tchar`).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
