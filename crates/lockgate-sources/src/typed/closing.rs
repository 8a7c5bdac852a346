//! Makes a schema refuse what it does not list, without making it unsatisfiable.
//!
//! `additionalProperties: false` sees only the `properties` beside it. Where one object is described by several schemas at
//! once (a flattened struct, the tag of an internally tagged enum beside a `$ref` to its content), each part would refuse
//! the members of the others. So a schema stands in one of two positions:
//!
//! ```text
//! closed   it alone describes the value      { properties }             + additionalProperties: false
//!                                            { $ref } { oneOf }         each branch is closed by itself
//!                                            { properties, $ref }       its parts are open,
//!                                                                       + unevaluatedProperties: false
//! open     one part of a description         nothing is added, and a `false` is taken out: the whole is closed
//! ```
//!
//! A definition that is referred to from an open position gets an open copy in `$defs`; definitions that nothing refers to
//! any more are left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The keywords whose schemas describe the same value as the schema that they stand in, except `not` and `if`, which assert
/// nothing.
pub(super) const IN_PLACE: &[&str] = &["$ref", "allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"];

const DEFINITIONS: &str = "$defs";
const ADDITIONAL: &str = "additionalProperties";
const UNEVALUATED: &str = "unevaluatedProperties";

/// Closes a root schema with its definitions.
pub(super) fn close(mut root: Map<String, Value>) -> Map<String, Value> {
    let definitions = match root.shift_remove(DEFINITIONS) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let mut closing = Closing {
        as_given: Definitions { root: Value::Object(root.clone()), by_name: definitions.clone() },
        open_copies: BTreeMap::new(),
        finished: definitions,
    };
    closing.close_object(&mut root);
    let names: Vec<String> = closing.as_given.by_name.keys().cloned().collect();
    for name in names {
        if let Some(mut definition) = closing.as_given.by_name.get(&name).cloned() {
            closing.close(&mut definition);
            closing.finished.insert(name, definition);
        }
    }
    let definitions = referred_to(&root, closing.finished);
    if !definitions.is_empty() {
        root.insert(DEFINITIONS.to_owned(), Value::Object(definitions));
    }
    root
}

/// The schemas that a reference can lead to, before anything was closed.
struct Definitions {
    root: Value,
    by_name: Map<String, Value>,
}

impl Definitions {
    /// What a `$ref` leads to: `#`, or an entry of `$defs`. Nothing for any other reference.
    fn resolve(&self, reference: &str) -> Option<&Value> {
        if reference == "#" { Some(&self.root) } else { self.by_name.get(&definition_name(reference)?) }
    }

    /// Whether a schema, or one that stands in its place, lists members of an object.
    fn lists_members(&self, schema: &Value, seen: &mut BTreeSet<String>) -> bool {
        let Value::Object(object) = schema else { return false };
        let referred = object.get("$ref").and_then(Value::as_str).is_some_and(|reference| {
            seen.insert(reference.to_owned())
                && self.resolve(reference).is_some_and(|target| self.lists_members(target, seen))
        });
        referred || lists_own_members(object) || parts(object).into_iter().any(|part| self.lists_members(part, seen))
    }
}

struct Closing {
    as_given: Definitions,
    /// From a reference to the name of the open copy of what it leads to.
    open_copies: BTreeMap<String, String>,
    finished: Map<String, Value>,
}

impl Closing {
    /// Closes a schema that alone describes its value.
    fn close(&mut self, schema: &mut Value) {
        if let Value::Object(object) = schema {
            self.close_object(object);
        }
    }

    fn close_object(&mut self, object: &mut Map<String, Value>) {
        self.close_inner_values(object);
        let in_place = IN_PLACE.iter().filter(|keyword| object.contains_key(**keyword)).count();
        let branches_only = in_place == 1
            && !lists_own_members(object)
            && ["$ref", "anyOf", "oneOf"].iter().any(|keyword| object.contains_key(*keyword));
        if branches_only {
            for branch in parts_mut(object) {
                self.close(branch);
            }
        } else if in_place > 0 {
            let whole = Value::Object(object.clone());
            let lists_members = self.as_given.lists_members(&whole, &mut BTreeSet::new());
            self.open_parts(object);
            if lists_members {
                close_with(object, UNEVALUATED);
            }
        } else if object.contains_key("properties") {
            close_with(object, ADDITIONAL);
        }
    }

    /// Opens a schema that is one part of a description.
    fn open(&mut self, schema: &mut Value) {
        let Value::Object(object) = schema else { return };
        self.close_inner_values(object);
        for keyword in [ADDITIONAL, UNEVALUATED] {
            if object.get(keyword) == Some(&Value::Bool(false)) {
                object.shift_remove(keyword);
            }
        }
        self.open_parts(object);
    }

