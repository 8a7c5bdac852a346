//! The explicit table from kinds to resolvers, built at start-up.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use lockgate_contract::document::Document;
use lockgate_contract::nearest::nearest;
use lockgate_contract::tool::Handler;
use lockgate_registry::schema::Schema;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::confined::confine;
use super::lookup::Lookup;
use super::record::Record;
use crate::error::{Problem, SourceError};
use crate::mock::{Acting, CountFile, Script, read};

/// Makes handlers for the rows of one kind.
pub trait Resolver: Send + Sync {
    /// Makes the handler, with everything that it needs opened and checked: nothing is left to find out when it is called.
    fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem>;
}

/// What a resolver is told about a row.
pub struct Target<'a> {
    pub(super) tool: &'a str,
    pub(super) data: &'a Document,
    pub(super) input_schema: Option<&'a Document>,
    pub(super) output_schema: Option<&'a Schema>,
    pub(super) folder: &'a Path,
    pub(super) entered_before: &'a dyn Fn(&str) -> u32,
}

impl<'a> Target<'a> {
    /// The tool's name.
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// The row's `target`; `{}` where it has none.
    pub fn data(&self) -> &'a Document {
        self.data
    }

    /// The row's `target` as a typed value. A key that the type's JSON Schema does not have is refused.
    pub fn read<T: JsonSchema + DeserializeOwned>(&self) -> Result<T, Problem> {
        read(self.data, "target")
    }

    /// The JSON Schema of the tool's arguments, where the row has one.
    pub fn input_schema(&self) -> Option<&'a Document> {
        self.input_schema
    }

    /// The JSON Schema of the tool's output, where the row has one.
    pub fn output_schema(&self) -> Option<&'a Schema> {
        self.output_schema
    }

    /// A path of the target, which must lie in the catalog's folder. `key` is the key that holds it.
    pub fn path(&self, key: &'static str, path: &str) -> Result<PathBuf, Problem> {
        confine(self.folder, key, path)
    }

    /// How often this tool's handler was already entered in this run.
    pub fn entered_before(&self) -> u32 {
        (self.entered_before)(self.tool)
    }

    pub(super) fn count_file(&self, path: Option<&str>) -> Result<Option<CountFile>, Problem> {
        path.map(|path| self.path("count_file", path).map(CountFile::new)).transpose()
    }
}

/// The table from kinds to resolvers, and the native handlers by key.
pub struct Resolvers {
    kinds: BTreeMap<String, Box<dyn Resolver>>,
    native: BTreeMap<String, Box<MakeHandler>>,
}

type MakeHandler = dyn Fn() -> Handler + Send + Sync;

/// The kind that looks a handler up by the key under which the program registered it.
const NATIVE: &str = "native";

impl Resolvers {
    /// The kinds that need nothing from the program: `table`, `record`, `mock`; and `native`, without any handler yet.
    pub fn new() -> Self {
        let mut kinds: BTreeMap<String, Box<dyn Resolver>> = BTreeMap::new();
        kinds.insert("table".to_owned(), Box::new(TableKind));
        kinds.insert("record".to_owned(), Box::new(RecordKind));
        kinds.insert("mock".to_owned(), Box::new(MockKind));
        Self { kinds, native: BTreeMap::new() }
    }

    /// With one more kind. A kind that is taken is refused.
    pub fn kind(mut self, name: impl Into<String>, resolver: impl Resolver + 'static) -> Result<Self, SourceError> {
        let name = name.into();
        if name == NATIVE || self.kinds.contains_key(&name) {
            return Err(SourceError::Registered { what: "kind", name });
        }
        self.kinds.insert(name, Box::new(resolver));
        Ok(self)
    }

    /// With one more handler for rows of kind `native`. `make` is asked once for each row that names `key`. A key that is
    /// taken is refused.
    pub fn native(
        mut self,
        key: impl Into<String>,
        make: impl Fn() -> Handler + Send + Sync + 'static,
    ) -> Result<Self, SourceError> {
        let key = key.into();
        if self.native.contains_key(&key) {
            return Err(SourceError::Registered { what: "native handler", name: key });
        }
        self.native.insert(key, Box::new(make));
        Ok(self)
    }

    pub(super) fn resolve(&self, kind: &str, target: &Target<'_>) -> Result<Handler, Problem> {
        match self.kinds.get(kind) {
            Some(resolver) => resolver.resolve(target),
            None if kind == NATIVE => self.resolve_native(target),
            None => {
                let valid: Vec<String> =
                    self.kinds.keys().map(String::as_str).chain([NATIVE]).map(str::to_owned).collect();
                let nearest = nearest(kind, valid.iter().map(String::as_str)).map(str::to_owned);
                Err(Problem::UnknownKind { kind: kind.to_owned(), nearest, valid })
            }
        }
    }

    fn resolve_native(&self, target: &Target<'_>) -> Result<Handler, Problem> {
        let NativeTarget { key } = target.read()?;
        self.native.get(&key).map(|make| make()).ok_or_else(|| Problem::UnknownHandler {
            nearest: nearest(&key, self.native.keys().map(String::as_str)).map(str::to_owned),
            key,
            valid: self.native.keys().cloned().collect(),
        })
    }
}

impl Default for Resolvers {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Resolvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kinds, native) = (self.kinds.keys(), self.native.keys());
        f.debug_struct("Resolvers").field("kinds", &kinds).field("native", &native).finish()
    }
}

/// The target of a row of kind `native`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NativeTarget {
    /// The key under which the program registered the handler.
    key: String,
}

/// Answers from a file of rows.
struct TableKind;

impl Resolver for TableKind {
    fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem> {
        Ok(Lookup::open(target)?.into_handler())
    }
}

/// Writes down what it would have done.
struct RecordKind;

impl Resolver for RecordKind {
    fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem> {
        Ok(Record::open(target)?.into_handler())
    }
}

/// Acts by a script.
struct MockKind;

impl Resolver for MockKind {
    fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem> {
        let Acting { behaviour, count_file } = target.read()?;
        let count_file = target.count_file(count_file.as_deref())?;
        Ok(Script::new(behaviour, count_file, target.entered_before())?.into_handler())
    }
}
