//! The tools as rules see them, and the schema that is generated from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockgate_contract::digest::Digest;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::Count;
use lockgate_contract::tool::ToolSpec;

use super::adapter::{Schema, Uid, Value};
use super::error::{Defect, RulesRefused};
use super::shape::{Field, Shape, Type};

/// The file that generated text is named as, in errors.
const SCHEMA: &str = "the generated schema";

/// Every tool that rules can be about, and the schema that they are checked against.
#[derive(Debug)]
pub(super) struct Tools {
    by_name: BTreeMap<String, ToolFacts>,
    /// The numbers that rules can look at, by name.
    pub(super) counts: BTreeMap<String, Count>,
    pub(super) schema: Schema,
    pub(super) schema_text: String,
}

/// What rules may know of one tool.
#[derive(Debug)]
pub(super) struct ToolFacts {
    pub(super) name: String,
    pub(super) definition: Digest,
    pub(super) effect: Effect,
    pub(super) permission: Permission,
    /// It may prove calls harmless that a person would be asked about.
    #[cfg(feature = "prove")]
    pub(super) may_relax: bool,
    pub(super) shape: Shape,
    pub(super) action: Uid,
    pub(super) group: Uid,
    pub(super) resource: Uid,
    version: String,
    attributes: Vec<(String, Value)>,
}

