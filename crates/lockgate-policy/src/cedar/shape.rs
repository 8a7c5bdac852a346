//! What rules may look at of a tool's arguments: the part of its input schema that Cedar has types for.
//!
//! Only declared properties, so that nothing that a model adds can matter. What has no Cedar type is left out by name; a rule
//! that reads it does not load.

use lockgate_contract::document::{Document, Kind, Node};

/// How often a schema may refer to another before it is taken for one that contains itself.
const DEEPEST: usize = 16;

/// The typed arguments of one tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) fields: Vec<Field>,
    pub(super) left_out: Vec<LeftOut>,
    /// Paths of objects that may have more members than they declare; the empty one is that of the arguments.
    open: Vec<String>,
    /// Paths of properties that may be `null`, which rules do not tell from absent ones.
    nullable: Vec<String>,
}

/// A declared property.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Type,
    /// Always there, and never `null`.
    pub(super) required: bool,
}

/// A Cedar type that a JSON value may have.
#[derive(Debug, Clone)]
pub(super) enum Type {
    Bool,
    /// An integer of 64 bits.
    Long,
    /// Four places after the point, exact.
    Decimal,
    String,
    Set(Box<Self>),
    Record(Vec<Field>),
}

/// A declared property that rules cannot read.
#[derive(Debug, Clone)]
pub(super) struct LeftOut {
    pub(super) path: String,
    pub(super) why: &'static str,
}

impl Field {
    /// One that is always there.
    pub(super) fn always(name: &str, kind: Type) -> Self {
        Self { name: name.to_owned(), kind, required: true }
    }
}

impl Shape {
    /// The shape of what this JSON Schema admits.
    pub(super) fn of(schema: &Document) -> Self {
        let mut reader = Reader { root: schema.root(), left_out: Vec::new(), open: Vec::new(), nullable: Vec::new() };
        let fields = match reader.resolve(schema.root(), &mut 0) {
            Ok(object) => reader.fields(object, "", 0),
            Err(_) => Vec::new(),
        };
        Self { fields, left_out: reader.left_out, open: reader.open, nullable: reader.nullable }
    }

    /// The names of the declared arguments, also of those that rules cannot read.
    pub(super) fn declared(&self) -> impl Iterator<Item = &str> {
        let left_out = self.left_out.iter().map(|left_out| left_out.path.as_str());
        self.fields.iter().map(|field| field.name.as_str()).chain(left_out.filter(|path| !path.contains('.')))
    }

    /// Whether rules see everything of the arguments but for these: where they do not, which and why not.
    pub(super) fn exact_but_for(&self, any: &[String]) -> Result<(), (String, &'static str)> {
        let is_any = |path: &str| any.iter().any(|name| path == name || path.starts_with(&format!("{name}.")));
        let found = |paths: &[String], why| paths.iter().find(|path| !is_any(path)).map(|path| (path.clone(), why));
        let left_out = self.left_out.iter().find(|left_out| !is_any(&left_out.path));
        let unseen = left_out.map(|left_out| (left_out.path.clone(), left_out.why));
        let more = || found(&self.open, "it may have members that the tool does not declare, which rules do not see");
        let none = || found(&self.nullable, "it may be `null`, which rules do not tell from its absence");
        unseen.or_else(more).or_else(none).map_or(Ok(()), Err)
    }
}

struct Reader<'a> {
    root: Node<'a>,
    left_out: Vec<LeftOut>,
    open: Vec<String>,
    nullable: Vec<String>,
}

impl<'a> Reader<'a> {
    fn fields(&mut self, object: Node<'a>, path: &str, depth: usize) -> Vec<Field> {
        let required: Vec<_> =
            object.get("required").iter().flat_map(Node::elements).filter_map(|name| name.as_str()).collect();
        let properties = object.get("properties");
        let no_others = object.get("additionalProperties").is_some_and(|node| node.as_bool() == Some(false));
        if !no_others || object.get("patternProperties").is_some() {
            self.open.push(path.to_owned());
        }
        let mut fields = Vec::new();
        for (name, schema) in properties.iter().flat_map(Node::members) {
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            match self.kind(schema, &path, depth) {
                Ok((kind, nullable)) => {
                    let required = required.contains(&name) && !nullable;
                    if nullable {
                        self.nullable.push(path);
                    }
                    fields.push(Field { name: name.into_owned(), kind, required });
                }
                Err(why) => self.left_out.push(LeftOut { path, why }),
            }
        }
        fields
    }