    fn open_parts(&mut self, object: &mut Map<String, Value>) {
        let reference = object.get("$ref").and_then(Value::as_str).map(str::to_owned);
        if let Some(open) = reference.and_then(|reference| self.open_copy(&reference)) {
            object.insert("$ref".to_owned(), open.into());
        }
        for part in parts_mut(object) {
            self.open(part);
        }
    }

    /// The reference to the open copy of what `reference` leads to; nothing where the original does as well.
    fn open_copy(&mut self, reference: &str) -> Option<String> {
        if let Some(name) = self.open_copies.get(reference) {
            return Some(format!("#/{DEFINITIONS}/{name}"));
        }
        let mut copy = self.as_given.resolve(reference)?.clone();
        if !self.as_given.lists_members(&copy, &mut BTreeSet::new()) {
            return None;
        }
        let name = self.free_name(reference);
        // Known before it is opened, so that a recursive type finds itself.
        self.open_copies.insert(reference.to_owned(), name.clone());
        self.finished.insert(name.clone(), Value::Bool(true));
        self.open(&mut copy);
        self.finished.insert(name.clone(), copy);
        Some(format!("#/{DEFINITIONS}/{name}"))
    }

    /// A name for an open copy that nothing else has and that needs no escapes in a reference.
    fn free_name(&self, reference: &str) -> String {
        let original = definition_name(reference).unwrap_or_else(|| "root".to_owned());
        let plain: String =
            original.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
        let mut name = format!("{plain}_open");
        while self.finished.contains_key(&name) {
            name.push('_');
        }
        name
    }

    /// Closes the schemas of the values inside: each of them alone describes its value.
    fn close_inner_values(&mut self, object: &mut Map<String, Value>) {
        for (keyword, value) in object.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties" | "patternProperties", Value::Object(schemas)) => {
                    for schema in schemas.values_mut() {
                        self.close(schema);
                    }
                }
                ("prefixItems" | "items", Value::Array(schemas)) => {
                    for schema in schemas {
                        self.close(schema);
                    }
                }
                ("items" | "unevaluatedItems" | "contains" | ADDITIONAL | UNEVALUATED, schema) => self.close(schema),
                _ => {}
            }
        }
    }
}

fn close_with(object: &mut Map<String, Value>, keyword: &str) {
    if !object.contains_key(ADDITIONAL) && !object.contains_key(UNEVALUATED) {
        object.insert(keyword.to_owned(), false.into());
    }
}

fn lists_own_members(object: &Map<String, Value>) -> bool {
    ["properties", "patternProperties"].iter().any(|keyword| object.contains_key(*keyword))
}

/// The schemas written inside this one that describe the same value.
fn parts(object: &Map<String, Value>) -> Vec<&Value> {
    let mut parts = Vec::new();
    for keyword in IN_PLACE {
        match (*keyword, object.get(*keyword)) {
            ("dependentSchemas", Some(Value::Object(schemas))) => parts.extend(schemas.values()),
            (_, Some(Value::Array(schemas))) => parts.extend(schemas),
            (_, Some(schema @ Value::Object(_))) => parts.push(schema),
            _ => {}
        }
    }
    parts
}

fn parts_mut(object: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut parts = Vec::new();
    for (keyword, value) in object.iter_mut().filter(|(keyword, _)| IN_PLACE.contains(&keyword.as_str())) {
        match (keyword.as_str(), value) {
            ("dependentSchemas", Value::Object(schemas)) => parts.extend(schemas.values_mut()),
            (_, Value::Array(schemas)) => parts.extend(schemas),
            (_, schema @ Value::Object(_)) => parts.push(schema),
            _ => {}
        }
    }
    parts
}

/// The definitions that `root` leads to, directly or through others.
fn referred_to(root: &Map<String, Value>, mut definitions: Map<String, Value>) -> Map<String, Value> {
    let mut reached = BTreeSet::new();
    let mut unread: Vec<&Value> = root.values().collect();
    let mut references: Vec<&str> = root.get("$ref").and_then(Value::as_str).into_iter().collect();
    loop {
        while let Some(value) = unread.pop() {
            match value {
                Value::Array(elements) => unread.extend(elements),
                Value::Object(object) => {
                    references.extend(object.get("$ref").and_then(Value::as_str));
                    unread.extend(object.values());
                }
                _ => {}
            }
        }
        let Some(reference) = references.pop() else { break };
        if let Some(name) = definition_name(reference)
            && let Some(definition) = definitions.get(&name)
            && reached.insert(name)
        {
            unread.push(definition);
        }
    }
    definitions.retain(|name, _| reached.contains(name));
    definitions
}

/// The name of an entry of `$defs` in a reference: percent-decoded, then read as part of a JSON pointer (RFC 6901).
fn definition_name(reference: &str) -> Option<String> {
    let escaped = reference.strip_prefix("#/$defs/")?;
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let decoded = match rest {
            [b'%', high, low, ..] => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        if let Some(byte) = decoded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            bytes.push(byte);
            rest = rest.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}