impl Tools {
    pub(super) fn new<'t>(
        specs: impl IntoIterator<Item = &'t ToolSpec>,
        counts: impl IntoIterator<Item = Count>,
    ) -> Result<Self, RulesRefused> {
        let facts = specs.into_iter().map(|spec| Ok((spec.name().to_owned(), ToolFacts::of(spec)?)));
        let by_name: BTreeMap<_, _> = facts
            .collect::<Result<_, String>>()
            .map_err(|error| RulesRefused::new(vec![Defect::new(SCHEMA, None, error)]))?;
        let mut resources = BTreeMap::new();
        for tool in by_name.values() {
            if let Some(other) = resources.insert(tool.resource.to_string(), &tool.name) {
                let text = format!("the tools `{other}` and `{}` are one resource: {}", tool.name, tool.resource);
                return Err(RulesRefused::new(vec![Defect::new(SCHEMA, None, text).hint("rename one of them")]));
            }
        }
        let mut named = BTreeMap::new();
        for count in counts {
            if let Some(other) = named.insert(count.name.clone(), count) {
                let text = format!("two counts have the name `{}`", other.name.escape_debug());
                return Err(RulesRefused::new(vec![Defect::new(SCHEMA, None, text).hint("rename one of them")]));
            }
        }
        let schema_text = schema_text(&by_name, &named);
        let schema = Schema::parse(&schema_text)
            .map_err(|fault| RulesRefused::new(vec![Defect::new(SCHEMA, fault.line, fault.text)]))?;
        Ok(Self { by_name, counts: named, schema, schema_text })
    }

    pub(super) fn get(&self, name: &str) -> Option<&ToolFacts> {
        self.by_name.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ToolFacts> {
        self.by_name.values()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl ToolFacts {
    fn of(spec: &ToolSpec) -> Result<Self, String> {
        let words =
            |words: &mut dyn Iterator<Item = &String>| Value::set(words.map(|word| Value::string(word)).collect());
        let mut attributes = vec![
            ("name".to_owned(), Value::string(spec.name())),
            ("version".to_owned(), Value::string(spec.version())),
            ("definition".to_owned(), Value::string(&spec.definition().to_string())),
            ("source".to_owned(), Value::string(spec.source())),
            ("effect".to_owned(), Value::string(spec.effect().word())),
            ("permission".to_owned(), Value::string(spec.permission().word())),
            ("replay".to_owned(), Value::string(spec.replay().word())),
            ("deferral".to_owned(), Value::string(spec.deferral().word())),
            ("completes_run".to_owned(), Value::bool(spec.completes_run())),
            ("scopes".to_owned(), words(&mut spec.scopes().iter())),
        ];
        if let Some(domain) = &spec.audience().domain {
            attributes.push(("domain".to_owned(), Value::string(domain)));
        }
        Ok(Self {
            name: spec.name().to_owned(),
            definition: spec.definition(),
            effect: spec.effect(),
            permission: spec.permission(),
            #[cfg(feature = "prove")]
            may_relax: spec.harmless_when().is_some(),
            shape: Shape::of(spec.input_schema()),
            action: Uid::action(spec.name())?,
            group: Uid::effect(spec.effect())?,
            resource: Uid::tool(spec.name(), spec.version())?,
            version: spec.version().to_owned(),
            attributes,
        })
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = (String, Value)> {
        self.attributes.iter().cloned()
    }
}

/// What stands in front of the tools.
const HEAD: &str = "\
// What rules may look at. Generated from the registered tools.

// What a subject may reach: each of its scopes is a role.
entity Role;

// The run, as the agent that acts: for whom, and within what.
entity Agent in [Role] {
  tenant: String,
  user: String,
  level: String,
  scopes: Set<String>,
  domains: Set<String>,
};

// A tool at one version: `name@version`.
entity Tool {
  name: String,
  version: String,
  definition: String,
  source: String,
  effect: String,
  permission: String,
  replay: String,
  deferral: String,
  completes_run: Bool,
  scopes: Set<String>,
  domain?: String,
};

// A valid yes to this very call, supposed while it is found out whether to ask. Who says it is for `@approvers`.
type Approval = {
  arguments_digest: String,
  expires_at: datetime,
  uses_left: Long,
};

// What the run did before this call, and what its budget has left, where something bounds it.
type Run = {
  calls: Long,
  actions: Long,
  questions: Long,
  steps_left?: Long,
  actions_left?: Long,
  questions_left?: Long,
};

// Calls that were admitted, as `quota` counts them.
type Counts = {COUNTS};

// Calls of tools by what they may do to the world.
namespace Effect {
  action \"read\", \"write\", \"external\";
}

// Calls of each tool.
namespace Tool {
";

fn schema_text(tools: &BTreeMap<String, ToolFacts>, counts: &BTreeMap<String, Count>) -> String {
    let counts: Vec<Field> = counts.keys().map(|name| Field::always(name, Type::Long)).collect();
    let mut listed = String::new();
    record(&mut listed, &counts, 0);
    let mut text = HEAD.replacen("{COUNTS}", &listed, 1);
    for tool in tools.values() {
        // A `String` takes whatever is written to it.
        let _ = write!(text, "\n// {} {}\n", tool.name.escape_debug(), tool.version.escape_debug());
        for left_out in &tool.shape.left_out {
            let _ = writeln!(text, "// not in its input: `{}` ({})", left_out.path.escape_debug(), left_out.why);
        }
        let _ = writeln!(
            text,
            "action {} in [Effect::Action::{}] appliesTo {{\n  principal: [Agent],\n  resource: [Tool],\n  context: {{",
            quoted(&tool.name),
            quoted(tool.effect.word()),
        );
        text.push_str("    input: ");
        record(&mut text, &tool.shape.fields, 4);
        text.push_str(
            ",
    arguments_digest: String,
    permission: String,
    step: Long,
    run: Run,
    counts: Counts,
    now: datetime,
    shadow: Bool,
    approval?: Approval,
  },
};
",
        );
    }
    text.push_str("}\n");
    text
}

fn record(text: &mut String, fields: &[Field], indent: usize) {
    if fields.is_empty() {
        text.push_str("{}");
        return;
    }
    text.push_str("{\n");
    for field in fields {
        let optional = if field.required { "" } else { "?" };
        let _ = write!(text, "{:indent$}  {}{optional}: ", "", quoted(&field.name));
        kind(text, &field.kind, indent + 2);
        text.push_str(",\n");
    }
    let _ = write!(text, "{:indent$}}}", "");
}

fn kind(text: &mut String, type_of: &Type, indent: usize) {
    match type_of {
        Type::Bool => text.push_str("Bool"),
        Type::Long => text.push_str("Long"),
        Type::Decimal => text.push_str("decimal"),
        Type::String => text.push_str("String"),
        Type::Set(element) => {
            text.push_str("Set<");
            kind(text, element, indent);
            text.push('>');
        }
        Type::Record(fields) => record(text, fields, indent),
    }
}

/// A string as Cedar writes it. Names that are plain words need no quotes, and get them all the same.
pub(super) fn quoted(word: &str) -> String {
    let mut quoted = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // Also what cannot be seen: the schema is read by people.
            _ if character.is_control() || !(character.is_alphanumeric() || character.is_ascii()) => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