    /// The type, and whether `null` stands for none.
    fn kind(&mut self, schema: Node<'a>, path: &str, mut depth: usize) -> Result<(Type, bool), &'static str> {
        let schema = self.resolve(schema, &mut depth)?;
        if let Some(branches) = schema.get("anyOf").or_else(|| schema.get("oneOf"))
            && schema.get("type").is_none()
        {
            return self.one_of(branches, path, depth);
        }
        let (word, nullable) = type_word(schema)?;
        let kind = match &*word {
            "boolean" => Type::Bool,
            "integer" => Type::Long,
            "number" => Type::Decimal,
            "string" => Type::String,
            "array" => self.set(schema, path, depth)?,
            "object" => {
                let before = self.left_out.len();
                let fields = self.fields(schema, path, depth + 1);
                if fields.is_empty() {
                    self.left_out.truncate(before);
                    return Err("its members are not declared");
                }
                Type::Record(fields)
            }
            _ => return Err("it is never anything but `null`"),
        };
        Ok((kind, nullable))
    }

    /// `T` or `null`, as many libraries write what may be absent.
    fn one_of(&mut self, branches: Node<'a>, path: &str, depth: usize) -> Result<(Type, bool), &'static str> {
        let is_null =
            |branch: &Node<'_>| branch.get("type").and_then(|word| word.as_str()).is_some_and(|word| word == "null");
        let (nulls, others): (Vec<_>, Vec<_>) = branches.elements().partition(is_null);
        let [only] = others.as_slice() else {
            return Err("it may be of several types");
        };
        let (kind, nullable) = self.kind(*only, path, depth + 1)?;
        Ok((kind, nullable || !nulls.is_empty()))
    }

    fn set(&mut self, schema: Node<'a>, path: &str, depth: usize) -> Result<Type, &'static str> {
        if schema.get("prefixItems").is_some() {
            return Err("its elements differ by place");
        }
        let Some(items) = schema.get("items").filter(|items| items.kind() == Kind::Object) else {
            return Err("its elements may be anything");
        };
        let before = self.left_out.len();
        match self.kind(items, path, depth + 1) {
            // Of an element nothing may be missing: two that differ there only would be one.
            Ok((kind, false)) if self.left_out.len() == before => Ok(Type::Set(Box::new(kind))),
            Ok(_) => {
                self.left_out.truncate(before);
                Err("its elements have parts that rules cannot read")
            }
            Err(why) => Err(why),
        }
    }

    /// The schema itself, behind references inside the document.
    fn resolve(&self, mut schema: Node<'a>, depth: &mut usize) -> Result<Node<'a>, &'static str> {
        loop {
            if schema.kind() != Kind::Object {
                return Err("it may be anything");
            }
            if *depth > DEEPEST {
                return Err("it is nested too deeply, or in itself");
            }
            let Some(reference) = schema.get("$ref").and_then(|reference| reference.as_str()) else {
                return Ok(schema);
            };
            *depth += 1;
            schema = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer))
                .ok_or("its `$ref` is not a plain pointer into the schema")?;
        }
    }
}

/// The one type besides `null`, declared or told by the values that are allowed.
fn type_word(schema: Node<'_>) -> Result<(String, bool), &'static str> {
    let mut words: Vec<String> = match schema.get("type") {
        Some(word) if word.kind() == Kind::Array => {
            word.elements().filter_map(|word| word.as_str()).map(std::borrow::Cow::into_owned).collect()
        }
        Some(word) => word.as_str().into_iter().map(std::borrow::Cow::into_owned).collect(),
        None => {
            let values = schema.get("enum").map(|values| values.elements().collect::<Vec<_>>());
            let values = values.or_else(|| schema.get("const").map(|value| vec![value])).unwrap_or_default();
            values.iter().map(|value| word_of(*value).to_owned()).collect()
        }
    };
    words.sort_unstable();
    words.dedup();
    let before = words.len();
    words.retain(|word| word != "null");
    let nullable = words.len() < before;
    if words.iter().any(|word| word == "number") {
        words.retain(|word| word != "integer");
    }
    match words.as_slice() {
        [word] => Ok((word.clone(), nullable)),
        [] if nullable => Err("it is never anything but `null`"),
        [] => Err("it may be anything"),
        _ => Err("it may be of several types"),
    }
}

fn word_of(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number if value.as_number().is_some_and(|number| number.is_integer()) => "integer",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

#[cfg(test)]
mod tests;
